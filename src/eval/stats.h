// Statistics of timing samples.
#pragma once
#include <cstdint>
#include <vector>

#include "eval/evaluator.h"

namespace cairn {

// Quantile by linear interpolation between order statistics; samples need not be sorted, and there is one.
double quantile(std::vector<double> samples, double q);
// Median, quartiles and the 90 % percentile-bootstrap interval of the median (Efron 1979), seeded.
Timing summarize(const std::vector<double>& samples, std::uint64_t seed);

}  // namespace cairn
