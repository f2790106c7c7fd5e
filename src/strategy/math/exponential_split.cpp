// exponential_split: an exponential of a difference goes through a third value.
//
//   D=exp(A-C), z E  =>  D=exp(A-E)*exp(E-C)
//
// Rows of the table analysis/algebra/identities.txt; `at` counts a row's matches in the right side.
// Legal when
// (1) the match does not reach across the accumulator of a self-update, no equation becomes or stops being one,
//     and the value brought in does not read the tensor written,
// (2) no side condition is known to fail: z is finite, x-z and z-y are at most 80 (700 in f64),
// (3) what conversions and comparisons around the place compute in stays,
// (4) z is an expression of elements that are float, of the target's compute type, in bounds and written before.
// Over the reals the two are equal: algebraic.
#include "strategy/math/identity_step.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

const IdentityUse& use() { return *find_identity_use("exponential_split"); }

std::vector<Args> list_sites(const Program& program, const Target&) { return list_identity_sites(use(), program); }

Result<Step> apply(const Program& program, const Target&, const Args& args) { return apply_identity(use(), program, args); }

}  // namespace

extern const Strategy strategy_exponential_split{
    "exponential_split", Level::math, Direction::algebra, Exactness::algebraic,
    "an exponential of a difference goes through a third value",
    identity_params(use(), "an expression of elements the program has there, such as M_{i}"),
    list_sites, apply};

}  // namespace cairn
