#include "analysis/promise.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/affine.h"
#include "analysis/concrete.h"
#include "analysis/flow_memo.h"
#include "analysis/flow_state.h"
#include "analysis/promise_scan.h"
#include "ir/walk.h"

namespace cairn {

namespace {
bool is_thread_axis(const Stmt& loop) { return !(loop.var.size() == 2 && loop.var[0] == 'b'); }

// May iterations of the loop have copies of their own?
bool privatises(const Stmt& loop, LoopKind kind, Scope scope) {
  if (scope == Scope::g || kind == LoopKind::V || kind == LoopKind::M) return false;
  if (kind == LoopKind::B && is_thread_axis(loop)) return scope == Scope::l;
  return true;
}

std::string place_of(const Program& program, const Access& a) {
  if (!a.stmt->is_equation()) return fmt::format("the test before s{}", a.equation);
  return equation_address(program.body(), a.path);
}

// Accesses of the tensor below the loop.
std::vector<const Access*> inside(FlowAnalysis& flow, const StmtPath& loop, const std::string& tensor) {
  std::vector<const Access*> found;
  for (const Access& a : flow.accesses()) {
    if (a.tensor == tensor && a.path.size() > loop.size() && std::equal(loop.begin(), loop.end(), a.path.begin())) found.push_back(&a);
  }
  return found;
}

// The one operator of self-updates that make up all accesses, or nullopt.
std::optional<UpdateOp> reduction_op(const std::vector<const Access*>& accesses) {
  std::optional<UpdateOp> op;
  for (const Access* a : accesses) {
    const auto update = a->stmt->is_equation() ? match_self_update(*a->stmt) : std::nullopt;
    if (!update || (!a->is_write && !a->is_self)) return std::nullopt;
    if (op && *op != update->op) return std::nullopt;
    op = update->op;
    const auto inverse = [](const SelfUpdate::Operand& o) { return o.inverse; };
    if (*op == UpdateOp::mul && std::any_of(update->others.begin(), update->others.end(), inverse)) return std::nullopt;
  }
  return op;
}

// How a loop carries a tensor.
struct Carried {
  bool certain = false;
  std::optional<Dependence> example;
  std::string detail;           // from the shadow execution
};

// The accesses below the loop of every tensor that it writes.
std::map<std::string, std::vector<const Access*>> written_inside(FlowAnalysis& flow, const StmtPath& loop) {
  std::map<std::string, std::vector<const Access*>> found;
  std::set<std::string> written;
  for (const Access& a : flow.accesses()) {
    if (a.path.size() <= loop.size() || !std::equal(loop.begin(), loop.end(), a.path.begin())) continue;
    found[a.tensor].push_back(&a);
    if (a.is_write) written.insert(a.tensor);
  }
  std::erase_if(found, [&](const auto& entry) { return written.count(entry.first) == 0; });
  return found;
}

// One subscript is the loop's variable plus one constant in every access: iterations touch different elements.
bool apart(const std::vector<const Access*>& accesses, const Stmt& loop) {
  for (std::size_t d = 0; d < accesses[0]->subscripts.size(); ++d) {
    const auto plain = [&](const Access* a) {
      const auto form = linear_form(*a->subscripts[d]);
      return form && form->terms.size() == 1 && form->terms[0].first == loop.var && form->constant == 0;
    };
    if (std::all_of(accesses.begin(), accesses.end(), plain)) return true;
  }
  return false;
}

bool same_place(const Access& a, const Access& b) {
  const auto same_condition = [](const Condition& x, const Condition& y) { return x.holds == y.holds && same_expr(x.cond, y.cond); };
  return a.loops == b.loops &&
         std::equal(a.subscripts.begin(), a.subscripts.end(), b.subscripts.begin(), b.subscripts.end(),
                    [](const ExprPtr& x, const ExprPtr& y) { return same_expr(x, y); }) &&
         std::equal(a.conditions.begin(), a.conditions.end(), b.conditions.begin(), b.conditions.end(), same_condition);
}

// A dependence that the loop carries through these accesses of one tensor; a certain flow is the best example.
Carried find_carried(const std::vector<const Access*>& accesses, const Stmt& loop) {
  Carried c;
  const auto depth = static_cast<std::size_t>(std::find(accesses[0]->loops.begin(), accesses[0]->loops.end(), &loop) - accesses[0]->loops.begin());
  std::vector<PairRelation> relations;
  for (std::size_t i = 0; i < depth; ++i) relations.push_back({accesses[0]->loops[i]->var, accesses[0]->loops[i]->var, Order::equal});
  relations.push_back({loop.var, loop.var, Order::less});
  // Accesses of one place under one set of loops and conditions share an answer.
  std::vector<std::size_t> place(accesses.size());
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const auto same = [&](const Access* a) { return same_place(*a, *accesses[i]); };
    place[i] = static_cast<std::size_t>(std::find_if(accesses.begin(), accesses.end(), same) - accesses.begin());
  }
  std::map<std::pair<std::size_t, std::size_t>, Answer> answers;
  for (const DependenceKind kind : {DependenceKind::flow, DependenceKind::anti, DependenceKind::output}) {
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      const Access* a = accesses[i];
      if (a->is_write == (kind == DependenceKind::anti)) continue;
      for (std::size_t j = 0; j < accesses.size(); ++j) {
        const Access* b = accesses[j];
        if (b->is_write == (kind == DependenceKind::flow)) continue;
        const auto [known, added] = answers.try_emplace({place[i], place[j]}, Answer::no);
        if (added) known->second = may_touch(*a, *b, relations);
        const Answer answer = known->second;
        if (answer == Answer::no || (c.example && answer == Answer::unknown)) continue;
        c.certain = answer == Answer::yes;
        c.example = Dependence{kind, *a, *b, false, c.certain};
        if (c.certain) return c;
      }
    }
  }
  return c;
}

Error carried_error(const Program& program, const Stmt& loop, LoopKind kind, const std::string& tensor, const Carried& c,
                    const std::string& why) {
  constexpr const char* kKinds[] = {"a flow", "an anti", "an output"};
  std::string text = fmt::format("loop {} cannot be {}: ", loop.var, kind == LoopKind::P ? "P" : kind == LoopKind::V ? "V" : kind == LoopKind::M ? "M" : "B");
  SourcePos pos = loop.pos;
  if (c.example) {
    text += fmt::format("it {} {} dependence on {} from {} to {}", c.certain ? "carries" : "may carry",
                        kKinds[static_cast<int>(c.example->kind)], tensor, place_of(program, c.example->source),
                        place_of(program, c.example->sink));
    pos = c.example->sink.pos == kNoPos ? c.example->sink.stmt->pos : c.example->sink.pos;
  } else {
    text += fmt::format("it carries a dependence on {}", tensor);
  }
  if (!c.detail.empty()) text += c.detail;
  Error e = error_at(program, pos == kNoPos ? loop.pos : pos, Code::illegal, std::move(text));
  if (!why.empty()) e.notes.push_back(why);
  e.notes.push_back("only reductions (self-updates by one operator, nothing else in the loop reads the tensor) and scans may be carried; else use kind L");
  return e;
}

std::string why_not_reduction(const std::vector<const Access*>& accesses, const Program& program, const std::string& tensor) {
  const auto update = [](const Access* a) { return a->stmt->is_equation() && match_self_update(*a->stmt).has_value(); };
  if (std::none_of(accesses.begin(), accesses.end(), update)) return {};
  for (const Access* a : accesses) {
    if (!a->is_write && !a->is_self) return fmt::format("not a reduction: {} also reads {}", place_of(program, *a), tensor);
    if (!update(a)) return fmt::format("not a reduction: {} is not a self-update of {}", place_of(program, *a), tensor);
  }
  return fmt::format("not a reduction: {} is updated by more than one operator, or divided", tensor);
}
}  // namespace

PromiseVerdict check_promise(FlowAnalysis& flow, const Program& program, const StmtPath& path, LoopKind kind) {
  PromiseVerdict verdict;
  const Stmt* loop = stmt_at(program.body(), path);
  if (loop == nullptr || !loop->is_loop()) {
    verdict.ok = false;
    verdict.reason = Error{Code::no_site, "no loop at this path", {}, {}};
    return verdict;
  }
  if (loop->extent <= 1) return verdict;
  std::map<std::string, Carried> carried;
  std::map<std::string, std::string> why_shared;   // private storage was tried, and why it is not
  bool doubtful = false;
  for (const auto& [tensor, accesses] : written_inside(flow, path)) {
    if (apart(accesses, *loop)) continue;
    const Tensor* t = program.find(tensor);
    if (t != nullptr && t->role == Role::tmp && privatises(*loop, kind, t->scope)) {
      const FlowVerdict own = flow.private_to(tensor, *loop);
      if (own.holds == Answer::yes) continue;
      why_shared[tensor] = own.reason.message;
    }
    Carried c = find_carried(accesses, *loop);
    if (!c.example) continue;
    doubtful |= !c.certain;
    carried.emplace(tensor, std::move(c));
  }
  if (doubtful) {   // what the tests could not exclude, the shadow execution may
    const ConcreteCarried exact = run_carried(program, path);
    if (exact.decided) {
      for (auto it = carried.begin(); it != carried.end();) {
        const auto found = std::find_if(exact.carried.begin(), exact.carried.end(), [&](const CarriedTensor& t) { return t.tensor == it->first; });
        if (found == exact.carried.end()) {
          it = carried.erase(it);
          continue;
        }
        if (!found->maybe) {
          it->second.detail = fmt::format(" (element {}, iterations {} and {})", describe_element(found->tensor, found->element),
                                          found->source_iteration, found->sink_iteration);
        }
        ++it;
      }
    }
  }
  std::vector<std::string> scans;
  for (const auto& [tensor, c] : carried) {
    const Tensor* t = program.find(tensor);
    std::string why = why_shared[tensor];
    const std::vector<const Access*> accesses = inside(flow, path, tensor);
    const bool integer = t != nullptr && is_integer(t->dtype);
    if (const auto op = reduction_op(accesses)) {
      verdict.chains.push_back({tensor, *op, false, integer || *op == UpdateOp::max || *op == UpdateOp::min});
      continue;
    }
    if (t == nullptr || t->scope != Scope::l) {
      if (const auto op = scan_op(*loop, accesses)) {
        verdict.chains.push_back({tensor, *op, true, integer || *op == UpdateOp::max || *op == UpdateOp::min});
        scans.push_back(tensor);
        continue;
      }
    }
    if (why.empty()) why = why_not_reduction(accesses, program, tensor);
    verdict.ok = false;
    verdict.reason = carried_error(program, *loop, kind, tensor, c, why);
    return verdict;
  }
  // A scanned element may be read in its iteration, by nothing carried.
  for (const std::string& tensor : scans) {
    for (const Access* a : inside(flow, path, tensor)) {
      if (a->is_write || !a->stmt->is_equation() || a->stmt->tensor == tensor || carried.count(a->stmt->tensor) == 0) continue;
      const auto chain = std::any_of(verdict.chains.begin(), verdict.chains.end(), [&](const CarriedChain& x) { return x.tensor == a->stmt->tensor; });
      if (!chain) continue;
      verdict.ok = false;
      verdict.reason = carried_error(program, *loop, kind, tensor, carried.at(tensor),
                                     fmt::format("{} reads the scanned {} into {}, which the loop carries too", place_of(program, *a), tensor,
                                                 a->stmt->tensor));
      return verdict;
    }
  }
  return verdict;
}

PromiseVerdict check_promise(const Program& program, const StmtPath& loop, LoopKind kind, const Target&) {
  return check_promise(*flow_of(program), program, loop, kind);
}

namespace {
bool has_promise(const Body& body) {
  return std::any_of(body.begin(), body.end(), [](const StmtPtr& s) {
    return (s->is_loop() && (s->kind == LoopKind::P || s->kind == LoopKind::V || s->kind == LoopKind::B)) || has_promise(s->body);
  });
}
}  // namespace

Result<void> check_storage(const Program& program, const std::string& tensor, Scope scope, const Target&) {
  const Tensor* t = program.find(tensor);
  if (t == nullptr) return Error{Code::no_site, fmt::format("no tensor {}", tensor), {}, {}};
  if (t->role != Role::tmp && scope != Scope::g) {
    return error_at(program, t->pos, Code::illegal,
                    fmt::format("{} tensor {} has scope g, only temporaries can be {}", role_name(t->role), tensor, scope_name(scope)));
  }
  if (!has_promise(program.body())) return {};   // one thread, one kernel
  Program changed = program;
  if (scope != t->scope) {
    Tensor moved = *t;
    moved.scope = scope;
    changed.set_tensor(std::move(moved));
  }
  const std::shared_ptr<FlowAnalysis> shared = flow_of(changed);
  FlowAnalysis& flow = *shared;
  if (scope != Scope::g) {
    for (const Access& a : flow.accesses()) {
      if (a.is_write || a.tensor != tensor) continue;
      FlowVerdict v = flow.stays_inside(a);
      if (v.holds == Answer::yes) continue;
      v.reason.code = Code::illegal;
      return std::move(v.reason);
    }
  }
  Result<void> result;
  visit_stmts(changed.body(), [&](const Stmt& s, const StmtContext& context) {
    if (!result.ok() || !s.is_loop()) return;
    if (s.kind != LoopKind::P && s.kind != LoopKind::V && s.kind != LoopKind::B) return;
    if (inside(flow, context.path, tensor).empty()) return;
    PromiseVerdict v = check_promise(flow, changed, context.path, s.kind);
    if (!v.ok) result = std::move(v.reason);
  });
  return result;
}

}  // namespace cairn
