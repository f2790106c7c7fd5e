// Lowers the naive program once more, independently of lower/c: plain C over doubles, for references.
#pragma once
#include <string>
#include <vector>

#include "ir/interp.h"
#include "ir/program.h"

namespace cairn {

// Compiled with -DCAIRN_STOCHASTIC the text computes in the working dtypes with randomised rounding, without it
// in f64. Entry: int reference(void *const *tensors, void *workspace); floats are doubles, integers and bools
// int64_t, in declaration order of the program's non-temporaries; the first of every `runs` calls in a process
// rounds to nearest, the second too and contracts products into sums, the others by seeds that are the same in every
// process. Returns 0, or 1 if an integer division by zero or an index out of bounds was met. Loops of a nest that is one
// self-update are interchanged and tiled such that every element's own order of operations stays (certified by form: the
// target is subscripted by plain distinct loop variables and nothing else reads it).
struct ReferenceSource {
  std::string code;
  std::int64_t workspace_bytes = 0;
  int runs = 6;                 // how often to call it on each input, unless the environment says otherwise
  double operations = 0;        // of one call, and what reading and writing its inputs and outputs costs beside
};
inline constexpr const char* kReferenceRuns = "CAIRN_REFERENCE_RUNS";
inline constexpr const char* kReferenceEntry = "reference";

// Refuses with the error of elaboration or shape inference.
Result<ReferenceSource> lower_reference(const Program& program);

}  // namespace cairn
