// factorization: common factors leave a sum, loop-invariant factors leave a reduction.
//
//   D=A*C+E*C  =>  D=(A+E)*C
//   L_i L_k [ E_{i}=E_{i}+S_{i}*f ]  =>  L_i L_k [ E_{i}=E_{i}+f ]  L_i [ E_{i}=E_{i}*S_{i} ]     (rule=reduction)
//
// In a sum the rows of analysis/algebra/identities.txt apply where they take the whole sum (collect gathers a part);
// `at` counts a row's matches in the right side. Out of a reduction by + - max min `factor` (C_{i}, or 1/C_{i} for a
// divisor) leaves all updates of the element inside `loop`, and the scaling stands right behind that loop. Factors are
// the same only with equal subscripts: A_{i} and A_{5-i} are two.
//
// Legal when
// (1) the match does not reach across the accumulator of a self-update, and no equation becomes or stops being one,
// (2) no side condition is known to fail;
// out of a reduction, when
// (3) `equation` is the first update of the element inside the loop, every write of the element there is an update by
//     the one operator, under the same guards but for the reduction loops, and every term of each has the factor,
// (4) the element starts there: nothing wrote it before and no loop around meets it twice, or the statement before the
//     loop starts it with the neutral element,
// (5) the factor changes with no loop that reduces the element, and none of its operands is written in the loops,
// (6) nothing else reads the element inside the loop,
// (7) every element that is scaled was updated, and is scaled once,
// (8) through max and min, the factor is proved to be 0 or more.
// Over the reals both sides are equal: algebraic; integers wrap alike, so nothing needs to be recorded of them.
#include <fmt/core.h>

#include "ir/canon.h"
#include "ir/self_update.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"
#include "strategy/math/factor_rules.h"
#include "strategy/math/reduction_factor.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

Args reduction_args(const Program& program, const StmtPath& equation, const StmtPath& loop, const Factor& factor) {
  return Args{{"equation", equation_address(program.body(), equation)}, {"rule", std::string(kReductionRule)}, {"at", "0"},
              {"factor", factor_text(factor)}, {"loop", loop_address(program.body(), loop)}};
}

std::vector<Args> list_sites(const Program& program, const Target&) {
  std::vector<Args> out;
  for (Args& args : list_factor_sites("factorization", program)) {
    args.set("factor", "-");
    args.set("loop", "-");
    out.push_back(std::move(args));
  }
  for (const EquationRef& ref : collect_equations(program.body())) {
    const std::optional<SelfUpdate> update = match_self_update(*ref.equation);
    if (!update || update->op == UpdateOp::mul) continue;
    for (const Factor& factor : list_factors(update->others[0].expr)) {
      for (std::size_t n = 1; n < ref.path.size(); ++n) {
        const StmtPath loop(ref.path.begin(), ref.path.begin() + static_cast<std::ptrdiff_t>(n));
        if (!stmt_at(program.body(), loop)->is_loop() || !factor_out(program, ref.path, factor, loop)) continue;
        out.push_back(reduction_args(program, ref.path, loop, factor));
      }
    }
  }
  return out;
}

Result<Step> apply(const Program& program, const Target& target, const Args& args) {
  if (args.get("rule") != kReductionRule) return apply_factor_rule("factorization", program, args);
  CAIRN_TRY(const StmtPath equation, find_equation(program.body(), args.get("equation")));
  CAIRN_TRY(const ExprPtr factor, parse_expr(args.get("factor")));
  CAIRN_TRY(const StmtPath loop, find_loop(program.body(), args.get("loop")));
  CAIRN_TRY(Step step, factor_out(program, equation, parse_factor(factor), loop));
  StmtPath scaling = loop;
  ++scaling.back();
  while (!stmt_at(step.after.body(), scaling)->is_equation()) scaling.push_back(0);
  const Args back{{"equation", equation_address(step.after.body(), scaling)}, {"rule", std::string(kReductionRule)}, {"at", "0"}};
  const Result<Step> undone = find_strategy("expand_factorization")->apply(step.after, target, back);
  if (undone && canonical_hash(undone->after) == canonical_hash(program)) step.inverse = Action{"expand_factorization", back};
  return step;
}

}  // namespace

extern const Strategy strategy_factorization{
    "factorization", Level::math, Direction::algebra, Exactness::algebraic,
    "common factors leave a sum, loop-invariant factors leave a reduction",
    {{"equation", ArgType::equation, "whose right side is rewritten, or the update of the reduction", {}, ""},
     {"rule", ArgType::text, "a row of the table, or reduction", {}, ""},
     {"at", ArgType::integer, "which of the row's matches, in text order", {}, "0"},
     {"factor", ArgType::text, "reduction: the factor that leaves, C_{i} or 1/C_{i}", {}, "-"},
     {"loop", ArgType::loop, "reduction: the loop behind which the scaling stands", {}, "-"}},
    list_sites, apply};

}  // namespace cairn
