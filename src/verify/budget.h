// The error budget (verification.md "Error budget").
#pragma once
#include <string>
#include <vector>

#include "ir/interp.h"

namespace cairn {

// Per output: reference in f64, and per element the largest error of 4 naive runs with randomised rounding.
struct OutputBudget {
  Value reference;                 // f64 values
  Value naive;                     // naive run in the working dtype
  std::vector<double> tolerance;   // max(2*own per element and row rms, gamma)
  std::vector<std::uint8_t> skip;  // naive is inf or NaN where the reference is not
};
using Budget = std::map<std::string, OutputBudget, std::less<>>;

struct Comparison {
  bool ok = true;
  std::string reason;              // first failing element, found and expected, tolerance
  double max_ulp = 0, relative_l2 = 0, worst_ratio = 0;  // worst_ratio: error over tolerance
  std::int64_t skipped = 0, compared = 0;
};
// Accepts when !(err > tol) holds for every element not skipped; NaN and infinity masks as the reference's.
Comparison compare_output(const OutputBudget& budget, const Value& candidate);
// gamma = 4*u*sqrt(n)*||terms||_2 for multilinear programs, else 0; own from four randomised runs.
Result<Budget> make_budget(const Program& naive, const ValueMap& inputs, std::uint64_t seed);

}  // namespace cairn
