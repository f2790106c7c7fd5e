// Written regions: which elements a write surely reaches before a read, as linear constraints on the element
// and on the loop variables that both share (internal to the flow analysis).
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/access.h"
#include "analysis/affine.h"

namespace cairn {

// sum coef * subscript[dim] + form(shared loop variables) >= 0.
struct RegionConstraint {
  std::vector<std::pair<std::size_t, std::int64_t>> dims;
  LinearForm form;
};
// All elements that satisfy every constraint are written. Exact for box-shaped images of mixed-radix forms.
struct Region {
  const Access* write = nullptr;
  std::vector<RegionConstraint> constraints;
  std::vector<std::pair<std::string, ExprPtr>> atoms;   // names in forms that stand for // and % of shared variables
};

// Iterations of the write that count, relative to the read's: the outermost `equal` shared loops at equal
// values, then the next loop earlier (one iteration earlier, or all earlier ones) if asked, the rest free.
struct RegionContext {
  std::size_t equal = 0;
  enum class Step : std::uint8_t { free, previous, all_earlier } step = Step::free;
  std::size_t shared_tests = 0;   // the outermost conditions of both that are one evaluation of one T test
};
// The region, or nullopt where the write is not of a form this test knows (isl decides those).
std::optional<Region> written_region(const Access& write, const RegionContext& context);

// Loops and T tests that the two accesses share (outermost first), and whether a stands before b in the body where they
// part (the same statement: reads before its write).
struct Shared {
  std::size_t loops = 0;
  std::size_t tests = 0;
  bool a_first = false;
};
Shared shared_loops(const Program& program, const Access& a, const Access& b);

}  // namespace cairn
