// The error budget (verification.md "Error budget").
#pragma once
#include <string>
#include <vector>

#include "ir/interp.h"

namespace cairn {

// Per output: reference in f64, and per element what a candidate may be off by.
struct OutputBudget {
  Value reference;                 // f64 values; integers and bools as they are
  Value naive;                     // naive run in the working dtype
  std::vector<double> tolerance;   // max(2*own, gamma); 0 for integers
  std::vector<double> terms;       // ||terms||_2 per element; empty if the output is not multilinear
  std::vector<std::uint8_t> skip;  // naive is inf or NaN where the reference is not, or the reverse; or an
                                   // integer (an index of computed values) on which the runs disagree
};
using Budget = std::map<std::string, OutputBudget, std::less<>>;

struct Comparison {
  bool ok = true;
  std::string reason;              // first failing element, found and expected, tolerance
  double max_ulp = 0, relative_l2 = 0, worst_ratio = 0;  // worst_ratio: error over tolerance
  std::int64_t skipped = 0, compared = 0, failed = 0;
};
// Accepts when !(err > tol) holds for every element not skipped; NaN and infinities where the reference has
// them and nowhere else. A skipped element may be anything but a NaN that naive does not have.
Comparison compare_output(const OutputBudget& budget, const Value& candidate);
// Does element i hold under compare_output's rule?
bool element_holds(const OutputBudget& budget, const Value& candidate, std::size_t i);
// What runs of `program` itself differ by under randomised rounding of stores and operations, per element of each float
// output, with the root mean square over the row as in make_budget.
Result<std::map<std::string, std::vector<double>, std::less<>>> rounding_errors(const Program& program, const ValueMap& inputs,
                                                                               std::uint64_t seed, const InterpOptions& options = {});
// Bit-equal but for the sign of zero and NaN payloads.
Comparison compare_exact(const Value& expected, const Value& candidate);

// own: per element the largest error of 4 runs with randomised rounding and of the naive run, or its root
// mean square over the innermost row if that is larger, at least half a unit of the result. gamma = 4*u*sqrt(n)*||terms||_2 for multilinear
// outputs, else 0; u is the unit roundoff of the output's compute type.
Result<Budget> make_budget(const Program& naive, const ValueMap& inputs, std::uint64_t seed,
                           const InterpOptions& options = {});

// Unit roundoff of a dtype, e.g. 2^-24 for f32.
double unit_roundoff(Dtype dtype);

}  // namespace cairn
