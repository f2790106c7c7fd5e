// Comparisons, logical operators, where and masked_fill.
#include "ops/build.h"
#include "ops/families.h"
#include "ops/pair.h"
#include "ir/interp.h"
#include "ops/typing.h"

namespace cairn {
namespace {

using namespace build;

// Both sides in their common dtype; a scalar is rounded to it, as PyTorch compares in that dtype.
template <Op kOp>
Result<void> emit_comparison(Call& call) {
  CAIRN_TRY(const Pair pair, take_pair(call, "self", "other"));
  return call.finish_compute([&](const Index& i) {
    ExprPtr right = pair.right(i);
    if (!pair.b && is_float(pair.work)) right = tidy(round_to(pair.work, pair.scalar.number));
    return binary(kOp, pair.left(i), std::move(right));
  });
}

template <Op kOp>
Result<void> emit_logical(Call& call) {
  CAIRN_TRY(const Pair pair, take_pair(call, "self", "other"));
  return call.finish_compute([&](const Index& i) {
    const ExprPtr a = as_condition(pair.a.broadcast_at(i), pair.a.dtype);
    const ExprPtr b = pair.b ? as_condition(pair.b->broadcast_at(i), pair.b->dtype) : ne(pair.right(i), num(0));
    if (kOp == Op::logical_and) return land(a, b);
    if (kOp == Op::logical_or) return lor(a, b);
    return ne(a, b);
  });
}

// Of bools only, integers besides for xor: LEIR has no other bit operators.
template <Op kOp>
Result<void> emit_bitwise(Call& call) {
  CAIRN_TRY(const Pair pair, take_pair(call, "self", "other"));
  if (pair.work == Dtype::boolean) return emit_logical<kOp>(call);
  if (kOp != Op::ne) return call.error("of integers is not supported, only of bools");
  return call.finish_compute([&](const Index& i) { return binary(Op::bit_xor, pair.left(i), pair.right(i)); });
}

Result<void> emit_where(Call& call) {
  CAIRN_TRY(const Operand condition, call.tensor("condition"));
  CAIRN_TRY(const Pair pair, take_pair(call, "self", "other"));
  const auto shape = broadcast_shapes(condition.shape, call.shape());
  if (!shape || *shape != call.shape()) return call.error("the condition does not broadcast to the result's shape");
  return call.finish_compute([&](const Index& i) {
    return select(as_condition(condition.broadcast_at(i), condition.dtype), pair.left(i), pair.right(i));
  });
}

Result<void> emit_masked_fill(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const Operand mask, call.tensor("mask"));
  const bool tensor = call.node().args.count("value") > 0 && call.has("value") &&
                      call.node().args.find(std::string_view("value"))->second.kind == Arg::Kind::tensor;
  Operand value;
  if (tensor) {
    CAIRN_TRY(value, call.tensor("value"));
    if (value.rank() != 0) return call.error("value has axes, expected rank 0");
  } else {
    CAIRN_TRY(const Scalar scalar, call.scalar("value"));
    if (self.dtype == Dtype::boolean) {
      value = make_constant(self.dtype, {}, eq(num(0), num(scalar.number != 0 ? 0 : 1)));
    } else {
      value = make_constant(self.dtype, {}, scalar_literal(scalar, self.dtype));
    }
  }
  const auto shape = broadcast_shapes(self.shape, mask.shape);
  if (!shape || *shape != call.shape()) return call.error("the mask does not broadcast to the result");
  return call.finish_compute([&](const Index& i) {
    return select(as_condition(mask.broadcast_at(i), mask.dtype), as_dtype(value.at({}), value.dtype, self.dtype),
                  self.broadcast_at(i));
  });
}

constexpr OpEntry kOps[] = {
    {"aten.bitwise_and.Scalar", emit_bitwise<Op::logical_and>},
    {"aten.bitwise_and.Tensor", emit_bitwise<Op::logical_and>},
    {"aten.bitwise_or.Scalar", emit_bitwise<Op::logical_or>},
    {"aten.bitwise_or.Tensor", emit_bitwise<Op::logical_or>},
    {"aten.bitwise_xor.Scalar", emit_bitwise<Op::ne>},
    {"aten.bitwise_xor.Tensor", emit_bitwise<Op::ne>},
    {"aten.eq.Scalar", emit_comparison<Op::eq>},
    {"aten.eq.Tensor", emit_comparison<Op::eq>},
    {"aten.ge.Scalar", emit_comparison<Op::ge>},
    {"aten.ge.Tensor", emit_comparison<Op::ge>},
    {"aten.gt.Scalar", emit_comparison<Op::gt>},
    {"aten.gt.Tensor", emit_comparison<Op::gt>},
    {"aten.le.Scalar", emit_comparison<Op::le>},
    {"aten.le.Tensor", emit_comparison<Op::le>},
    {"aten.logical_and.default", emit_logical<Op::logical_and>},
    {"aten.logical_or.default", emit_logical<Op::logical_or>},
    {"aten.logical_xor.default", emit_logical<Op::ne>},
    {"aten.lt.Scalar", emit_comparison<Op::lt>},
    {"aten.lt.Tensor", emit_comparison<Op::lt>},
    {"aten.masked_fill.Scalar", emit_masked_fill},
    {"aten.masked_fill.Tensor", emit_masked_fill},
    {"aten.ne.Scalar", emit_comparison<Op::ne>},
    {"aten.ne.Tensor", emit_comparison<Op::ne>},
    {"aten.where.self", emit_where},
};

}  // namespace

std::span<const OpEntry> comparison_ops() { return kOps; }

}  // namespace cairn
