// Views: index maps without storage, and the one case that copies.
#pragma once
#include "ops/call.h"

namespace cairn {

// The same elements in row-major order under another shape. Splitting an axis is an index map; joining axes copies
// into a fresh tensor by a nest over the old axes, so that every subscript stays affine.
Operand reshape(Emitter& emit, const Operand& source, const Shape& shape);
// Axis `axis` from start by step, `extent` elements.
Operand slice_axis(const Operand& source, std::size_t axis, std::int64_t start, std::int64_t step,
                   std::int64_t extent);
// Without the axis, at one position of it.
Operand select_axis(const Operand& source, std::size_t axis, ExprPtr position);

}  // namespace cairn
