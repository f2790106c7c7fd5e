// hoist_invariant: what does not change inside a loop is computed once before it.
//
//   L_i L_j [ D_{i,j}=A_{i,j}*exp(C_{i}) ]  =>  L_i [ E_{i}=exp(C_{i}); L_j [ D_{i,j}=A_{i,j}*E_{i} ] ]
//
// `part` is the text of the expression, `loop` the loop it leaves. Every equal occurrence below the loop under the same
// guards reads the temporary, which is subscripted by the outer loops that the expression uses (and by the lanes of a
// V loop around). Guards that do not change inside the loop go along; the others stay behind, so the expression is
// then computed where it was not before and must be total.
//
// Legal when
// (1) the part is an operation, no condition, not made of loop variables and literals alone, does not read the tensor
//     that its equation writes, and no matrix-unit loop is around it,
// (2) it uses neither the loop nor one below it, and nothing in the loop writes an operand,
// (3) if a guard stays behind, every element it reads is inside its tensor and written, and it divides no integers
//     but by a literal; a guard that goes along compares in the type it had.
// The temporary has the type the part was computed in, so nothing is rounded again: exact.
#include <fmt/core.h>

#include <algorithm>

#include "analysis/flow.h"
#include "ir/interval.h"
#include "ir/walk.h"
#include "strategy/edit/extract.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

constexpr ExtractRules kRules{2, 3, 3};

bool is_nonzero_literal(const Expr& e) { return e.op == Op::int_literal && e.int_value != 0; }

// Can be computed for all values of the loops: no element outside a tensor, no integer division that fails.
bool is_total(const Program& program, const Expr& expr, const std::vector<LoopRange>& loops) {
  const auto shapes = infer_shapes(program);
  if (!shapes) return false;
  VarRanges ranges;
  for (const LoopRange& loop : loops) ranges[loop.var] = {0, loop.extent - 1};
  bool total = true;
  visit_expr(expr, [&](const Expr& e) {
    if ((e.op == Op::floor_div || e.op == Op::mod) && is_integer_expr(program, e)) total &= is_nonzero_literal(*e.args[1]);
    if (e.op == Op::pow && is_integer_expr(program, e)) total &= e.args[1]->op == Op::int_literal && e.args[1]->int_value >= 0;
    if (e.op != Op::read) return total;
    const auto shape = shapes->find(e.name);
    total &= shape != shapes->end() && shape->second.size() == e.args.size();
    for (std::size_t d = 0; total && d < e.args.size(); ++d) {
      const std::optional<Interval> at = interval_of(*e.args[d], ranges);
      total &= at && at->lo >= 0 && at->hi < shape->second[d];
    }
    return total;
  });
  return total;
}

// Every guard that goes along with the leader is a guard of the other part too.
bool has_guards(const Program& program, const Extraction& plan, const Part& other) {
  const std::vector<Condition> there = guards_of(program, plan.before, other);
  const auto has = [&](const ExprPtr& cond, bool holds) {
    return std::any_of(there.begin(), there.end(), [&](const Condition& c) { return c.holds == holds && same_expr(c.cond, cond); });
  };
  return std::all_of(plan.tests.begin(), plan.tests.end(), [&](const ExprPtr& t) { return has(t, true); }) &&
         std::all_of(plan.selects.begin(), plan.selects.end(), [&](const Condition& c) { return has(c.cond, c.holds); });
}

// The parts of all equations, found once for all loops.
using PartLists = std::vector<std::vector<Part>>;
PartLists list_all(const Program& program) {
  PartLists out;
  for (const EquationRef& ref : collect_equations(program.body())) out.push_back(list_parts(program, ref.path));
  return out;
}

// The outermost loop, from `loop` inwards, that the part uses.
const Stmt* loop_used(const Program& program, const StmtPath& loop, const Part& part) {
  for (std::size_t n = loop.size(); n < part.path.size(); ++n) {
    const Stmt* stmt = stmt_at(program.body(), StmtPath(part.path.begin(), part.path.begin() + static_cast<std::ptrdiff_t>(n)));
    if (stmt->is_loop() && uses_var(*part.expr, stmt->var)) return stmt;
  }
  return nullptr;
}

Result<Extraction> plan_hoist(const Program& program, const StmtPath& loop, const Part& part, const PartLists& lists) {
  const SourcePos pos = part.equation->pos;
  if (in_matrix_unit(program, part.path)) return refuse(program, pos, 1, "the equation belongs to the matrix unit");
  if (const Stmt* used = loop_used(program, loop, part)) {
    return refuse(program, pos, 2, fmt::format("{} uses loop {}", part_text(part), used->var));
  }
  CAIRN_TRY(Extraction plan, plan_extraction(program, loop, part, {{part, {}}}, true, kRules));
  if (plan.dropped_guard && !is_total(program, *part.expr, ranges_above(program.body(), loop))) {
    return refuse(program, pos, 3, fmt::format("{} is computed under a guard that changes inside the loop, and is not total", part_text(part)));
  }
  for (const std::vector<Part>& list : lists) {
    for (const Part& other : list) {
      if (!is_prefix(loop, other.path) || other.type != part.type || !same_expr(other.expr, part.expr)) continue;
      if ((other.path == part.path && other.ordinal == part.ordinal) || !has_guards(program, plan, other)) continue;
      plan.uses.push_back({other, {}});
    }
  }
  return plan;
}

Result<Step> hoist(const Program& program, const Target& target, const Extraction& plan) {
  CAIRN_TRY(Step step, build_extraction(program, target, plan, 3));
  if (!plan.dropped_guard) return step;
  std::vector<std::string> operands;
  add_operands(*plan.leader.expr, &operands);
  for (const std::string& name : operands) {
    if (Result<void> written = check_written_before_read(step.after, name); !written) return refuse_because(std::move(written.error()), 3);
  }
  return step;
}

// Plans for one text below a loop: the first occurrence that may lead.
Result<Extraction> plan_text(const Program& program, const StmtPath& loop, const Part& first, const PartLists& lists) {
  Result<Extraction> plan = plan_hoist(program, loop, first, lists);
  for (const std::vector<Part>& list : lists) {
    for (const Part& other : list) {
      if (plan) return plan;
      if (!is_prefix(loop, other.path) || !same_expr(other.expr, first.expr)) continue;
      if (Result<Extraction> now = plan_hoist(program, loop, other, lists)) plan = std::move(now);
    }
  }
  return plan;
}

std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  const PartLists lists = list_all(program);
  for (const StmtPath& loop : collect_loops(program.body())) {
    std::vector<ExprPtr> seen;
    for (const std::vector<Part>& list : lists) {
      for (const Part& part : list) {
        if (!is_prefix(loop, part.path) || loop_used(program, loop, part) != nullptr) continue;
        if (std::any_of(seen.begin(), seen.end(), [&](const ExprPtr& e) { return same_expr(e, part.expr); })) continue;
        seen.push_back(part.expr);
        const Result<Extraction> plan = plan_text(program, loop, part, lists);
        if (!plan || (plan->dropped_guard && !hoist(program, target, *plan))) continue;
        out.push_back(Args{{"loop", loop_address(program.body(), loop)}, {"part", part_text(part)}});
      }
    }
  }
  return out;
}

Result<Step> apply(const Program& program, const Target& target, const Args& args) {
  CAIRN_TRY(const StmtPath loop, find_loop(program.body(), args.get("loop")));
  CAIRN_TRY(const Part part, find_part(program, loop, args.get("part"), 1));
  CAIRN_TRY(const Extraction plan, plan_text(program, loop, part, list_all(program)));
  return hoist(program, target, plan);
}

}  // namespace

extern const Strategy strategy_hoist_invariant{
    "hoist_invariant", Level::op, Direction::throughput, Exactness::exact,
    "what does not change inside a loop is computed once before it",
    {{"loop", ArgType::loop, "the loop the expression leaves", {}, ""},
     {"part", ArgType::text, "the expression, such as exp(C_{i})", {}, ""}},
    list_sites, apply};

}  // namespace cairn
