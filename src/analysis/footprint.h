// Footprints: the box of elements an access touches inside a loop, as a function of the outer loops.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/access.h"
#include "analysis/affine.h"

namespace cairn {

// Per dimension: origin (expression of loops outside) and extent. `exact`: every element of the box is
// touched; `injective`: distinct inner iterations touch distinct elements.
struct BoxDim { ExprPtr origin; std::int64_t extent = 0; };
struct Footprint {
  std::vector<BoxDim> dims;
  bool exact = false;
};
// The union box of the accesses when the loops in `inner` (variables) run over their ranges; nullopt if a
// subscript is not affine in them.
std::optional<Footprint> footprint_of(const Program& program, const std::vector<const Access*>& accesses,
                                      const std::vector<std::string>& inner);

}  // namespace cairn
