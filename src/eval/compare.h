// Comparing a kernel's outputs with references under the error budget (verification.md "Error budget").
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/program.h"

namespace cairn {

// What one output should be on one set of inputs.
struct OutputReference {
  std::string name;
  Dtype dtype = Dtype::f32;
  Shape shape;
  std::vector<double> floats;         // f64 results, if is_float(dtype)
  std::vector<std::int64_t> ints;     // otherwise
  std::vector<float> own;             // floats: largest error of the naive runs, per element
  std::vector<float> gamma;           // of a multilinear output: 4 u sqrt(n) ||terms||_2; else empty
  std::vector<std::uint8_t> skip;     // a naive run is not what the reference is: infinite, NaN, another integer
  std::int64_t size() const { return static_cast<std::int64_t>(floats.size() + ints.size()); }
  std::int64_t row_length() const;    // extent of the last dimension; 1 for a scalar
};

// One for each output of the program, all zero.
std::vector<OutputReference> empty_references(const Program& program);

// How far outputs are from the reference; accumulates over outputs and sets.
struct ErrorReport {
  double max_ulp = 0;          // in units of the output's dtype at the reference
  double relative_l2 = 0;      // largest over outputs
  double worst_ratio = 0;      // error over tolerance
  std::int64_t compared = 0, skipped = 0;
};

// What element i may be off: 2*own, six times its row's root mean square of own, two units of the last place, gamma.
class Tolerance {
 public:
  explicit Tolerance(const OutputReference& reference);
  double operator()(std::int64_t i) const;
  double row_rms(std::int64_t row) const { return rms_[static_cast<std::size_t>(row)]; }
  double relative() const { return relative_; }

 private:
  const OutputReference& reference_;
  std::vector<double> rms_;
  double relative_ = 0;
};

// Notes a naive run's result (f64 or i64 values) in `own` and `skip`.
void note_naive_run(OutputReference& reference, const unsigned char* wide);

// Empty if the candidate (bytes in C's layout) is within the budget, else what is wrong and where. whole_rows:
// also the root mean square of every long row's errors, three times own's; for inputs without structure, whose
// errors are independent.
std::string compare_candidate(const OutputReference& reference, const unsigned char* candidate, bool whole_rows,
                              ErrorReport* report);

// Where the reference reacts when one input element changes, and by how much.
struct Reaction {
  std::vector<std::int64_t> elements;
  std::vector<double> change;
};
// `wide`: the reference's output on the changed input. At most 65,536 elements, evenly chosen.
Reaction find_reaction(const OutputReference& reference, const unsigned char* wide);
// Empty if the candidate reacts where and as the reference does (to a quarter), else the first place.
std::string compare_reaction(const OutputReference& reference, const Reaction& reaction, const unsigned char* before,
                             const unsigned char* after);

}  // namespace cairn
