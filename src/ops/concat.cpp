// cat, stack, split, chunk, unbind, repeat, padding by constants, rolls, triangles.
#include <algorithm>

#include "ops/build.h"
#include "ops/families.h"
#include "ops/typing.h"
#include "ops/view.h"

namespace cairn {
namespace {

using namespace build;

constexpr std::int64_t kLargestPad = std::int64_t{1} << 40;

// One nest an operand, writing disjoint parts of one tensor.
Result<void> join_along(Call& call, const std::vector<Operand>& parts, std::size_t axis) {
  const Shape& shape = call.shape();
  const Operand result = call.emit.allocate(call.dtype(), shape);
  std::int64_t offset = 0;
  for (const Operand& part : parts) {
    // PyTorch lets an empty rank-1 tensor join anything.
    if (part.rank() != shape.size() && part.shape == Shape{0}) continue;
    if (part.rank() != shape.size()) return call.error("the operands differ in rank");
    for (std::size_t k = 0; k < shape.size(); ++k) {
      if (k != axis && part.shape[k] != shape[k]) return call.error("the operands differ in shape off the axis");
    }
    call.emit.assign(result, part.shape, [&](const Index& i) {
      Index target = i;
      if (part.shape[axis] == 1) {
        target[axis] = num(offset);
      } else if (offset != 0) {
        target[axis] = add(target[axis], num(offset));
      }
      return std::make_pair(target, as_dtype(part.at(i), part.dtype, call.dtype()));
    });
    offset += part.shape[axis];
  }
  if (offset != shape[axis]) return call.error("the operands' extents do not add up to the result's");
  return call.finish(result);
}

Result<void> emit_cat(Call& call) {
  CAIRN_TRY(const auto parts, call.tensors("tensors"));
  if (call.shape().empty()) return call.error("the result has rank 0");
  CAIRN_TRY(const std::size_t axis, call.axis("dim", call.shape().size()));
  return join_along(call, parts, axis);
}

Result<void> emit_stack(Call& call) {
  CAIRN_TRY(auto parts, call.tensors("tensors"));
  if (call.shape().empty()) return call.error("the result has rank 0");
  CAIRN_TRY(const std::size_t axis, call.axis("dim", call.shape().size()));
  for (Operand& part : parts) {
    if (part.rank() + 1 != call.shape().size()) return call.error("the operands differ in rank");
    Shape shape = part.shape;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    part = reshape(call.emit, part, shape);
  }
  return join_along(call, parts, axis);
}

// The graph states every part's shape, so all forms of split are slices one after another.
Result<void> emit_split(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const std::size_t axis, call.axis("dim", self.rank()));
  if (self.rank() == 0) return call.error("a split of rank 0");
  std::vector<std::int64_t> extents(call.result_count(), 0);
  if (call.has("split_sizes")) {
    CAIRN_TRY(extents, call.integers("split_sizes"));
  } else {
    const bool chunks = call.has("chunks");
    CAIRN_TRY(const std::int64_t count, call.integer(chunks ? "chunks" : "split_size"));
    if (count < 1) return call.error("the number or size of parts is below 1");
    const std::int64_t whole = std::max<std::int64_t>(self.shape[axis], 1);
    const std::int64_t size = chunks ? (whole - 1) / count + 1 : std::min(count, whole);
    for (std::size_t k = 0; k < extents.size(); ++k) {
      const std::int64_t start = static_cast<std::int64_t>(k) * size;
      extents[k] = std::clamp(self.shape[axis] - start, std::int64_t{0}, size);
    }
  }
  if (extents.size() != call.result_count()) return call.error("the number of parts is not the number of results");
  std::int64_t start = 0;
  for (std::size_t k = 0; k < extents.size(); ++k) {
    if (extents[k] < 0 || extents[k] > self.shape[axis] - start) return call.error("a part is out of range");
    if (call.wanted(k)) {
      CAIRN_CHECKED(call.finish(slice_axis(self, axis, start, 1, extents[k]), k));
    }
    start += extents[k];
  }
  return {};
}

Result<void> emit_unbind(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const std::size_t axis, call.axis("dim", self.rank()));
  if (self.rank() == 0) return call.error("rank 0");
  if (call.result_count() != static_cast<std::size_t>(self.shape[axis])) return call.error("the number of results is off");
  for (std::size_t k = 0; k < call.result_count(); ++k) {
    if (!call.wanted(k)) continue;
    CAIRN_CHECKED(call.finish(select_axis(self, axis, num(static_cast<std::int64_t>(k))), k));
  }
  return {};
}

Result<void> emit_repeat(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  const Shape& shape = call.shape();
  if (shape.size() < self.rank()) return call.error("the result has fewer axes than the operand");
  const std::size_t lead = shape.size() - self.rank();
  for (std::size_t axis = 0; axis < self.rank(); ++axis) {
    const std::int64_t own = self.shape[axis];
    if (own == 0 ? shape[lead + axis] != 0 : shape[lead + axis] % own != 0) return call.error("repeats do not fit");
  }
  return call.finish_compute([&](const Index& i) {
    Index own;
    for (std::size_t axis = 0; axis < self.rank(); ++axis) {
      const std::int64_t extent = self.shape[axis];
      if (extent == 1) {
        own.push_back(num(0));
      } else {
        own.push_back(extent == shape[lead + axis] ? i[lead + axis] : binary(Op::mod, i[lead + axis], num(extent)));
      }
    }
    return self.at(own);
  });
}

Result<void> emit_roll(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const auto shifts, call.integers("shifts"));
  CAIRN_TRY(const auto axes, call.integers("dims"));
  if (axes.empty() || shifts.size() != axes.size()) return call.error("one shift an axis is expected");
  std::vector<std::int64_t> shift(self.rank(), 0);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    CAIRN_TRY(const std::size_t axis, call.check_axis(axes[k], self.rank()));
    if (self.rank() > 0 && self.shape[axis] > 0) shift[axis] += shifts[k] % self.shape[axis];
  }
  return call.finish_compute([&](const Index& i) {
    Index own = i;
    for (std::size_t axis = 0; axis < self.rank(); ++axis) {
      const std::int64_t extent = self.shape[axis];
      const std::int64_t back = extent == 0 ? 0 : ((-shift[axis] % extent) + extent) % extent;
      if (back != 0) own[axis] = binary(Op::mod, add(i[axis], num(back)), num(extent));
    }
    return self.at(own);
  });
}

// pad holds (before, after) from the last axis on; negative amounts crop.
Result<void> emit_pad(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const auto pad, call.integers("pad"));
  Scalar value{true, 0, 0};
  if (call.has("value")) {
    CAIRN_TRY(value, call.scalar("value"));
  }
  if (pad.size() % 2 != 0 || pad.size() / 2 > self.rank()) return call.error("pad has a wrong number of entries");
  std::vector<std::int64_t> before(self.rank(), 0);
  std::vector<std::int64_t> after(self.rank(), 0);
  for (std::size_t k = 0; k < pad.size() / 2; ++k) {
    before[self.rank() - 1 - k] = pad[2 * k];
    after[self.rank() - 1 - k] = pad[2 * k + 1];
  }
  if (call.shape().size() != self.rank()) return call.error("the rank changes");
  for (std::size_t axis = 0; axis < self.rank(); ++axis) {
    if (before[axis] > kLargestPad || after[axis] > kLargestPad) return call.error("pad is too large");
    if (call.shape()[axis] != self.shape[axis] + before[axis] + after[axis]) return call.error("pad does not fit");
  }
  const ExprPtr fill = self.dtype == Dtype::boolean ? eq(num(0), num(value.number != 0 ? 0 : 1))
                                                    : scalar_literal(value, self.dtype);
  return call.finish_compute([&](const Index& i) {
    Index own = i;
    ExprPtr inside;
    const auto require = [&](ExprPtr condition) { inside = inside == nullptr ? condition : land(inside, condition); };
    for (std::size_t axis = 0; axis < self.rank(); ++axis) {
      own[axis] = shifted(i[axis], -before[axis]);
      if (before[axis] > 0) require(ge(i[axis], num(before[axis])));
      if (after[axis] > 0) require(lt(i[axis], num(before[axis] + self.shape[axis])));
    }
    return inside == nullptr ? self.at(own) : select(inside, self.at(own), fill);
  });
}

template <Op kOp>
Result<void> emit_triangle(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const std::int64_t diagonal, call.integer("diagonal"));
  if (self.rank() < 2) return call.error("the operand has fewer than two axes");
  const ExprPtr zero = self.dtype == Dtype::boolean ? eq(num(0), num(1)) : num(0);
  return call.finish_compute([&](const Index& i) {
    const ExprPtr row = i[i.size() - 2];
    return select(binary(kOp, i.back(), shifted(row, diagonal)), self.at(i), zero);
  });
}

constexpr OpEntry kOps[] = {
    {"aten.cat.default", emit_cat},
    {"aten.chunk.default", emit_split},
    {"aten.constant_pad_nd.default", emit_pad},
    {"aten.repeat.default", emit_repeat},
    {"aten.roll.default", emit_roll},
    {"aten.split.Tensor", emit_split},
    {"aten.split_with_sizes.default", emit_split},
    {"aten.stack.default", emit_stack},
    {"aten.tril.default", emit_triangle<Op::le>},
    {"aten.triu.default", emit_triangle<Op::ge>},
    {"aten.unbind.int", emit_unbind},
};

}  // namespace

std::span<const OpEntry> concat_ops() { return kOps; }

}  // namespace cairn
