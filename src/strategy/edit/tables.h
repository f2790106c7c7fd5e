// Parameter tables of the loop strategies: divisors, micro-kernel and cache sizes of the target.
#pragma once
#include <cstdint>
#include <vector>

#include "analysis/target.h"

namespace cairn {

// Factors for splitting a loop: powers of two, register-tile rows, the block for one core each, divisors
// up to 64; ascending, each in [2, extent - 1], at most 30.
std::vector<std::int64_t> split_factors(std::int64_t extent, const Target& target);
// Sizes for the point loop of a spatial axis (register tiles' rows and lanes, cache blocks), ascending.
std::vector<std::int64_t> tile_sizes(std::int64_t extent, const Target& target);

}  // namespace cairn
