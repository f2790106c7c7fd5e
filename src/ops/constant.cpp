// Constants: literals and index expressions, without storage until something needs them whole.
#include "ir/interp.h"
#include "ops/build.h"
#include "ops/families.h"
#include "ops/typing.h"

namespace cairn {
namespace {

using namespace build;

// A literal of the result's dtype, rounded to it.
ExprPtr literal(const Scalar& value, Dtype dtype) {
  if (dtype == Dtype::boolean) return eq(num(0), num(value.number != 0 ? 0 : 1));
  if (!is_float(dtype)) return num(value.integral ? wrap_integer(dtype, value.integer) : to_integer(dtype, value.number));
  return tidy(round_to(dtype, value.number));
}

Result<void> finish_filled(Call& call, const Scalar& value) {
  return call.finish(make_constant(call.dtype(), call.shape(), literal(value, call.dtype())));
}

Result<void> emit_zeros(Call& call) { return finish_filled(call, {true, 0, 0}); }
Result<void> emit_ones(Call& call) { return finish_filled(call, {true, 1, 1}); }
Result<void> emit_full(Call& call) {
  CAIRN_TRY(const Scalar value, call.scalar("fill_value"));
  return finish_filled(call, value);
}
Result<void> emit_scalar_tensor(Call& call) {
  CAIRN_TRY(const Scalar value, call.scalar("s"));
  return finish_filled(call, value);
}

Result<void> emit_fill(Call& call) {
  const auto found = call.node().args.find(std::string_view("value"));
  if (found == call.node().args.end() || found->second.kind != Arg::Kind::tensor) {
    CAIRN_TRY(const Scalar value, call.scalar("value"));
    return finish_filled(call, value);
  }
  CAIRN_TRY(const Operand value, call.tensor("value"));
  if (value.rank() != 0) return call.error("value has axes, expected rank 0");
  return call.finish(make_constant(call.dtype(), call.shape(), as_dtype(value.at({}), value.dtype, call.dtype())));
}

// start + i*step; the graph states how many.
Result<void> emit_arange(Call& call) {
  Scalar start{true, 0, 0};
  Scalar step{true, 1, 1};
  if (call.has("start")) {
    CAIRN_TRY(start, call.scalar("start"));
  }
  if (call.has("step")) {
    CAIRN_TRY(step, call.scalar("step"));
  }
  if (call.shape().size() != 1) return call.error("the result is not of rank 1");
  const ExprPtr i = call.shape()[0] == 1 ? num(0) : placeholder(0);
  if (start.integral && step.integral && !is_float(call.dtype())) {
    ExprPtr value = step.integer == 1 ? i : mul(i, num(step.integer));
    if (start.integer != 0) value = add(value, num(start.integer));
    return call.finish(make_constant(call.dtype(), call.shape(), value));
  }
  // Stored: each element is rounded once, as PyTorch's is.
  return call.finish_compute([&](const Index& at) {
    return add(tidy(start.number), mul(tidy(step.number), make_cast(call.dtype(), at[0])));
  });
}

constexpr OpEntry kOps[] = {
    {"aten.arange.default", emit_arange},    {"aten.arange.start", emit_arange},
    {"aten.arange.start_step", emit_arange}, {"aten.fill.Scalar", emit_fill},
    {"aten.fill.Tensor", emit_fill},         {"aten.full.default", emit_full},
    {"aten.full_like.default", emit_full},   {"aten.new_full.default", emit_full},
    {"aten.new_ones.default", emit_ones},    {"aten.new_zeros.default", emit_zeros},
    {"aten.ones.default", emit_ones},        {"aten.ones_like.default", emit_ones},
    {"aten.scalar_tensor.default", emit_scalar_tensor},
    {"aten.zeros.default", emit_zeros},      {"aten.zeros_like.default", emit_zeros},
};

}  // namespace

std::span<const OpEntry> constant_ops() { return kOps; }

}  // namespace cairn
