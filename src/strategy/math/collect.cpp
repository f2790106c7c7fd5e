// collect: terms of a sum are gathered by a variable.
//
//   D=A*C+E*C+F  =>  D=(A+E)*C+F
//
// Rows of analysis/algebra/identities.txt apply to two terms of a sum (factorization takes those that are all of it too)
// that share a factor that is no product, sum or literal: the variable. Factors are the same only with equal subscripts.
// `at` counts a row's matches in the right side. Three terms take two steps.
//
// Legal when
// (1) the match does not reach across the accumulator of a self-update, and no equation becomes or stops being one,
// (2) no side condition is known to fail.
// Over the reals both sides are equal: algebraic; exact for integers, which wrap alike.
#include "strategy/math/factor_rules.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

std::vector<Args> list_sites(const Program& program, const Target&) { return list_factor_sites("collect", program); }

Result<Step> apply(const Program& program, const Target&, const Args& args) { return apply_factor_rule("collect", program, args); }

}  // namespace

extern const Strategy strategy_collect{
    "collect", Level::math, Direction::algebra, Exactness::algebraic,
    "terms of a sum are gathered by a variable",
    {{"equation", ArgType::equation, "whose right side is rewritten", {}, ""},
     {"rule", ArgType::text, "a row of the table", {}, ""},
     {"at", ArgType::integer, "which of the row's matches, in text order", {}, "0"}},
    list_sites, apply};

}  // namespace cairn
