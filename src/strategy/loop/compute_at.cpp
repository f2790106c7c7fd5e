// compute_at: a producer's nest moves into a loop of its consumer and computes there only what is needed there.
//
//   L_i [E_{i}=f(i)]  L_y [ D_{y}=E_{y}+E_{y+1} ]  =>  L_y [ L^{2}_{a=0}[E_{a}=f(y+a)] D_{y}=E_{0}+E_{1} ]
//
// The elements that one iteration of the loop reads form a box; the temporary keeps its name and becomes that box,
// counted from its origin (dimensions of extent 1 go). Loops of the producer that subscript the temporary run over the
// box, its reduction loops stay whole, in the old order. Where boxes of different iterations overlap (a halo) the common
// elements are computed again. A box that sticks out of the tensor is guarded. An implicit start becomes an equation.
// New names, in this order: the loops of that start, outermost first.
//
// Legal when
// (1) one statement writes the temporary and nothing else, its loops plain L and U, before the loop's statement in the
//     same body; every read lies below the loop,
// (2) the producer's mentions all have the same subscripts: distinct variables of its loops, or literals,
// (3) the subscripts of the reads are affine in the loops inside, so that the footprint is a box,
// (4) the producer's operands are not written between it and its uses, the consumer's statement included,
// (5) all starts are by one operator, and no value of the temporary outlives an iteration of the loops around both,
// (6) the scope suits the place: no g inside a P or B loop, nothing inside V and M, the box within the caches, storage legal.
// Each element is computed by the same operations in the same order: exact. Undone by operator_fission where each iteration
// computes elements of its own and none of the start had to be written.
#include <fmt/core.h>

#include <algorithm>

#include "analysis/flow_memo.h"
#include "analysis/promise.h"
#include "ir/canon.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"
#include "strategy/loop/compute_at_move.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

// Loops of the statement are L or U without marks, and all equations write the tensor.
Result<void> check_statement(const Program& program, const Stmt& stmt, const std::string& name) {
  if (stmt.is_equation()) {
    if (stmt.tensor == name) return {};
    return refuse(program, stmt.pos, 1, fmt::format("the statement that writes {} writes {} too; split it off first", name, stmt.tensor));
  }
  const bool plain = !stmt.is_loop() || ((stmt.kind == LoopKind::L || stmt.kind == LoopKind::U) && stmt.mark.type == LoopMark::Type::none);
  if (!plain) return refuse(program, stmt.pos, 1, fmt::format("loop {} of the producer has kind {} or a mark; take it back first", stmt.var, kind_name(stmt.kind)));
  for (const StmtPtr& child : stmt.body) CAIRN_CHECKED(check_statement(program, *child, name));
  return {};
}

// Conditions (1) and (2) as far as they do not depend on the loop.
Result<Producer> find_producer(const Program& program, const std::vector<Access>& all, const std::string& name) {
  Producer out;
  out.tensor = program.find(name);
  if (!out.tensor) return no_site(program, kNoPos, fmt::format("the program has no tensor {}", name));
  if (out.tensor->role != Role::tmp) return refuse(program, out.tensor->pos, 1, fmt::format("{} is {}, not a temporary", name, role_name(out.tensor->role)));
  std::vector<const Access*> reads;
  for (const Access& a : all) {
    if (a.tensor != name) continue;
    if (a.is_write) {
      if (out.path.empty()) out.path = a.path;
      std::size_t common = 0;
      while (common < out.path.size() && common < a.path.size() && out.path[common] == a.path[common]) ++common;
      out.path.resize(common);   // the smallest statement around all writes
    } else {
      reads.push_back(&a);
    }
  }
  if (out.path.empty()) return refuse(program, out.tensor->pos, 1, fmt::format("{} is not written by one statement", name));
  const auto outside = std::find_if(reads.begin(), reads.end(), [&](const Access* r) { return !is_prefix(out.path, r->path); });
  if (outside == reads.end()) return refuse(program, out.tensor->pos, 1, fmt::format("{} is read by the statement alone that writes it", name));
  std::size_t common = 0;
  while (common < out.path.size() && out.path[common] == (*outside)->path[common]) ++common;
  out.path.resize(common + 1);
  CAIRN_CHECKED(check_statement(program, *stmt_at(program.body(), out.path), name));
  for (const Access& a : all) {
    if (a.tensor != name || !is_prefix(out.path, a.path)) continue;
    if (out.subscripts.empty()) out.subscripts = a.subscripts;
    const bool same = std::equal(out.subscripts.begin(), out.subscripts.end(), a.subscripts.begin(), a.subscripts.end(),
                                 [](const ExprPtr& x, const ExprPtr& y) { return same_expr(x, y); });
    if (!same) return refuse(program, a.pos == kNoPos ? a.stmt->pos : a.pos, 2, fmt::format("the producer of {} mentions it with different subscripts", name));
  }
  const std::vector<const Stmt*> above = loops_above(program.body(), out.path);
  std::vector<std::string> seen;
  for (const ExprPtr& s : out.subscripts) {
    if (s->op == Op::int_literal) continue;
    const bool own = s->op == Op::loop_var && std::none_of(above.begin(), above.end(), [&](const Stmt* l) { return l->var == s->name; });
    if (!own || std::find(seen.begin(), seen.end(), s->name) != seen.end()) {
      return refuse(program, out.tensor->pos, 2, fmt::format("a subscript of {} is neither a loop variable of its producer nor a literal", name));
    }
    seen.push_back(s->name);
  }
  return out;
}

// Condition (1) for the loop, and (4): what the producer reads stays as it is until the last use.
Result<void> check_between(const Program& program, const std::vector<Access>& all, const Producer& producer, const StmtPath& loop) {
  const std::string& name = producer.tensor->name;
  const std::size_t depth = producer.path.size();
  const Stmt& at = *stmt_at(program.body(), loop);
  const bool after = loop.size() >= depth && std::equal(producer.path.begin(), producer.path.end() - 1, loop.begin()) && loop[depth - 1] > producer.path.back();
  if (!after) return refuse(program, at.pos, 1, fmt::format("loop {} does not stand after the statement that computes {}, in the same body", at.var, name));
  for (const Access& a : all) {
    if (a.tensor != name || is_prefix(producer.path, a.path) || is_prefix(loop, a.path)) continue;
    return refuse(program, a.pos == kNoPos ? a.stmt->pos : a.pos, 1, fmt::format("{} is also {} outside loop {}", name, a.is_write ? "written" : "read", at.var));
  }
  for (const Access& read : all) {
    if (read.is_write || read.tensor == name || !is_prefix(producer.path, read.path)) continue;
    for (const Access& write : all) {
      if (!write.is_write || write.tensor != read.tensor || write.path.size() < depth) continue;
      if (!std::equal(producer.path.begin(), producer.path.end() - 1, write.path.begin())) continue;
      const std::uint32_t child = write.path[depth - 1];
      if (child <= producer.path.back() || child > loop[depth - 1]) continue;
      return refuse(program, write.stmt->pos, 4, fmt::format("{}, an operand of {}, is rewritten before {} is used", read.tensor, name, name));
    }
  }
  return {};
}

// Condition (5).
Result<void> find_start(FlowAnalysis& flow, const Program& program, Producer* producer) {
  const std::vector<const Stmt*> above = loops_above(program.body(), producer->path);
  if (!above.empty()) {
    FlowVerdict own = flow.private_to(producer->tensor->name, *above.back());
    if (own.holds != Answer::yes) return refuse_because(std::move(own.reason), 5);
  }
  for (const Access& a : flow.accesses()) {
    if (!a.is_self || a.tensor != producer->tensor->name || !is_prefix(producer->path, a.path)) continue;
    if (flow.start(a.equation).written == Written::always) continue;
    const UpdateOp op = match_self_update(*a.stmt)->op;
    if (producer->start && *producer->start != op) {
      return refuse(program, a.pos, 5, fmt::format("{} starts by {} here and by {} elsewhere; write its start as an equation first", a.tensor, update_op_name(op),
                                                   update_op_name(*producer->start)));
    }
    producer->start = op;
  }
  return {};
}

bool inside_kinds(const Program& program, const StmtPath& loop, LoopKind a, LoopKind b) {
  std::vector<const Stmt*> around = loops_above(program.body(), loop);
  around.push_back(stmt_at(program.body(), loop));
  return std::any_of(around.begin(), around.end(), [&](const Stmt* l) { return l->kind == a || l->kind == b; });
}
bool in_parallel(const Program& program, const StmtPath& loop) { return inside_kinds(program, loop, LoopKind::P, LoopKind::B); }

// Condition (3).
Result<Moved> find_box(const Program& program, const std::vector<Access>& all, const Producer& producer, const std::string& address, const Shape& shape) {
  Moved moved;
  CAIRN_TRY(moved.place, find_place(program, address));
  const std::vector<StageAccess> uses = accesses_at(moved.place, all, producer.tensor->name);
  const std::optional<StageBox> box = uses.empty() ? std::nullopt : box_of(program, moved.place, uses, shape);
  if (!box) {
    return refuse(program, moved.place.pos, 3, fmt::format("the part of {} that {} reads is no box: a subscript is not affine in the loops inside",
                                                           producer.tensor->name, address));
  }
  moved.box = *box;
  moved.place.first = uses.front().child;
  for (const StageAccess& use : uses) moved.place.first = std::min(moved.place.first, use.child);
  return moved;
}

Result<void> check_scope(const Program& program, const Target& target, const Moved& moved, const Tensor& tensor, const StmtPath& loop) {
  if (inside_kinds(program, loop, LoopKind::V, LoopKind::M)) {
    return refuse(program, moved.place.pos, 6, "no loops can be added inside V and M loops; choose a loop outside");
  }
  if (moved.scope == Scope::g && in_parallel(program, loop)) {
    return refuse(program, moved.place.pos, 6, fmt::format("{} would be shared by the iterations of a parallel loop; use scope s or l", tensor.name));
  }
  const std::int64_t limit = moved.scope == Scope::l ? target.l1_bytes : moved.scope == Scope::s ? std::max(target.l2_bytes, target.l3_bytes) : std::int64_t{1} << 33;
  if (moved.box.elements <= limit / dtype_bytes(tensor.dtype)) return {};
  return refuse(program, moved.place.pos, 6, fmt::format("the box of {} has {} elements, more than scope {} holds ({} bytes); choose an inner loop", tensor.name,
                                                         moved.box.elements, scope_name(moved.scope), limit));
}

// The cut in front of the first use, if it takes the producer out again.
std::optional<Action> find_inverse(const Program& before, const Target& target, const Producer& producer, const Moved& moved, const Program& after) {
  if (producer.start || moved.scope != producer.tensor->scope) return std::nullopt;
  StmtPath use = moved.place.path;
  --use[producer.path.size() - 1];   // the producer stood before it
  const StmtPath loop(use.begin(), use.begin() + static_cast<std::ptrdiff_t>(producer.path.size()));
  const Body& level = stmt_at(after.body(), use)->body;
  use.push_back(static_cast<std::uint32_t>(level.size() - (moved.place.children.size() - moved.place.first)));
  while (!stmt_at(after.body(), use)->is_equation()) use.push_back(0);
  if (!stmt_at(after.body(), loop)->is_loop()) return std::nullopt;
  Action cut{"operator_fission", Args{{"loop", loop_address(after.body(), loop)}, {"cut", equation_address(after.body(), use)}}};
  const Result<Step> back = find_strategy(cut.strategy)->apply(after, target, cut.args);
  if (!back || canonical_hash(back->after) != canonical_hash(before)) return std::nullopt;
  return cut;
}

Result<Step> apply(const Program& program, const Target& target, const Args& args) {
  const std::string& name = args.get("tensor");
  const std::shared_ptr<FlowAnalysis> shared = flow_of(program);
  FlowAnalysis& flow = *shared;
  CAIRN_TRY(Producer producer, find_producer(program, flow.accesses(), name));
  CAIRN_TRY(const StmtPath loop, find_loop(program.body(), args.get("loop")));
  CAIRN_CHECKED(check_between(program, flow.accesses(), producer, loop));
  const Shape& shape = flow.shapes().find(name)->second;
  CAIRN_TRY(Moved moved, find_box(program, flow.accesses(), producer, args.get("loop"), shape));
  CAIRN_CHECKED(find_start(flow, program, &producer));
  moved.scope = args.get("scope") == "g" ? Scope::g : args.get("scope") == "s" ? Scope::s : Scope::l;
  CAIRN_CHECKED(check_scope(program, target, moved, *producer.tensor, loop));
  Step step;
  step.after = move_producer(program, producer, moved, shape, &step);
  Result<void> storage = moved.scope == Scope::g ? Result<void>() : check_storage(step.after, name, moved.scope, target);
  if (!storage) return refuse_because(std::move(storage.error()), 6);
  step.same_instances = false;
  step.proved = conditions_up_to(6);
  step.inverse = find_inverse(program, target, producer, moved, step.after);
  return step;
}

std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  const std::shared_ptr<FlowAnalysis> shared = flow_of(program);
  FlowAnalysis& flow = *shared;
  const std::vector<StmtPath> loops = collect_loops(program.body());
  const auto promises = [&](const StmtPath& path) { return stmt_at(program.body(), path)->kind != LoopKind::L; };
  const bool ask = std::any_of(loops.begin(), loops.end(), promises);
  for (const Tensor& tensor : program.tensors()) {
    if (tensor.role != Role::tmp) continue;
    Result<Producer> producer = find_producer(program, flow.accesses(), tensor.name);
    const auto shape = flow.shapes().find(tensor.name);
    if (!producer || shape == flow.shapes().end()) continue;
    std::optional<bool> starts;
    for (const StmtPath& path : loops) {
      const auto outside = [&](const Access& a) { return a.tensor == tensor.name && !is_prefix(producer->path, a.path) && !is_prefix(path, a.path); };
      if (std::any_of(flow.accesses().begin(), flow.accesses().end(), outside)) continue;   // most loops, without a message
      if (!check_between(program, flow.accesses(), *producer, path)) continue;
      if (!starts) starts = find_start(flow, program, &*producer).ok();
      if (!*starts) break;
      const std::string address = loop_address(program.body(), path);
      Result<Moved> moved = find_box(program, flow.accesses(), *producer, address, shape->second);
      if (!moved) continue;
      for (const Scope scope : {Scope::l, Scope::s, Scope::g}) {
        moved->scope = scope;
        if (!check_scope(program, target, *moved, tensor, path)) continue;
        if (scope != Scope::g && ask) {
          Step step;
          if (!check_storage(move_producer(program, *producer, *moved, shape->second, &step), tensor.name, scope, target)) continue;
        }
        out.push_back(Args{{"tensor", tensor.name}, {"loop", address}, {"scope", std::string(scope_name(scope))}});
      }
    }
  }
  return out;
}

}  // namespace

extern const Strategy strategy_compute_at{
    "compute_at", Level::op, Direction::fusion, Exactness::exact,
    "a producer's nest moves into a loop of its consumer and computes only what is needed there",
    {{"tensor", ArgType::tensor, "the temporary that the nest computes", {}, ""},
     {"loop", ArgType::loop, "the consumer's loop in whose body it is computed", {}, ""},
     {"scope", ArgType::choice, "where the box lives", {"g", "s", "l"}, "l"}},
    list_sites, apply};

}  // namespace cairn
