#include "strategy/edit/tables.h"

#include <algorithm>

namespace cairn {
namespace {

void tidy(std::vector<std::int64_t>* sizes) {
  std::sort(sizes->begin(), sizes->end());
  sizes->erase(std::unique(sizes->begin(), sizes->end()), sizes->end());
}

}  // namespace

TileTable::TileTable(const Target& target) : cores_(target.cores), sizes_{8, 16, 32, 64, 128, 256} {
  for (std::int64_t p = 2; p <= 1024; p *= 2) factors_.push_back(p);
  for (const Target::RegisterTile& tile : target.register_tiles(4)) {
    factors_.push_back(tile.rows);
    sizes_.push_back(tile.rows);
    sizes_.push_back(tile.lanes);
  }
  tidy(&factors_);
  tidy(&sizes_);
}

std::vector<std::int64_t> TileTable::factors(std::int64_t extent) const {
  std::vector<std::int64_t> out;
  out.reserve(factors_.size() + 9);
  out = factors_;
  out.push_back((extent + cores_ - 1) / cores_);
  std::size_t divisors = 0;
  for (std::int64_t d = 3; d <= 64 && divisors < 8; ++d) {
    if (extent % d != 0 || (d & (d - 1)) == 0) continue;
    out.push_back(d);
    ++divisors;
  }
  tidy(&out);
  std::erase_if(out, [extent](std::int64_t s) { return s < 2 || s >= extent; });
  if (out.size() > 30) out.resize(30);
  return out;
}

std::vector<std::int64_t> TileTable::sizes(std::int64_t extent) const {
  std::vector<std::int64_t> out;
  for (const std::int64_t size : sizes_) {
    if (size >= 2 && size < extent && out.size() < 12) out.push_back(size);
  }
  return out;
}

}  // namespace cairn
