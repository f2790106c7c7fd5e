#include "ops/reduce.h"

#include <algorithm>

#include "ops/build.h"
#include "ops/typing.h"

namespace cairn {

using namespace build;

AxisSplit split_axes(const Shape& shape, const std::vector<std::size_t>& axes) {
  AxisSplit out;
  out.axes = axes;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const bool reduced = std::binary_search(axes.begin(), axes.end(), axis);
    (reduced ? out.reduced : out.kept).push_back(shape[axis]);
  }
  return out;
}

Index AxisSplit::join(const Index& outer, const Index& inner) const {
  Index full;
  std::size_t next_outer = 0;
  std::size_t next_inner = 0;
  for (std::size_t axis = 0; axis < outer.size() + inner.size(); ++axis) {
    const bool is_reduced = std::binary_search(axes.begin(), axes.end(), axis);
    full.push_back(is_reduced ? inner[next_inner++] : outer[next_outer++]);
  }
  return full;
}

Index AxisSplit::outer_of(const Index& full) const {
  Index outer;
  for (std::size_t axis = 0; axis < full.size(); ++axis) {
    if (!std::binary_search(axes.begin(), axes.end(), axis)) outer.push_back(full[axis]);
  }
  return outer;
}

Operand reduce_axes(Emitter& emit, UpdateOp op, Dtype dtype, const AxisSplit& split,
                    const std::function<ExprPtr(const Index&)>& element) {
  return emit.reduce(op, dtype, split.kept, split.reduced, [&](const Index& outer, const Index& inner) {
    return element(split.join(outer, inner));
  });
}

Operand keep_axes(const Operand& reduced, const AxisSplit& split) {
  Shape shape;
  Index old;
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < split.kept.size() + split.reduced.size(); ++axis) {
    if (std::binary_search(split.axes.begin(), split.axes.end(), axis)) {
      shape.push_back(1);
    } else {
      old.push_back(placeholder(axis));
      shape.push_back(split.kept[next++]);
    }
  }
  return make_view(reduced, std::move(shape), old);
}

SoftmaxParts softmax_parts(Emitter& emit, const Operand& x, std::size_t axis, Dtype wide) {
  SoftmaxParts out;
  out.split = split_axes(x.shape, x.rank() == 0 ? std::vector<std::size_t>{} : std::vector<std::size_t>{axis});
  out.maximum = reduce_axes(emit, UpdateOp::max, wide, out.split, [&](const Index& i) { return x.at(i); });
  out.shifted = emit.compute(wide, x.shape, [&](const Index& i) {
    return exp(sub(x.at(i), out.maximum.at(out.split.outer_of(i))));
  });
  out.sum = reduce_axes(emit, UpdateOp::add, wide, out.split, [&](const Index& i) { return out.shifted.at(i); });
  return out;
}

Operand mean_axes(Emitter& emit, const Operand& x, const AxisSplit& split, Dtype dtype) {
  const Operand sum = reduce_axes(emit, UpdateOp::add, dtype, split, [&](const Index& i) { return x.at(i); });
  std::int64_t count = 1;
  for (std::int64_t extent : split.reduced) count *= extent;
  return emit.compute(dtype, split.kept, [&](const Index& i) { return div(sum.at(i), num(count)); });
}

Operand squared_deviations(Emitter& emit, const Operand& x, const Operand& mean, const AxisSplit& split, Dtype dtype) {
  return reduce_axes(emit, UpdateOp::add, dtype, split, [&](const Index& i) {
    return pow(sub(x.at(i), mean.at(split.outer_of(i))), num(2));
  });
}

}  // namespace cairn
