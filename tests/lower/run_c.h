// Compiles lowered programs and runs them in a child process on given inputs.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/interp.h"
#include "lower/c.h"

namespace cairn::test {

struct Case {
  std::string name;
  Program program;
  ValueMap inputs;
  CSource source;
};
struct Outcome {
  int status = 0;        // what the kernel returned
  ValueMap outputs;      // out and io tensors
};

// Bytes of a value as the kernel sees them, and back.
std::string encode_value(const Value& value);
Value decode_value(Dtype dtype, const Shape& shape, const std::string& bytes);

// One compile of all cases (one file each), one child. Workspaces and outputs are poisoned before the call.
Result<std::vector<Outcome>> run_cases(const std::vector<Case>& cases, const std::vector<std::string>& flags);

// Random inputs for a program: floats in (-2, 2) rounded to their dtype, integers in [0, 4).
ValueMap random_inputs(const Program& program, std::uint64_t seed);

}  // namespace cairn::test
