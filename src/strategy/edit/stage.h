// Staging the box of a tensor that a loop touches: the analysis behind cache_read_write.
#pragma once
#include <string>
#include <vector>

#include "analysis/access.h"
#include "analysis/footprint.h"
#include "strategy/edit/simplify.h"
#include "strategy/strategy.h"

namespace cairn {

// A place to stage at: the body of a loop, or around one top-level statement (address "0").
struct StagePlace {
  StmtPath path;                   // of the loop or statement
  bool around_nest = false;        // the statement itself is the one child
  Body children;
  std::vector<LoopRange> around;   // loops whose variables are fixed inside, outermost first
  std::size_t first = 0, last = 0; // children that get redirected
  SourcePos pos = kNoPos;
};

// What is staged: one dimension for each dimension of the tensor.
struct StageBox {
  std::vector<BoxDim> dims;
  std::vector<bool> below, above;  // elements under 0 or past the shape are possible in this dimension
  bool exact = false;
  std::int64_t elements = 1;
  std::vector<std::size_t> order;  // the buffer's dimensions: those of extent > 1, in the tensor's order unless permuted
};

Result<StagePlace> find_place(const Program& program, const std::string& address);
// The accesses of a tensor below the place, with the index of the child each stands in.
struct StageAccess {
  const Access* access;
  std::size_t child;
};
std::vector<StageAccess> accesses_at(const StagePlace& place, const std::vector<Access>& all, const std::string& tensor);
// The box of these accesses, or nullopt if a subscript is not affine in the inner loops.
std::optional<StageBox> box_of(const Program& program, const StagePlace& place, const std::vector<StageAccess>& accesses,
                               const Shape& shape);
// The loops around that a box does not move with: where all are at 0 the box is met for the first time. nullopt
// if two iterations that differ in another loop may touch common elements (mixed-radix test).
std::optional<std::vector<std::string>> revisiting_loops(const StagePlace& place, const StageBox& box);

// Redirects all mentions of `from` to `to`, subscripts counted from the box's origin, unit dimensions dropped.
Body redirect(const Body& body, std::vector<LoopRange> loops, const std::string& from, const std::string& to,
              const StageBox& box);

}  // namespace cairn
