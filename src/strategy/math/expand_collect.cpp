// expand_collect: a product that is a term of a sum is multiplied out.
//
//   D=(A+E)*C+F  =>  D=A*C+E*C+F
//
// Rows of analysis/algebra/identities.txt apply to products in a larger sum (expand_factorization takes the others).
// `at` counts a row's matches in the right side. A product of a sum whose terms nearly cancel loses digits when it is
// multiplied out: the step records how far they may.
//
// Legal when
// (1) the match does not reach across the accumulator of a self-update, and no equation becomes or stops being one,
// (2) no side condition is known to fail.
// Over the reals both sides are equal: algebraic; exact for integers, which wrap alike.
#include "strategy/math/factor_rules.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

std::vector<Args> list_sites(const Program& program, const Target&) { return list_factor_sites("expand_collect", program); }

Result<Step> apply(const Program& program, const Target&, const Args& args) { return apply_factor_rule("expand_collect", program, args); }

}  // namespace

extern const Strategy strategy_expand_collect{
    "expand_collect", Level::math, Direction::algebra, Exactness::algebraic,
    "a product that is a term of a sum is multiplied out",
    {{"equation", ArgType::equation, "whose right side is rewritten", {}, ""},
     {"rule", ArgType::text, "a row of the table", {}, ""},
     {"at", ArgType::integer, "which of the row's matches, in text order", {}, "0"}},
    list_sites, apply};

}  // namespace cairn
