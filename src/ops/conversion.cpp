// Conversions of dtype, copies, and dropout where it is the identity.
#include "ops/build.h"
#include "ops/families.h"
#include "ops/typing.h"

namespace cairn {
namespace {

using namespace build;

// _to_copy, to: the graph states the dtype; the same dtype costs nothing.
Result<void> emit_convert(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  const Dtype to = call.dtype();
  if (self.dtype == to) return call.finish(self);
  return call.finish_compute([&](const Index& i) {
    if (to == Dtype::boolean) return as_condition(self.at(i), self.dtype);
    if (is_float(to) && is_float(self.dtype)) return self.at(i);  // the store rounds
    return as_dtype(self.at(i), self.dtype, to);
  });
}

Result<void> emit_same(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  return call.finish(self);
}

// copy: the values of src, broadcast, in self's dtype.
Result<void> emit_copy(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const Operand source, call.tensor("src"));
  const auto shape = broadcast_shapes(self.shape, source.shape);
  if (!shape || *shape != call.shape()) return call.error("src does not broadcast to self");
  return call.finish_compute([&](const Index& i) { return as_dtype(source.broadcast_at(i), source.dtype, call.dtype()); });
}

Result<void> emit_dropout(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("input"));
  CAIRN_TRY(const double p, call.number("p"));
  const bool given = call.has("train");
  CAIRN_TRY(const bool train, call.flag("train"));
  if (p != 0 && (train || !given)) {
    return call.error("dropout with p > 0 in training mode is random; set p=0 or use evaluation mode");
  }
  if (call.wanted(1)) {
    CAIRN_CHECKED(call.finish(make_constant(Dtype::boolean, self.shape, eq(num(0), num(0))), 1));
  }
  return call.wanted(0) ? call.finish(self) : Result<void>{};
}

constexpr OpEntry kOps[] = {
    {"aten._to_copy.default", emit_convert},
    {"aten.clone.default", emit_same},
    {"aten.contiguous.default", emit_same},
    {"aten.copy.default", emit_copy},
    {"aten.detach.default", emit_same},
    {"aten.dropout.default", emit_dropout},
    {"aten.lift_fresh_copy.default", emit_same},
    {"aten.native_dropout.default", emit_dropout},
    {"aten.to.dtype", emit_convert},
};

}  // namespace

std::span<const OpEntry> conversion_ops() { return kOps; }

}  // namespace cairn
