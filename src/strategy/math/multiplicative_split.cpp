// multiplicative_split: x becomes x/z*z: an enabling move.
//
//   D=A, z C  =>  D=A/C*C
//
// Rows of the table analysis/algebra/identities.txt; `at` counts a row's matches in the right side.
// Legal when
// (1) the match does not reach across the accumulator of a self-update, no equation becomes or stops being one,
//     and the value brought in does not read the tensor written,
// (2) no side condition is known to fail: z is finite and not 0, x/z finite,
// (3) what conversions and comparisons around the place compute in stays,
// (4) z is an expression of elements that are float, of the target's compute type, in bounds and written before.
// Over the reals the two are equal: algebraic.
#include "strategy/math/identity_step.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

const IdentityUse& use() { return *find_identity_use("multiplicative_split"); }

std::vector<Args> list_sites(const Program& program, const Target&) { return list_identity_sites(use(), program); }

Result<Step> apply(const Program& program, const Target&, const Args& args) { return apply_identity(use(), program, args); }

}  // namespace

extern const Strategy strategy_multiplicative_split{
    "multiplicative_split", Level::math, Direction::algebra, Exactness::algebraic,
    "x becomes x/z*z: an enabling move",
    identity_params(use(), "an expression of elements the program has there, such as C_{i}"),
    list_sites, apply};

}  // namespace cairn
