#include "strategy/edit/tables.h"

#include <algorithm>

namespace cairn {
namespace {

std::vector<std::int64_t> tidy(std::vector<std::int64_t> sizes, std::int64_t extent, std::size_t limit) {
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::erase_if(sizes, [extent](std::int64_t s) { return s < 2 || s >= extent; });
  if (sizes.size() > limit) sizes.resize(limit);
  return sizes;
}

}  // namespace

std::vector<std::int64_t> split_factors(std::int64_t extent, const Target& target) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t p = 2; p <= 1024; p *= 2) sizes.push_back(p);
  for (const Target::RegisterTile& tile : target.register_tiles(4)) sizes.push_back(tile.rows);
  sizes.push_back((extent + target.cores - 1) / target.cores);
  std::size_t divisors = 0;
  for (std::int64_t d = 3; d <= 64 && divisors < 8; ++d) {
    if (extent % d != 0 || (d & (d - 1)) == 0) continue;
    sizes.push_back(d);
    ++divisors;
  }
  return tidy(std::move(sizes), extent, 30);
}

std::vector<std::int64_t> tile_sizes(std::int64_t extent, const Target& target) {
  std::vector<std::int64_t> sizes = {8, 16, 32, 64, 128, 256};
  for (const Target::RegisterTile& tile : target.register_tiles(4)) {
    sizes.push_back(tile.rows);
    sizes.push_back(tile.lanes);
  }
  return tidy(std::move(sizes), extent, 12);
}

}  // namespace cairn
