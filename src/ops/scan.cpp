// Running sums and products, as scans that the verifier recognises.
#include "ops/build.h"
#include "ops/families.h"
#include "ops/typing.h"

namespace cairn {
namespace {

using namespace build;

// X_{..,i,..} = if_then_else(i>0, X_{..,i-1,..}, neutral) op element; 16-bit floats carry in f32. The scanned axis is
// the innermost loop of its nest only if it is the last axis: order of the others does not matter.
Result<void> emit_scan(Call& call, Op op, std::int64_t neutral) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const std::size_t axis, call.axis("dim", self.rank()));
  const Dtype wide = wide_dtype(call.dtype());
  if (self.rank() == 0 || self.shape[axis] <= 1) {
    return call.finish_compute([&](const Index& i) { return as_dtype(self.at(i), self.dtype, call.dtype()); });
  }
  const Operand carried = call.emit.allocate(wide, self.shape);
  call.emit.assign(carried, self.shape, [&](const Index& i) {
    Index before = i;
    before[axis] = sub(i[axis], num(1));
    const ExprPtr last = select(gt(i[axis], num(0)), carried.at(before), num(neutral));
    return std::make_pair(i, binary(op, last, as_dtype(self.at(i), self.dtype, wide)));
  });
  if (wide == call.dtype()) return call.finish(carried);
  return call.finish_compute([&](const Index& i) { return carried.at(i); });
}
Result<void> emit_cumsum(Call& call) { return emit_scan(call, Op::add, 0); }
Result<void> emit_cumprod(Call& call) { return emit_scan(call, Op::mul, 1); }

constexpr OpEntry kOps[] = {
    {"aten.cumprod.default", emit_cumprod},
    {"aten.cumsum.default", emit_cumsum},
};

}  // namespace

std::span<const OpEntry> scan_ops() { return kOps; }

}  // namespace cairn
