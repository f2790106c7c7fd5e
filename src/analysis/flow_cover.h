// Is a read covered by writes before it? Box regions, then isl (internal to the flow analysis).
#pragma once
#include <string>
#include <vector>

#include "analysis/access.h"
#include "analysis/dependence.h"
#include "analysis/flow_region.h"

namespace cairn {

// Which writes count: those that share at least `equal_loops` loops at equal values with the read.
struct CoverQuestion {
  const Access* read = nullptr;
  std::vector<const Access*> writes;    // of the same tensor
  std::size_t equal_loops = 0;
  ExprPtr extra;                        // a condition assumed to hold for the read's iterations, or null
  bool extra_holds = true;
  std::vector<std::size_t> counts{};    // where loops stand for others (flow_split.cpp): loops for the first k; else empty
};
// yes: every iteration of the read finds its element written before; unknown otherwise.
Answer covered_by_regions(const Program& program, const CoverQuestion& question);
// The same with every loop that is only met as v//c and v%c (c divides its extent) split in two.
Answer covered_by_split_regions(const Program& program, const CoverQuestion& question);
// Does one iteration of `write` in the context, a function of the read's, write the element wherever the read
// is made? Found by matching subscripts.
bool covered_by_witness(const Access& write, const RegionContext& context, const CoverQuestion& question);
// yes or no, exactly, where everything is quasi-affine (writes under other conditions do not count, which
// makes a "no" unknown); `example` gets the read's loop values where it is not covered.
Answer covered_by_isl(const Program& program, const CoverQuestion& question, std::vector<std::int64_t>* example);
// Could a write of `write` precede the read's iteration and touch its element?
Answer may_precede(const Program& program, const Access& write, const Access& read, const ExprPtr& extra);

}  // namespace cairn
