// Backward slices: which elements of every tensor an output's sampled elements need, so that the interpreter
// can run a large program on a few of them.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/interval.h"

namespace cairn {

// A product set: per dimension sorted disjoint intervals of indices.
using IndexSet = std::vector<Interval>;
using Box = std::vector<IndexSet>;

// Sums and intersections of index sets; more than 16 intervals collapse to their hull.
IndexSet unite(const IndexSet& a, const IndexSet& b);
IndexSet shift_and_clip(const IndexSet& a, std::int64_t by, std::int64_t extent);
bool contains(const IndexSet& a, std::int64_t index);
bool meets(const IndexSet& a, std::int64_t lo, std::int64_t hi);
std::int64_t count_of(const IndexSet& a);

// Calls fn with the row-major offset of every element of a box, in order.
template <class Fn>
void visit_box(const Shape& shape, const Box& box, const Fn& fn, std::size_t d = 0, std::int64_t offset = 0) {
  if (d == shape.size()) {
    fn(offset);
    return;
  }
  for (const Interval& i : box[d]) {
    for (std::int64_t k = i.lo; k <= i.hi; ++k) visit_box(shape, box, fn, d + 1, offset * shape[d] + k);
  }
}

// Sum of coefficient * atom + constant; an atom is a loop variable or a subexpression that is not linear.
struct LinearSubscript {
  struct Term {
    const Expr* atom = nullptr;
    std::int64_t coefficient = 0;
  };
  std::vector<Term> terms;
  std::int64_t constant = 0;
  bool ok = true;   // false on overflow
};
LinearSubscript linear_subscript(const Expr& e);

struct Slice {
  std::map<std::string, Box, std::less<>> wanted;  // tensors missing here are not needed at all
};
// The interpreter takes the promises of storage at their word (verify first): what is in s or l of a block, or
// of an iteration of the outermost P, does not keep that iteration alive.
// What the given elements of outputs need, closed over all equations: every write to a wanted element is kept,
// and every element that a kept write reads is wanted.
Result<Slice> backward_slice(const Program& program, const std::map<std::string, Box, std::less<>>& outputs);

}  // namespace cairn
