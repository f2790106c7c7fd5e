// Reductions over a set of axes, shared by the families.
#pragma once
#include "ops/call.h"

namespace cairn {

// A tensor seen as kept axes and reduced axes.
struct AxisSplit {
  std::vector<std::size_t> axes;  // reduced, sorted
  Shape kept;
  Shape reduced;

  // The tensor's own subscripts from kept and reduced ones.
  Index join(const Index& outer, const Index& inner) const;
  // The kept ones of a full index.
  Index outer_of(const Index& full) const;
};
AxisSplit split_axes(const Shape& shape, const std::vector<std::size_t>& axes);

// Sum, product, max or min of element(full index) over the axes; the result has the kept shape.
Operand reduce_axes(Emitter& emit, UpdateOp op, Dtype dtype, const AxisSplit& split,
                    const std::function<ExprPtr(const Index&)>& element);
// The same values with the reduced axes back as extent 1 (keepdim).
Operand keep_axes(const Operand& reduced, const AxisSplit& split);
// Row maximum, stored exponentials of (x - maximum) and their sum over one axis; f32 for 16-bit inputs.
struct SoftmaxParts {
  AxisSplit split;
  Operand maximum;  // kept shape
  Operand shifted;  // exponentials, full shape
  Operand sum;      // kept shape
};
SoftmaxParts softmax_parts(Emitter& emit, const Operand& x, std::size_t axis, Dtype wide);
// Mean over the axes: a sum nest and a division nest, in dtype.
Operand mean_axes(Emitter& emit, const Operand& x, const AxisSplit& split, Dtype dtype);
// Sum over the axes of (x - mean)**2, in dtype.
Operand squared_deviations(Emitter& emit, const Operand& x, const Operand& mean, const AxisSplit& split, Dtype dtype);

}  // namespace cairn
