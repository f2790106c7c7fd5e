// powsimp: products of powers, exponentials and roots combine.
//
//   D=exp(A)*exp(C)  =>  D=exp(A+C)        D=A*A  =>  D=A**2 (exact)
//
// Rows of the table analysis/algebra/identities.txt; `at` counts a row's matches in the right side.
// Legal when
// (1) the match does not reach across the accumulator of a self-update, and no equation becomes or stops being one,
// (2) no side condition is known to fail: integer exponents or a positive base, and what combines does not overflow,
// (3) what conversions and comparisons around the place compute in stays.
// Over the reals the two are equal: algebraic.
#include "strategy/math/identity_step.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

const IdentityUse& use() { return *find_identity_use("powsimp"); }

std::vector<Args> list_sites(const Program& program, const Target&) { return list_identity_sites(use(), program); }

Result<Step> apply(const Program& program, const Target&, const Args& args) { return apply_identity(use(), program, args); }

}  // namespace

extern const Strategy strategy_powsimp{
    "powsimp", Level::math, Direction::algebra, Exactness::algebraic,
    "products of powers, exponentials and roots combine",
    identity_params(use()),
    list_sites, apply};

}  // namespace cairn
