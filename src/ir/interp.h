// The reference interpreter: sequential meaning, exact dtype semantics, or everything in f64.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "ir/slice.h"

namespace cairn {

// A dense row-major tensor value. Floats are kept as doubles holding values representable in `dtype`
// (any double in f64 mode); integers and bools as int64.
struct Value {
  Dtype dtype = Dtype::f32;
  Shape shape;
  std::vector<double> floats;         // if is_float(dtype)
  std::vector<std::int64_t> ints;     // otherwise
  std::int64_t size() const;
  static Value zeros(Dtype dtype, const Shape& shape);
};
using ValueMap = std::map<std::string, Value, std::less<>>;

// Randomised rounding of stores in the working dtype (verification.md "own": 4 naive runs).
struct InterpOptions {
  bool in_f64 = false;                 // compute and store every float in f64
  std::uint64_t rounding_seed = 0;     // 0: round to nearest even; else each rounding goes up or down at random
  std::uint64_t max_instances = 200'000'000;  // equations executed before Code::timeout
  bool keep_temporaries = false;       // return tmps too
  std::int64_t max_bytes = std::int64_t{6} << 30;  // of all values; beyond: Code::timeout
  // Run only what these elements need (backward_slice of them); outputs then hold only these, their shape the
  // counts of the box's index sets.
  const Slice* slice = nullptr;
  const std::map<std::string, Box, std::less<>>* sampled = nullptr;
};

// Runs the program. Inputs are `in param const io` by name. Returns `out` and `io` (and tmps if asked).
// Refuses with Code::run, located at the equation: a read of an element not yet written, an index out of
// bounds, an integer division by zero; Code::usage for missing or misshapen inputs.
Result<ValueMap> interpret(const Program& program, const ValueMap& inputs, const InterpOptions& options = {});

// Rounds a double to the nearest value of a dtype (ties to even), as a store does; saturating for integers.
double round_to(Dtype dtype, double value);
// float -> integer conversion: truncates, saturates to the dtype, NaN gives 0.
std::int64_t to_integer(Dtype dtype, double value);
// Integers wrap to their width.
std::int64_t wrap_integer(Dtype dtype, std::int64_t value);

}  // namespace cairn
