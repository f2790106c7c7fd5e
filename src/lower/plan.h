// Decisions made before any C is written: where tensors live, where self-updates start, what P loops may do.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/target.h"
#include "lower/c.h"
#include "base/result.h"
#include "ir/program.h"
#include "ir/self_update.h"
#include "lower/affine_terms.h"

namespace cairn {

// How a tensor lives in C.
struct Place {
  enum class Kind { pointer, buffer, array, registers };
  // pointer: an argument; buffer: in the workspace (one slice a thread if regions is not empty); array: a C array of
  // the function or parallel body; registers: named variables.
  Kind kind = Kind::pointer;
  const Tensor* tensor = nullptr;
  std::string name;                     // in C
  Shape full_shape;                     // as in the program
  Shape shape;                          // held: 1 where a dimension costs no storage
  std::vector<std::int64_t> strides;    // elements; 0 for dimensions that cost no storage
  std::int64_t elements = 1;            // held
  std::vector<StmtPath> regions;        // parallel loops with their own instance (l and s)
  bool outside = true;                  // an instance of the function is needed
  std::int64_t offset = 0;              // buffer: bytes into the workspace
  std::int64_t slice = 0;               // buffer: bytes of one thread's slice
  int lanes = 0;                        // registers: lanes of a vector, 0 = scalars
};

// What the writes of one tensor inside a parallel loop mean.
struct ParallelReduction {
  std::string tensor;
  UpdateOp op = UpdateOp::add;
  std::int64_t offset = 0;              // bytes into the workspace of the partials
};
struct ParallelPlan {
  bool parallel = false;
  std::string reason;                   // why it runs serially
  std::vector<ParallelReduction> reductions;
  std::int64_t chunks = 0;              // partials, if there are reductions
};

// V loops of up to this many vectors are written out.
inline constexpr std::int64_t kUnrolledVectors = 8;

struct LowerPlan {
  std::map<std::string, Place, std::less<>> places;
  std::map<StmtPath, Body> starts;      // statements to emit before the statement at a path
  std::map<std::string, ExprPtr> entry_starts;  // whole tensors set to the neutral element on entry
  std::map<StmtPath, ParallelPlan> parallel;    // outermost P loops
  std::map<const Stmt*, const Stmt*> origin;    // V loops of `starts` -> the loop whose lanes they use
  std::int64_t max_unroll = 64;                 // U loops up to this extent become straight code
  std::int64_t workspace_bytes = 0;
  std::vector<std::string> notes;
};

// `flags`: tensors of add_start_flags, cleared on entry.
Result<LowerPlan> make_plan(const Program& program, const Target& target, const std::vector<std::string>& flags);

// Tensors that different operators may start get a bool tensor of written elements, which every write sets and
// every self-update asks. Such programs are legal but rare; the result is no longer made of self-updates there.
Result<Program> add_start_flags(const Program& program, std::vector<std::string>* flags);

// Parts of make_plan.
void plan_starts(const Program& program, const std::vector<PlacedEquation>& equations, LowerPlan* plan);
void plan_parallel(const Program& program, const Target& target, const std::vector<PlacedEquation>& equations,
                   LowerPlan* plan);
void plan_places(const Program& program, const Target& target, const std::vector<PlacedEquation>& equations,
                 LowerPlan* plan);

// Is the loop fully unrolled by us (kind U, and the factor divides into the whole extent)?
bool is_unrolled_whole(const Stmt& loop, std::int64_t max_unroll);
// Lanes a vector register has for what a V loop's body computes; 0 if the body must be a plain loop.
int vector_lanes(const Program& program, const Target& target, const Stmt& loop, std::int64_t max_unroll);
// A C identifier for a name of the program.
std::string c_name(std::string_view name);
// Neutral element's C literal for a dtype's storage.
std::string c_type(Dtype dtype);

}  // namespace cairn
