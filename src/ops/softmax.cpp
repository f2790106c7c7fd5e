// softmax, log_softmax, logsumexp: row maximum, stored exponentials, their sum, then the result.
#include "ops/build.h"
#include "ops/families.h"
#include "ops/reduce.h"
#include "ops/typing.h"

namespace cairn {
namespace {

using namespace build;

// The operand in the dtype of the result, where the operator converts first (softmax with dtype=).
Operand converted(Call& call, const Operand& self) {
  const Dtype to = call.dtype();
  if (self.dtype == to || wide_dtype(self.dtype) == to) return self;
  return call.emit.compute(to, self.shape, [&](const Index& i) { return as_dtype(self.at(i), self.dtype, to); });
}

Result<void> emit_softmax(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const std::size_t axis, call.axis("dim", self.rank()));
  const SoftmaxParts parts = softmax_parts(call.emit, converted(call, self), axis, wide_dtype(call.dtype()));
  return call.finish_compute([&](const Index& i) { return div(parts.shifted.at(i), parts.sum.at(parts.split.outer_of(i))); });
}

Result<void> emit_log_softmax(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const std::size_t axis, call.axis("dim", self.rank()));
  const Operand x = converted(call, self);
  const SoftmaxParts parts = softmax_parts(call.emit, x, axis, wide_dtype(call.dtype()));
  return call.finish_compute([&](const Index& i) {
    const Index outer = parts.split.outer_of(i);
    return sub(sub(x.at(i), parts.maximum.at(outer)), log(parts.sum.at(outer)));
  });
}

// An infinite maximum is not subtracted, so that rows of -inf give -inf and rows with +inf give +inf.
Result<void> emit_logsumexp(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const auto axes, call.axes("dim", self.rank()));
  CAIRN_TRY(const bool keepdim, call.flag("keepdim"));
  const Dtype wide = wide_dtype(call.dtype());
  const AxisSplit split = split_axes(self.shape, axes);
  const auto element = [&](const Index& i) { return as_dtype(self.at(i), self.dtype, wide); };
  const Operand top = reduce_axes(call.emit, UpdateOp::max, wide, split, element);
  const Operand shift = call.emit.compute(wide, split.kept, [&](const Index& i) {
    return select(eq(abs(top.at(i)), real(kInf)), num(0), top.at(i));
  });
  const Operand shifted = call.emit.compute(wide, self.shape, [&](const Index& i) {
    return exp(sub(element(i), shift.at(split.outer_of(i))));
  });
  const Operand sum = reduce_axes(call.emit, UpdateOp::add, wide, split, [&](const Index& i) { return shifted.at(i); });
  const Operand result = call.emit.compute(call.dtype(), split.kept, [&](const Index& i) {
    return add(log(sum.at(i)), shift.at(i));
  });
  return call.finish(keepdim ? keep_axes(result, split) : result);
}

constexpr OpEntry kOps[] = {
    {"aten._log_softmax.default", emit_log_softmax}, {"aten._softmax.default", emit_softmax},
    {"aten.log_softmax.int", emit_log_softmax},      {"aten.logsumexp.default", emit_logsumexp},
    {"aten.softmax.int", emit_softmax},
};

}  // namespace

std::span<const OpEntry> softmax_ops() { return kOps; }

}  // namespace cairn
