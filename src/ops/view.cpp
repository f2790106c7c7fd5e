// view, reshape, permute, expand, slice, select, squeeze ...
#include "ops/view.h"

#include <algorithm>

#include "ops/build.h"
#include "ops/families.h"

namespace cairn {

using namespace build;

namespace {

// A run of old axes that a run of new axes covers with the same number of elements.
struct Group {
  std::size_t old_begin, old_end, new_begin, new_end;
};

std::vector<Group> match_axes(const Shape& from, const Shape& to) {
  std::vector<Group> groups;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < from.size() || j < to.size()) {
    Group group{i, i, j, j};
    std::int64_t old_count = i < from.size() ? from[i++] : 1;
    std::int64_t new_count = j < to.size() ? to[j++] : 1;
    while (old_count != new_count) {
      if (old_count < new_count) {
        old_count *= from[i++];
      } else {
        new_count *= to[j++];
      }
    }
    group.old_end = i;
    group.new_end = j;
    groups.push_back(group);
  }
  return groups;
}

// Row-major position of subscripts within the axes [begin, end) of a shape; axes of extent 1 do not count.
ExprPtr join_subscripts(const Shape& shape, std::size_t begin, std::size_t end,
                        const std::function<ExprPtr(std::size_t)>& subscript) {
  ExprPtr position;
  std::int64_t stride = 1;
  for (std::size_t axis = end; axis-- > begin;) {
    if (shape[axis] == 1) continue;
    const ExprPtr part = stride == 1 ? subscript(axis) : mul(subscript(axis), num(stride));
    position = position == nullptr ? part : add(part, position);
    stride *= shape[axis];
  }
  return position == nullptr ? num(0) : position;
}

std::size_t wide_axes(const Shape& shape, std::size_t begin, std::size_t end) {
  std::size_t count = 0;
  for (std::size_t axis = begin; axis < end; ++axis) count += shape[axis] != 1 ? 1u : 0u;
  return count;
}

bool has_no_elements(const Shape& shape) {
  return std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent == 0; });
}

// A view if every group has at most one wide old axis.
std::optional<Operand> split_view(const Operand& source, const Shape& shape, const std::vector<Group>& groups) {
  Index old(source.rank(), num(0));
  for (const Group& group : groups) {
    if (wide_axes(source.shape, group.old_begin, group.old_end) > 1) return std::nullopt;
    for (std::size_t axis = group.old_begin; axis < group.old_end; ++axis) {
      if (source.shape[axis] == 1) continue;
      old[axis] = join_subscripts(shape, group.new_begin, group.new_end, placeholder);
    }
  }
  return make_view(source, shape, old);
}

}  // namespace

Operand reshape(Emitter& emit, const Operand& source, const Shape& shape) {
  if (source.shape == shape) return source;
  if (has_no_elements(shape)) return make_constant(source.dtype, shape, num(0));
  if (source.element->args.empty() && source.element->op != Op::loop_var) return {source.dtype, shape, source.element};
  const std::vector<Group> groups = match_axes(source.shape, shape);
  if (auto view = split_view(source, shape, groups)) return *view;
  // Where groups both join and split, the copy has one axis a group; the new axes then split it.
  Shape joined;
  for (const Group& group : groups) {
    std::int64_t count = 1;
    for (std::size_t axis = group.old_begin; axis < group.old_end; ++axis) count *= source.shape[axis];
    joined.push_back(count);
  }
  const bool only_joins = std::all_of(groups.begin(), groups.end(), [&](const Group& group) {
    return wide_axes(shape, group.new_begin, group.new_end) <= 1 ||
           wide_axes(source.shape, group.old_begin, group.old_end) <= 1;
  });
  const Operand copy = emit.allocate(source.dtype, only_joins ? shape : joined);
  emit.assign(copy, source.shape, [&](const Index& i) {
    Index target;
    for (const Group& group : groups) {
      const ExprPtr at = join_subscripts(source.shape, group.old_begin, group.old_end,
                                         [&](std::size_t axis) { return i[axis]; });
      if (!only_joins) {
        target.push_back(at);
        continue;
      }
      for (std::size_t axis = group.new_begin; axis < group.new_end; ++axis) {
        target.push_back(shape[axis] == 1 ? num(0) : at);
      }
    }
    return std::make_pair(target, source.at(i));
  });
  if (!only_joins) return *split_view(copy, shape, match_axes(joined, shape));
  return copy;
}

Operand slice_axis(const Operand& source, std::size_t axis, std::int64_t start, std::int64_t step,
                   std::int64_t extent) {
  Index old;
  for (std::size_t k = 0; k < source.rank(); ++k) old.push_back(placeholder(k));
  if (step != 1) old[axis] = mul(old[axis], num(step));
  if (start != 0) old[axis] = add(old[axis], num(start));
  if (extent == 1) old[axis] = num(start);
  Shape shape = source.shape;
  shape[axis] = extent;
  return make_view(source, std::move(shape), old);
}

Operand select_axis(const Operand& source, std::size_t axis, ExprPtr position) {
  Index old;
  for (std::size_t k = 0; k + 1 < source.rank(); ++k) old.push_back(placeholder(k));
  old.insert(old.begin() + static_cast<std::ptrdiff_t>(axis), std::move(position));
  Shape shape = source.shape;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return make_view(source, std::move(shape), old);
}

namespace {

// view, reshape, squeeze, unsqueeze, flatten: the graph states the new shape.
Result<void> emit_reshape(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  const auto old_count = element_count(self.shape);
  if (!old_count || old_count != element_count(call.shape())) return call.error("the number of elements changes");
  return call.finish(reshape(call.emit, self, call.shape()));
}

Result<void> emit_view_dtype(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  if (self.dtype != call.dtype()) return call.error("reinterpreting bits is not supported");
  return call.finish(self);
}

Operand permuted(const Operand& self, const std::vector<std::size_t>& order) {
  Index old(self.rank());
  Shape shape(self.rank());
  for (std::size_t axis = 0; axis < order.size(); ++axis) {
    old[order[axis]] = placeholder(axis);
    shape[axis] = self.shape[order[axis]];
  }
  return make_view(self, std::move(shape), old);
}

Result<void> emit_permute(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const auto list, call.integers("dims"));
  std::vector<std::size_t> order;
  for (std::int64_t axis : list) {
    CAIRN_TRY(const std::size_t one, call.check_axis(axis, self.rank()));
    order.push_back(one);
  }
  std::vector<std::size_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t axis = 0; axis < sorted.size(); ++axis) {
    if (sorted[axis] != axis) return call.error("dims is not a permutation");
  }
  if (order.size() != self.rank()) return call.error("dims is not a permutation");
  return call.finish(permuted(self, order));
}

Result<void> emit_transpose(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  if (self.rank() == 0) return call.finish(self);
  CAIRN_TRY(const std::size_t a, call.axis("dim0", self.rank()));
  CAIRN_TRY(const std::size_t b, call.axis("dim1", self.rank()));
  std::vector<std::size_t> order(self.rank());
  for (std::size_t axis = 0; axis < order.size(); ++axis) order[axis] = axis;
  std::swap(order[a], order[b]);
  return call.finish(permuted(self, order));
}

Result<void> emit_t(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  return call.finish(self.rank() == 2 ? permuted(self, {1, 0}) : self);
}

Result<void> emit_expand(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  const auto shape = broadcast_shapes(self.shape, call.shape());
  if (!shape || *shape != call.shape()) return call.error("the operand does not broadcast to the result");
  Index index;
  for (std::size_t axis = 0; axis < call.shape().size(); ++axis) index.push_back(placeholder(axis));
  return call.finish({self.dtype, call.shape(), self.broadcast_at(index)});
}

Result<void> emit_slice(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const std::size_t axis, call.axis("dim", self.rank()));
  if (self.rank() == 0) return call.error("a slice of rank 0");
  const std::int64_t extent = self.shape[axis];
  CAIRN_TRY(const std::int64_t step, call.has("step") ? call.integer("step") : Result<std::int64_t>(std::int64_t{1}));
  if (step < 1) return call.error("step is below 1");
  std::int64_t start = 0;
  std::int64_t end = extent;
  if (call.has("start")) {
    CAIRN_TRY(start, call.integer("start"));
  }
  if (call.has("end")) {
    CAIRN_TRY(end, call.integer("end"));
  }
  const auto bring_in = [&](std::int64_t at) { return std::clamp(at < 0 ? at + extent : at, std::int64_t{0}, extent); };
  start = bring_in(start);
  end = std::max(bring_in(end), start);
  return call.finish(slice_axis(self, axis, start, step, (end - start + step - 1) / step));
}

Result<void> emit_select(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const std::size_t axis, call.axis("dim", self.rank()));
  CAIRN_TRY(const std::int64_t index, call.integer("index"));
  if (self.rank() == 0) return call.error("a selection of rank 0");
  const std::int64_t extent = self.shape[axis];
  if (index < -extent || index >= extent) return call.error("index is out of range");
  return call.finish(select_axis(self, axis, num(index < 0 ? index + extent : index)));
}

Result<void> emit_flip(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const auto list, call.integers("dims"));
  Index old;
  for (std::size_t axis = 0; axis < self.rank(); ++axis) old.push_back(placeholder(axis));
  for (std::int64_t one : list) {
    CAIRN_TRY(const std::size_t axis, call.check_axis(one, self.rank()));
    if (self.rank() > 0) old[axis] = sub(num(self.shape[axis] - 1), placeholder(axis));
  }
  return call.finish(make_view(self, self.shape, old));
}

// The diagonal of two axes becomes the last axis; the graph states its extent.
Result<void> emit_diagonal(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const std::int64_t offset, call.integer("offset"));
  CAIRN_TRY(const std::size_t a, call.axis("dim1", self.rank()));
  CAIRN_TRY(const std::size_t b, call.axis("dim2", self.rank()));
  if (self.rank() < 2 || a == b || call.shape().empty()) return call.error("expected two different axes");
  const std::int64_t row = std::max<std::int64_t>(-offset, 0);
  const std::int64_t column = std::max<std::int64_t>(offset, 0);
  const std::int64_t extent = std::max<std::int64_t>(std::min(self.shape[a] - row, self.shape[b] - column), 0);
  const ExprPtr at = placeholder(self.rank() - 2);
  Index old;
  Shape shape;
  for (std::size_t axis = 0; axis < self.rank(); ++axis) {
    if (axis == a || axis == b) {
      const std::int64_t shift = axis == a ? row : column;
      old.push_back(shift == 0 ? at : add(at, num(shift)));
    } else {
      old.push_back(placeholder(shape.size()));
      shape.push_back(self.shape[axis]);
    }
  }
  shape.push_back(extent);
  return call.finish(make_view(self, std::move(shape), old));
}

constexpr OpEntry kOps[] = {
    {"aten._unsafe_view.default", emit_reshape},
    {"aten.alias.default", emit_reshape},
    {"aten.diagonal.default", emit_diagonal},
    {"aten.expand.default", emit_expand},
    {"aten.flatten.using_ints", emit_reshape},
    {"aten.flip.default", emit_flip},
    {"aten.permute.default", emit_permute},
    {"aten.reshape.default", emit_reshape},
    {"aten.select.int", emit_select},
    {"aten.slice.Tensor", emit_slice},
    {"aten.squeeze.default", emit_reshape},
    {"aten.squeeze.dim", emit_reshape},
    {"aten.squeeze.dims", emit_reshape},
    {"aten.t.default", emit_t},
    {"aten.transpose.int", emit_transpose},
    {"aten.unsqueeze.default", emit_reshape},
    {"aten.view.default", emit_reshape},
    {"aten.view.dtype", emit_view_dtype},
};

}  // namespace

std::span<const OpEntry> view_ops() { return kOps; }

}  // namespace cairn
