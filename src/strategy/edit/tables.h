// Parameter tables of the loop strategies: divisors, micro-kernel and cache sizes of the target.
#pragma once
#include <cstdint>
#include <vector>

#include "analysis/target.h"

namespace cairn {

// The sizes a target suggests for loops of any extent.
class TileTable {
 public:
  explicit TileTable(const Target& target);
  // Factors for splitting a loop: powers of two, register-tile rows, the block for one core each, divisors
  // up to 64; ascending, each in [2, extent - 1], at most 30.
  std::vector<std::int64_t> factors(std::int64_t extent) const;
  // Sizes for the point loop of a spatial axis (register tiles' rows and lanes, cache blocks), ascending, at most 12.
  std::vector<std::int64_t> sizes(std::int64_t extent) const;

 private:
  std::int64_t cores_;
  std::vector<std::int64_t> factors_, sizes_;   // those that do not depend on the extent
};

}  // namespace cairn
