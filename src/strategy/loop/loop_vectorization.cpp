// loop_vectorization: a serial loop gets kind V; kind=L takes it back.
//
//   L^{16}_{j=0}[S]  =>  V^{16}_{j=0}[S]
//
// Legal when
// (1) the loop's kind is L without a mark (V for kind=L), not inside another V,
// (2) the loop carries no dependence but reductions and scans of the allowed form (leir.md "Promises"),
// (3) it is innermost, or all loops inside have kind U,
// (4) its extent is a power of two (cut to the target's widths when lowered), and at least 2,
// (5) at least one access below is unit-stride in it.
// Exact without such chains and for max, min and integers, else the step reassociates.
#include <fmt/core.h>

#include <algorithm>

#include "analysis/access.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/marks.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

bool only_unrolled_below(const Stmt& loop) {
  return std::all_of(loop.body.begin(), loop.body.end(), [](const StmtPtr& s) {
    return s->is_equation() || ((s->is_test() || s->kind == LoopKind::U) && only_unrolled_below(*s));
  });
}

// How an integer expression moves with a variable: its constant step, where the rest does not depend on it.
std::optional<std::int64_t> step_of(const Expr& e, const std::string& var) {
  if (!uses_var(e, var)) return 0;
  if (e.op == Op::loop_var) return 1;
  if (e.op != Op::add && e.op != Op::sub && e.op != Op::mul) return std::nullopt;
  const std::optional<std::int64_t> a = step_of(*e.args[0], var), b = step_of(*e.args[1], var);
  if (!a || !b) return std::nullopt;
  if (e.op == Op::add) return *a + *b;
  if (e.op == Op::sub) return *a - *b;
  if (e.args[1]->op == Op::int_literal) return *a * e.args[1]->int_value;
  if (e.args[0]->op == Op::int_literal) return *b * e.args[0]->int_value;
  return std::nullopt;
}

bool unit_stride_in(const std::vector<ExprPtr>& subscripts, const std::string& var) {
  if (subscripts.empty()) return false;
  for (std::size_t d = 0; d + 1 < subscripts.size(); ++d) {
    if (uses_var(*subscripts[d], var)) return false;
  }
  return step_of(*subscripts.back(), var) == 1;
}

// A read or write with stride 1 in the last subscript and no use of the variable in the others.
bool has_unit_stride(const Body& body, const std::string& var) {
  for (const EquationRef& ref : collect_equations(body)) {
    if (unit_stride_in(ref.equation->subscripts, var)) return true;
    bool found = false;
    visit_expr(*ref.equation->rhs, [&](const Expr& e) {
      found |= e.op == Op::read && unit_stride_in(e.args, var);
      return !found;
    });
    if (found) return true;
  }
  return false;
}

bool is_power_of_two(std::int64_t n) { return n >= 2 && (n & (n - 1)) == 0; }

std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  for (const StmtPath& path : collect_loops(program.body())) {
    const Stmt& loop = *stmt_at(program.body(), path);
    const std::string address = loop_address(program.body(), path);
    if (loop.kind == LoopKind::V) out.push_back(Args{{"loop", address}, {"kind", "L"}});
    if (loop.kind != LoopKind::L || loop.mark.type != LoopMark::Type::none || !is_power_of_two(loop.extent)) continue;
    if (!only_unrolled_below(loop) || !has_unit_stride(loop.body, loop.var)) continue;
    if (loop_of_kind_above(program.body(), path, {LoopKind::V, LoopKind::M})) continue;
    if (!check_promise(program, path, LoopKind::V, target).ok) continue;
    out.push_back(Args{{"loop", address}, {"kind", "V"}});
  }
  return out;
}

Result<Step> apply(const Program& program, const Target& target, const Args& args) {
  CAIRN_TRY(const StmtPath path, find_loop(program.body(), args.get("loop")));
  const Stmt& loop = *stmt_at(program.body(), path);
  const bool back = args.get("kind") == "L";
  if (!back) {
    if (loop_of_kind_above(program.body(), path, {LoopKind::V, LoopKind::M})) {
      return refuse(program, loop.pos, 1, fmt::format("loop {} stands inside a V or M loop; one vector axis is allowed", loop.var));
    }
    if (!only_unrolled_below(loop)) {
      return refuse(program, loop.pos, 3, fmt::format("loop {} holds a loop that is not U; vectorise the innermost loop, or unroll "
                                                      "what it holds", loop.var));
    }
    if (!is_power_of_two(loop.extent)) {
      return refuse(program, loop.pos, 4, fmt::format("loop {} has extent {}, which is not a power of two; split it first", loop.var,
                                                      loop.extent));
    }
    if (!has_unit_stride(loop.body, loop.var)) {
      return refuse(program, loop.pos, 5, fmt::format("no access below loop {} has stride 1 in it; reorder loops or change the layout",
                                                      loop.var));
    }
  }
  CAIRN_TRY(Step step, apply_mark(program, target, path, back ? LoopKind::L : LoopKind::V, LoopKind::V, "loop_vectorization"));
  step.proved = conditions_up_to(5);
  return step;
}

}  // namespace

extern const Strategy strategy_loop_vectorization{
    "loop_vectorization", Level::op, Direction::memory_access, Exactness::reassociates,
    "a loop runs in vector lanes; kind=L takes it back",
    {{"loop", ArgType::loop, "the loop", {}, ""},
     {"kind", ArgType::choice, "V, or L to take it back", {"V", "L"}, "V"}},
    list_sites, apply};

}  // namespace cairn
