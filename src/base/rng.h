// Seeded randomness: counter-based, splittable, the same on every machine.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/hash.h"

namespace cairn {

// A splittable pseudo-random stream (splitmix64 over a key and a counter).
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : key_(mix64(seed)) {}
  // Next 64 random bits.
  std::uint64_t next() { return mix64(key_ ^ (0x9e3779b97f4a7c15ULL * ++counter_)); }
  // Uniform integer in [0, n); n > 0.
  std::uint64_t below(std::uint64_t n);
  // Uniform double in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // Standard normal (Box-Muller).
  double normal();
  // An independent stream named by a label; does not advance this one.
  Rng split(std::string_view label) const { return Rng(combine64(key_, hash64(label))); }
  Rng split(std::uint64_t label) const { return Rng(combine64(key_, mix64(label))); }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace cairn
