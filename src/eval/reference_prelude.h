// C text that every compiled reference begins with: LEIR's number rules over double and int64_t.
#pragma once
#include <string_view>

namespace cairn {

// With CAIRN_STOCHASTIC every result is rounded to its type, in some calls to nearest, in others up or down at
// random with the odds of its distance (stochastic rounding, Forsythe 1950; Monte Carlo arithmetic, Parker 1997);
// without, floats are doubles.
// The random bits are a hash of the value, the place and the seed, so that loops stay vectorisable.
std::string_view reference_prelude();

}  // namespace cairn
