// Indices of extremes: the first in logical order among equals, and a NaN wins, the first one. Two self-updates (the
// extreme, then the smallest index that attains it) keep the rule and stay parallel.
#include "ops/build.h"
#include "ops/families.h"
#include "ops/reduce.h"

namespace cairn {
namespace {

using namespace build;

struct Extreme {
  Operand value;
  Operand index;
};

Result<Extreme> find_extreme(Call& call, const Operand& self, const AxisSplit& split, UpdateOp op, bool want_index) {
  std::int64_t count = 1;
  for (std::int64_t extent : split.reduced) count *= extent;
  if (count == 0) return call.error("the maximum or minimum of no elements");
  if (self.dtype == Dtype::boolean) return call.error("of bools is not supported");
  Extreme out;
  out.value = reduce_axes(call.emit, op, self.dtype, split, [&](const Index& i) { return self.at(i); });
  if (!want_index) return out;
  // The position within the reduced axes, row-major.
  out.index = call.emit.reduce(UpdateOp::min, Dtype::i64, split.kept, split.reduced,
                               [&](const Index& outer, const Index& inner) {
    ExprPtr position = num(0);
    for (std::size_t axis = 0; axis < inner.size(); ++axis) {
      if (split.reduced[axis] == 1) continue;
      const bool first = position->op == Op::int_literal;
      position = first ? inner[axis] : add(mul(position, num(split.reduced[axis])), inner[axis]);
    }
    const ExprPtr x = self.at(split.join(outer, inner));
    ExprPtr hit = eq(x, out.value.at(outer));
    if (is_float(self.dtype)) hit = lor(hit, isnan(x));
    return select(hit, position, num(count));
  });
  return out;
}

Result<void> emit_arg(Call& call, UpdateOp op) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const auto axes, call.axes("dim", self.rank()));
  CAIRN_TRY(const bool keepdim, call.flag("keepdim"));
  const AxisSplit split = split_axes(self.shape, axes);
  CAIRN_TRY(const Extreme found, find_extreme(call, self, split, op, true));
  return call.finish(keepdim ? keep_axes(found.index, split) : found.index);
}
Result<void> emit_argmax(Call& call) { return emit_arg(call, UpdateOp::max); }
Result<void> emit_argmin(Call& call) { return emit_arg(call, UpdateOp::min); }

// (values, indices) along one axis.
Result<void> emit_dim(Call& call, UpdateOp op) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const std::size_t axis, call.axis("dim", self.rank()));
  CAIRN_TRY(const bool keepdim, call.flag("keepdim"));
  const AxisSplit split =
      split_axes(self.shape, self.rank() == 0 ? std::vector<std::size_t>{} : std::vector<std::size_t>{axis});
  CAIRN_TRY(const Extreme found, find_extreme(call, self, split, op, call.wanted(1)));
  if (call.wanted(0)) {
    CAIRN_CHECKED(call.finish(keepdim ? keep_axes(found.value, split) : found.value, 0));
  }
  if (!call.wanted(1)) return {};
  return call.finish(keepdim ? keep_axes(found.index, split) : found.index, 1);
}
Result<void> emit_max_dim(Call& call) { return emit_dim(call, UpdateOp::max); }
Result<void> emit_min_dim(Call& call) { return emit_dim(call, UpdateOp::min); }

constexpr OpEntry kOps[] = {
    {"aten.argmax.default", emit_argmax},
    {"aten.argmin.default", emit_argmin},
    {"aten.max.dim", emit_max_dim},
    {"aten.min.dim", emit_min_dim},
};

}  // namespace

std::span<const OpEntry> arg_reduction_ops() { return kOps; }

}  // namespace cairn
