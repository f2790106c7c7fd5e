// expand_factorization: a product with a sum is multiplied out, a scaling moves into the reduction before it.
//
//   D=(A+E)*C  =>  D=A*C+E*C
//   L_i L_k [ E_{i}=E_{i}+f ]  L_i [ E_{i}=E_{i}*S_{i} ]  =>  L_i L_k [ E_{i}=E_{i}+f*S_{i} ]     (rule=reduction)
//
// Rows of analysis/algebra/identities.txt apply to products that are no term of a larger sum (expand_collect takes
// those); `at` counts a row's matches in the right side. With rule=reduction `equation` is the scaling; the statement
// before it holds the updates. A product of a sum whose terms nearly cancel loses digits when it is multiplied out: the
// step records how far they may.
//
// Legal when
// (1) the match does not reach across the accumulator of a self-update, and no equation becomes or stops being one,
// (2) no side condition is known to fail;
// into a reduction, when
// (3) the equation is an element times or divided by one factor, and the statement before updates it by + - max or min
//     in loops, under the same guards but for the reduction loops,
// (4) the element starts there: nothing wrote it before and no loop around meets it twice, or the statement before the
//     loops starts it with the neutral element,
// (5) the factor changes with no loop that reduces the element, and none of its operands is written in the loops,
// (6) nothing else reads the element inside the loops,
// (7) the scaling meets exactly the elements that the loops update, each once,
// (8) through max and min, the factor is proved to be 0 or more.
// Over the reals both sides are equal: algebraic; integers wrap alike, so nothing needs to be recorded of them.
#include <fmt/core.h>

#include "ir/canon.h"
#include "ir/self_update.h"
#include "ir/walk.h"
#include "strategy/edit/refuse.h"
#include "strategy/math/factor_rules.h"
#include "strategy/math/reduction_factor.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

std::vector<Args> list_sites(const Program& program, const Target&) {
  std::vector<Args> out = list_factor_sites("expand_factorization", program);
  for (const EquationRef& ref : collect_equations(program.body())) {
    const std::optional<SelfUpdate> update = match_self_update(*ref.equation);
    FactorBack back;
    if (!update || update->op != UpdateOp::mul || !factor_in(program, ref.path, &back)) continue;
    out.push_back(Args{{"equation", equation_address(program.body(), ref.path)}, {"rule", std::string(kReductionRule)}, {"at", "0"}});
  }
  return out;
}

Result<Step> apply(const Program& program, const Target&, const Args& args) {
  if (args.get("rule") != kReductionRule) return apply_factor_rule("expand_factorization", program, args);
  CAIRN_TRY(const StmtPath equation, find_equation(program.body(), args.get("equation")));
  FactorBack back;
  CAIRN_TRY(Step step, factor_in(program, equation, &back));
  step.inverse = Action{"factorization", {{"equation", equation_address(step.after.body(), back.equation)}, {"rule", std::string(kReductionRule)}, {"at", "0"},
                                          {"factor", factor_text(back.factor)}, {"loop", loop_address(step.after.body(), back.loop)}}};
  return step;
}

}  // namespace

extern const Strategy strategy_expand_factorization{
    "expand_factorization", Level::math, Direction::algebra, Exactness::algebraic,
    "a product with a sum is multiplied out, a scaling moves into the reduction before it",
    {{"equation", ArgType::equation, "whose right side is rewritten, or the scaling", {}, ""},
     {"rule", ArgType::text, "a row of the table, or reduction", {}, ""},
     {"at", ArgType::integer, "which of the row's matches, in text order", {}, "0"}},
    list_sites, apply};

}  // namespace cairn
