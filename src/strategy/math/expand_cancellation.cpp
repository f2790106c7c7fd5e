// expand_cancellation: a fraction or value is multiplied and divided by a factor of the program.
//
//   D=A/E, factor C  =>  D=A*C/(E*C)        D=A  =>  D=C*A/C
//
// Rows of the table analysis/algebra/identities.txt; `at` counts a row's matches in the right side.
// Legal when
// (1) the match does not reach across the accumulator of a self-update, no equation becomes or stops being one,
//     and the value brought in does not read the tensor written,
// (2) no side condition is known to fail: the factor is not 0, and nothing overflows,
// (3) what conversions and comparisons around the place compute in stays,
// (4) factor is an expression of elements that are float, of the target's compute type, in bounds and written before.
// Over the reals the two are equal: algebraic.
#include "strategy/math/identity_step.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

const IdentityUse& use() { return *find_identity_use("expand_cancellation"); }

std::vector<Args> list_sites(const Program& program, const Target&) { return list_identity_sites(use(), program); }

Result<Step> apply(const Program& program, const Target&, const Args& args) { return apply_identity(use(), program, args); }

}  // namespace

extern const Strategy strategy_expand_cancellation{
    "expand_cancellation", Level::math, Direction::algebra, Exactness::algebraic,
    "a fraction or value is multiplied and divided by a factor of the program",
    identity_params(use(), "an expression of elements the program has there, such as C_{i}"),
    list_sites, apply};

}  // namespace cairn
