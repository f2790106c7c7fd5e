// apart: a fraction falls into a sum of fractions.
//
//   D=(A+C)/E  =>  D=A/E+C/E        D=A/(A+C)  =>  D=1-C/(A+C)
//
// Rows of the table analysis/algebra/identities.txt; `at` counts a row's matches in the right side.
// Legal when
// (1) the match does not reach across the accumulator of a self-update, and no equation becomes or stops being one,
// (2) no side condition is known to fail: denominators are not 0.
// Over the reals the two are equal: algebraic.
#include "strategy/math/identity_step.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

const IdentityUse& use() { return *find_identity_use("apart"); }

std::vector<Args> list_sites(const Program& program, const Target&) { return list_identity_sites(use(), program); }

Result<Step> apply(const Program& program, const Target&, const Args& args) { return apply_identity(use(), program, args); }

}  // namespace

extern const Strategy strategy_apart{
    "apart", Level::math, Direction::algebra, Exactness::algebraic,
    "a fraction falls into a sum of fractions",
    identity_params(use()),
    list_sites, apply};

}  // namespace cairn
