#include "base/rng.h"

#include <cmath>

#include "base/check.h"

namespace cairn {

std::uint64_t Rng::below(std::uint64_t n) {
  CAIRN_CHECK(n > 0);
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % n;  // rejection keeps it unbiased
  std::uint64_t x = next();
  while (x >= limit) x = next();
  return x % n;
}

double Rng::normal() {
  const double u = 1.0 - uniform();  // in (0, 1]
  return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * uniform());
}

}  // namespace cairn
