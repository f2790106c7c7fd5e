#include "eval/stats.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/rng.h"

namespace cairn {

namespace {
double sorted_quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(std::floor(at));
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}
}  // namespace

double quantile(std::vector<double> samples, double q) {
  CAIRN_CHECK(!samples.empty());
  std::sort(samples.begin(), samples.end());
  return sorted_quantile(samples, q);
}

Timing summarize(const std::vector<double>& samples, std::uint64_t seed) {
  CAIRN_CHECK(!samples.empty());
  std::vector<double> sorted = samples;
  std::sort(sorted.begin(), sorted.end());
  Timing t;
  t.samples = static_cast<int>(sorted.size());
  t.median = sorted_quantile(sorted, 0.5);
  t.q25 = sorted_quantile(sorted, 0.25);
  t.q75 = sorted_quantile(sorted, 0.75);
  constexpr int kResamples = 400;
  Rng rng(seed);
  std::vector<double> medians, draw(sorted.size());
  for (int r = 0; r < kResamples; ++r) {
    for (double& x : draw) x = sorted[rng.below(sorted.size())];
    const auto middle = draw.begin() + static_cast<std::ptrdiff_t>(draw.size() / 2);
    std::nth_element(draw.begin(), middle, draw.end());
    double m = *middle;
    if (draw.size() % 2 == 0) m = 0.5 * (m + *std::max_element(draw.begin(), middle));
    medians.push_back(m);
  }
  std::sort(medians.begin(), medians.end());
  t.lo = sorted_quantile(medians, 0.05);
  t.hi = sorted_quantile(medians, 0.95);
  return t;
}

}  // namespace cairn
