// Exact shadow execution: runs control and subscripts of a small program, without values, and tells what it
// reads, writes, starts and carries. The fallback where symbolic tests do not decide, and their oracle.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/program.h"

namespace cairn {

struct ConcreteOptions {
  std::int64_t max_instances = 3'000'000;  // equation instances; above, the answer is "not decided"
  std::int64_t max_elements = 1 << 26;     // of all tensors together
};

// Something the shadow execution met; the first of its kind for an equation and tensor.
struct ConcreteProblem {
  enum class Kind : std::uint8_t { bounds, unwritten, crossing, division };
  Kind kind = Kind::bounds;
  std::uint32_t equation = 0;          // ordinal; for a T test, of the first equation below it
  SourcePos pos = kNoPos;
  std::string tensor;
  std::size_t dimension = 0;           // bounds
  std::int64_t value = 0;              // bounds: the subscript
  std::vector<std::int64_t> element;   // unwritten, crossing
  std::string iteration;               // "i=3, j=0"
  bool maybe = false;                  // only if a data-dependent condition goes one way
};
// How often a self-update met its element unwritten, or already written.
struct ConcreteStart {
  std::int64_t starts = 0, continues = 0, undecided = 0;
};
struct ConcreteMissing {
  std::string tensor;
  std::vector<std::int64_t> element;   // the first element of an output that is never (surely) written
};
struct ConcreteFlow {
  bool decided = false;
  std::string reason;                  // why not
  std::vector<ConcreteProblem> problems;
  std::vector<ConcreteStart> starts;   // by equation ordinal; zeros where it is not a self-update
  std::vector<ConcreteMissing> missing;
};
// Runs the whole program. Data-dependent conditions go both ways: reads under them count, writes under them
// are not sure. A gathered read needs its whole tensor written. Storage: a read of an `s` or `l` element
// whose last write is of another kernel, or of another iteration of the outermost P or block axes, is `crossing`.
ConcreteFlow run_concrete(const Program& program, const ConcreteOptions& options = {});

// A tensor through which a loop carries a dependence (between two iterations of one execution of it).
struct CarriedTensor {
  std::string tensor;
  bool flow = false, anti = false, output = false;   // flow: the read sees a write of an earlier iteration
  std::uint32_t source = 0, sink = 0;                // equations of the first one met
  std::vector<std::int64_t> element;
  std::int64_t source_iteration = 0, sink_iteration = 0;
  bool maybe = false;                                // through a data-dependent subscript or test
};
struct ConcreteCarried {
  bool decided = false;
  std::string reason;
  std::vector<CarriedTensor> carried;
};
ConcreteCarried run_carried(const Program& program, const StmtPath& loop, const ConcreteOptions& options = {});

// Equation instances of the statements below, guards not counted; saturates.
std::int64_t count_instances(const Body& body);

}  // namespace cairn
