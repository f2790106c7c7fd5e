// Footprints: the box of elements an access touches inside a loop, as a function of the outer loops.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/access.h"
#include "analysis/affine.h"

namespace cairn {

// Per dimension: origin (expression of loops outside) and extent.
struct BoxDim { ExprPtr origin; std::int64_t extent = 0; };
struct Footprint {
  std::vector<BoxDim> dims;
  bool exact = false;       // every element of the box is touched (by one of the accesses alone)
};
// The union box of the accesses (of one tensor) when the loops in `inner` (variables) run over their ranges.
// Guards above the accesses are not used to shrink it, and a stride pads it to the box: elements may lie
// outside the tensor or be untouched. nullopt if a subscript mixes inner and outer variables other than by
// sums and quotients, or if two accesses are not a constant apart.
std::optional<Footprint> footprint_of(const Program& program, const std::vector<const Access*>& accesses,
                                      const std::vector<std::string>& inner);
// True if distinct iterations of the loops in `inner`, the others equal, surely touch distinct elements.
bool touches_apart(const Access& access, const std::vector<std::string>& inner);

}  // namespace cairn
