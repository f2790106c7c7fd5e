// scalar_replace: subscripts of a temporary that stay the same while a value lives are dropped.
//
//   L_i [ L_k [E_{i}=E_{i}+A_{i,k}] D_{i}=E_{i} ]  =>  L_i [ E=0 L_k [E=E+A_{i,k}] D_{i}=E ]
//
// One element then serves every iteration of the dropped loops, so an implicit start becomes an equation: the neutral
// element, at the first mention in the innermost dropped loop, over the dimensions that stay. The declaration shrinks.
// With `loops` the other way: dimensions subscripted by these loops are added where `dims` says, so that each iteration has
// an element of its own (scalar expansion); the inverse where no start had to be written and no literal went.
//
// Legal when
// (1) the tensor is a temporary with a known shape that is mentioned, and `dims` are dimensions of it,
// (2) every mention has the same subscript there: one literal, or the variable of one loop around them all,
// (3) every read sees a write of the same iteration of these loops, or starts there,
// (4) all starts are by one operator,
// (5) storage, owners and promises stay legal: iterations that run at once do not share the element; no loop is M,
// (6) with loops: there is one for each of `dims`, around all mentions.
// The same values reach every use: exact.
#include <fmt/core.h>

#include <algorithm>

#include "analysis/flow_memo.h"
#include "analysis/kernels.h"
#include "analysis/promise.h"
#include "ir/canon.h"
#include "ir/interval.h"
#include "ir/self_update.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/layout.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

// What the mentions of a tensor say, by dimension: null where subscripts differ.
struct Dims {
  std::vector<ExprPtr> subscript;
  std::vector<const Stmt*> loop;          // of a variable
  std::vector<const Access*> mentions;
  StmtPath first;                         // of the first mention
};

Dims look_at(const std::vector<Access>& all, const std::string& name, std::size_t rank) {
  Dims out;
  for (const Access& access : all) {
    if (access.tensor != name || access.subscripts.size() != rank) continue;
    const bool initial = out.mentions.empty();
    if (initial) {
      out.subscript = access.subscripts;
      out.loop.assign(rank, nullptr);
      out.first = access.path;
    }
    out.mentions.push_back(&access);
    out.first = std::min(out.first, access.path);
    for (std::size_t d = 0; d < rank; ++d) {
      const Expr& s = *access.subscripts[d];
      const auto loop = std::find_if(access.loops.begin(), access.loops.end(), [&](const Stmt* l) { return s.op == Op::loop_var && l->var == s.name; });
      const Stmt* found = loop == access.loops.end() ? nullptr : *loop;
      const bool plain = s.op == Op::int_literal || found;
      if (initial) out.loop[d] = found;
      if (!plain || !out.subscript[d] || !same_expr(*out.subscript[d], s) || out.loop[d] != found) out.subscript[d] = nullptr;
    }
  }
  return out;
}

// The innermost of the loops whose variables are dropped, or null.
const Stmt* innermost(const Dims& dims, const std::vector<std::size_t>& dropped) {
  const Stmt* inner = nullptr;
  const std::vector<const Stmt*>& around = dims.mentions[0]->loops;
  for (const Stmt* loop : around) {
    const bool named = std::any_of(dropped.begin(), dropped.end(), [&](std::size_t d) { return dims.loop[d] == loop; });
    if (named) inner = loop;
  }
  return inner;
}

struct Plan {
  const Tensor* tensor = nullptr;
  Shape shape;
  std::vector<std::size_t> dropped;   // ascending
  const Stmt* inner = nullptr;
  std::optional<UpdateOp> start;
};

// Conditions (3) and (4).
Result<void> plan_start(FlowAnalysis& flow, const Program& program, const Dims& dims, Plan* plan) {
  if (!plan->inner) return {};
  FlowVerdict own = flow.private_to(plan->tensor->name, *plan->inner);
  if (own.holds != Answer::yes) return refuse_because(std::move(own.reason), 3);
  for (const Access* access : dims.mentions) {
    if (!access->is_self) continue;
    const Written written = flow.start(access->equation).written;
    if (written == Written::always) continue;
    const UpdateOp op = match_self_update(*access->stmt)->op;
    if (plan->start && *plan->start != op) {
      return refuse(program, access->pos, 4, fmt::format("{} starts by {} here and by {} elsewhere; write its start as an equation first", plan->tensor->name,
                                                         update_op_name(op), update_op_name(*plan->start)));
    }
    plan->start = op;
  }
  return {};
}

Program build(const Program& program, const Plan& plan, const Dims& dims, std::vector<std::string>* created) {
  const auto is_dropped = [&](std::size_t d) { return std::find(plan.dropped.begin(), plan.dropped.end(), d) != plan.dropped.end(); };
  const auto rest = [&](const std::vector<ExprPtr>& subscripts) {
    std::vector<ExprPtr> out;
    for (std::size_t d = 0; d < subscripts.size(); ++d) {
      if (!is_dropped(d)) out.push_back(subscripts[d]);
    }
    return out;
  };
  Program out = program;
  std::vector<LoopRange> loops;
  Body body = rewrite_mentions(program.body(), loops, {plan.tensor->name, plan.tensor->name, true, true,
                                                       [&](const std::vector<ExprPtr>& subscripts, const std::vector<LoopRange>&) { return rest(subscripts); }});
  Tensor tensor = *plan.tensor;
  if (tensor.declared) {
    Shape shape;
    for (std::size_t d = 0; d < plan.shape.size(); ++d) {
      if (!is_dropped(d)) shape.push_back(plan.shape[d]);
    }
    tensor.shape = shape;
  }
  if (plan.start) {
    std::vector<LoopHeader> headers;
    std::vector<ExprPtr> left;
    for (std::size_t d = 0; d < plan.shape.size(); ++d) {
      if (is_dropped(d)) continue;
      created->push_back(fresh_var(program, *created));
      headers.push_back({LoopKind::L, plan.shape[d], created->back(), {}});
      left.push_back(make_var(created->back()));
    }
    const Body fill = wrap_loops(headers, Body{make_equation(tensor.name, left, neutral_element(*plan.start, tensor.dtype))});
    // Before the first mention, in the body of the innermost dropped loop.
    StmtPath at;
    const Body* level = &program.body();
    for (const std::uint32_t child : dims.first) {
      at.push_back(child);
      const Stmt* stmt = (*level)[child].get();
      level = &stmt->body;
      if (stmt == plan.inner) break;
    }
    StmtPath place(dims.first.begin(), dims.first.begin() + static_cast<std::ptrdiff_t>(at.size()) + 1);
    Body with = fill;
    with.push_back(shared_at(body, place));
    body = replace_at(body, place, with);
  }
  out.set_body(std::move(body));
  out.set_tensor(std::move(tensor));
  return out;
}

// Condition (5).
Result<void> check_after(const Program& after, const Tensor& tensor, const Target& target) {
  const bool marked = [&] {
    const std::vector<StmtPath> loops = collect_loops(after.body());
    return std::any_of(loops.begin(), loops.end(), [&](const StmtPath& p) {
      const LoopKind kind = stmt_at(after.body(), p)->kind;
      return kind != LoopKind::L && kind != LoopKind::U;
    });
  }();
  if (!marked) return {};
  if (Result<void> storage = check_storage(after, tensor.name, tensor.scope, target); !storage) return refuse_because(std::move(storage.error()), 5);
  if (Result<void> owner = check_owner(*flow_of(after), after, tensor); !owner) return refuse_because(std::move(owner.error()), 5);
  return {};
}

Result<Step> replace(FlowAnalysis& flow, const Program& program, const Target& target, const Plan& given, const Dims& dims) {
  Plan plan = given;
  const std::string& name = plan.tensor->name;
  for (const std::size_t d : plan.dropped) {
    if (!dims.subscript[d]) {
      return refuse(program, plan.tensor->pos, 2, fmt::format("mentions of {} differ in dimension {}, or no loop around all of them binds its variable", name, d));
    }
    if (dims.loop[d] && dims.loop[d]->kind == LoopKind::M) {
      return refuse(program, dims.loop[d]->pos, 5, fmt::format("{} is a fragment of the matrix unit along M loop {}", name, dims.loop[d]->var));
    }
  }
  plan.inner = innermost(dims, plan.dropped);
  CAIRN_CHECKED(plan_start(flow, program, dims, &plan));
  Step step;
  step.after = build(program, plan, dims, &step.created);
  CAIRN_CHECKED(check_after(step.after, *step.after.find(name), target));
  step.same_instances = !plan.start;
  step.proved = conditions_up_to(5);
  return step;
}

std::string dims_text(const std::vector<std::size_t>& dims) {
  std::string out;
  for (const std::size_t d : dims) out += fmt::format("{}{}", out.empty() ? "" : "x", d);
  return out;
}

// The tensor with a dimension for each of the loops, subscripted by it, at `dims` of the result; conditions (3), (5), (6).
Result<Step> expand(const Program& program, const Target& target, const Args& args, const Tensor& tensor) {
  const std::shared_ptr<FlowAnalysis> flow = flow_of(program);
  std::vector<std::pair<std::size_t, const Stmt*>> added;   // ascending
  const std::vector<std::int64_t> dims = args.get_ints("dims");
  const std::vector<std::string> names = args.get_list("loops");
  const std::vector<Access>& all = flow->accesses();
  const auto mention = std::find_if(all.begin(), all.end(), [&](const Access& a) { return a.tensor == tensor.name; });
  if (mention == all.end()) return refuse(program, tensor.pos, 1, fmt::format("{} is mentioned nowhere", tensor.name));
  const std::size_t rank = mention->subscripts.size() + dims.size();
  const Stmt* inner = nullptr;
  std::size_t depth = 0;
  for (std::size_t k = 0; k < names.size() && names.size() == dims.size(); ++k) {
    CAIRN_TRY(const StmtPath path, find_loop(program.body(), names[k]));
    const Stmt* loop = stmt_at(program.body(), path);
    const auto outside = [&](const Access& a) { return a.tensor == tensor.name && !is_prefix(path, a.path); };
    const bool taken = std::any_of(added.begin(), added.end(), [&](const auto& a) { return a.second == loop || a.first == static_cast<std::size_t>(dims[k]); });
    if (taken || dims[k] < 0 || static_cast<std::size_t>(dims[k]) >= rank || std::any_of(all.begin(), all.end(), outside)) {
      return refuse(program, loop->pos, 6, fmt::format("loop {} is not around every mention of {}, or it or dimension {} of {} is named twice", names[k], tensor.name, dims[k], rank));
    }
    if (loop->kind == LoopKind::M) return refuse(program, loop->pos, 5, fmt::format("a fragment along M loop {} has no dimension for it", loop->var));
    added.emplace_back(static_cast<std::size_t>(dims[k]), loop);
    if (path.size() > depth) inner = loop;
    depth = std::max(depth, path.size());
  }
  if (added.size() != dims.size() || names.size() != dims.size()) return refuse(program, tensor.pos, 6, fmt::format("{} dimensions need as many loops, not {}", dims.size(), names.size()));
  FlowVerdict own = flow->private_to(tensor.name, *inner);
  if (own.holds != Answer::yes) return refuse_because(std::move(own.reason), 3);
  std::sort(added.begin(), added.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto widen = [&](const std::vector<ExprPtr>& subscripts) {
    std::vector<ExprPtr> out = subscripts;
    for (const auto& [dim, loop] : added) out.insert(out.begin() + static_cast<std::ptrdiff_t>(dim), make_var(loop->var));
    return out;
  };
  Step step;
  step.after = program;
  std::vector<LoopRange> loops;
  step.after.set_body(rewrite_mentions(program.body(), loops, {tensor.name, tensor.name, true, true, [&](const std::vector<ExprPtr>& subscripts, const std::vector<LoopRange>&) {
                                                                 return widen(subscripts);
                                                               }}));
  Tensor wide = tensor;
  if (wide.declared) {
    for (const auto& [dim, loop] : added) wide.shape->insert(wide.shape->begin() + static_cast<std::ptrdiff_t>(dim), loop->extent);
  }
  step.after.set_tensor(wide);
  CAIRN_CHECKED(check_after(step.after, wide, target));
  step.proved = conditions_up_to(6);
  return step;
}

// The loops that the dropped dimensions were subscripted by; empty if one was a literal.
std::string loops_text(const Program& after, const Plan& plan, const Dims& dims) {
  std::string out;
  const StmtPath& first = dims.first;
  for (const std::size_t d : plan.dropped) {
    StmtPath path;
    const Body* level = &after.body();
    bool found = false;
    for (std::size_t depth = 0; depth + 1 < first.size() && !found; ++depth) {
      path.push_back(first[depth]);
      const Stmt& stmt = *(*level)[first[depth]];
      found = dims.loop[d] && stmt.is_loop() && stmt.var == dims.loop[d]->var;
      level = &stmt.body;
    }
    if (!found) return {};
    out += (out.empty() ? "" : "+") + loop_address(after.body(), path);
  }
  return out;
}

// The step without its inverse; what may be that goes to `back`.
Result<Step> take(const Program& program, const Target& target, const Args& args, std::optional<Args>* back) {
  const std::string& name = args.get("tensor");
  Plan plan;
  plan.tensor = program.find(name);
  if (!plan.tensor) return no_site(program, kNoPos, fmt::format("the program has no tensor {}", name));
  if (plan.tensor->role != Role::tmp) {
    return refuse(program, plan.tensor->pos, 1, fmt::format("{} is {}, not a temporary", name, role_name(plan.tensor->role)));
  }
  if (const std::string* loops = args.find("loops"); loops && *loops != "-") {
    *back = Args{{"tensor", name}, {"dims", args.get("dims")}, {"loops", "-"}};
    return expand(program, target, args, *plan.tensor);
  }
  const std::shared_ptr<FlowAnalysis> shared = flow_of(program);
  FlowAnalysis& flow = *shared;
  const auto shape = flow.shapes().find(name);
  if (shape == flow.shapes().end() || shape->second.empty()) return refuse(program, plan.tensor->pos, 1, fmt::format("{} has no dimension to drop", name));
  plan.shape = shape->second;
  const Dims dims = look_at(flow.accesses(), name, plan.shape.size());
  if (dims.mentions.empty()) return refuse(program, plan.tensor->pos, 1, fmt::format("{} is mentioned nowhere", name));
  for (const std::int64_t d : args.get_ints("dims")) {
    const bool known = d >= 0 && d < static_cast<std::int64_t>(plan.shape.size());
    if (!known || std::find(plan.dropped.begin(), plan.dropped.end(), static_cast<std::size_t>(d)) != plan.dropped.end()) {
      return refuse(program, plan.tensor->pos, 1, fmt::format("{} has {} dimensions; {} is none of them, or named twice", name, plan.shape.size(), d));
    }
    plan.dropped.push_back(static_cast<std::size_t>(d));
  }
  std::sort(plan.dropped.begin(), plan.dropped.end());
  CAIRN_TRY(Step step, replace(flow, program, target, plan, dims));
  const std::string loops = step.same_instances ? loops_text(step.after, plan, dims) : std::string();
  if (!loops.empty()) *back = Args{{"tensor", name}, {"dims", dims_text(plan.dropped)}, {"loops", loops}};
  return step;
}

Result<Step> apply(const Program& program, const Target& target, const Args& args) {
  std::optional<Args> back, again;
  CAIRN_TRY(Step step, take(program, target, args, &back));
  const Result<Step> undone = back ? take(step.after, target, *back, &again) : Result<Step>(no_site(program, kNoPos, "nothing leads back"));
  if (undone && canonical_hash(undone->after) == canonical_hash(program)) step.inverse = Action{"scalar_replace", *back};
  return step;
}

std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  const std::shared_ptr<FlowAnalysis> shared = flow_of(program);
  FlowAnalysis& flow = *shared;
  for (const Tensor& tensor : program.tensors()) {
    if (tensor.role != Role::tmp) continue;
    std::size_t rank = 0;
    for (const Access& access : flow.accesses()) {
      if (access.tensor == tensor.name) rank = access.subscripts.size();
    }
    if (rank == 0) continue;
    const Dims dims = look_at(flow.accesses(), tensor.name, rank);
    Plan plan;
    plan.tensor = &tensor;
    std::vector<std::size_t> single;
    for (std::size_t d = 0; d < rank; ++d) {
      if (dims.subscript[d]) single.push_back(d);
    }
    if (single.empty()) continue;
    const auto shape = flow.shapes().find(tensor.name);
    if (shape == flow.shapes().end()) continue;
    plan.shape = shape->second;
    std::vector<std::vector<std::size_t>> choices;
    for (const std::size_t d : single) choices.push_back({d});
    if (single.size() > 1) choices.push_back(single);
    for (const std::vector<std::size_t>& choice : choices) {
      plan.dropped = choice;
      if (replace(flow, program, target, plan, dims)) out.push_back(Args{{"tensor", tensor.name}, {"dims", dims_text(choice)}, {"loops", "-"}});
    }
  }
  return out;
}

}  // namespace

extern const Strategy strategy_scalar_replace{
    "scalar_replace", Level::memory, Direction::data_reuse, Exactness::exact,
    "subscripts of a temporary that stay the same while a value lives are dropped",
    {{"tensor", ArgType::tensor, "the temporary", {}, ""},
     {"dims", ArgType::integers, "the dimensions that go, or come, such as 0x1", {}, ""},
     {"loops", ArgType::loops, "the loops that subscript the dimensions that come; - drops them", {}, "-"}},
    list_sites, apply};

}  // namespace cairn
