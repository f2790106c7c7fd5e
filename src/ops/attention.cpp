// scaled_dot_product_attention, spelled out: scores, scale and mask, softmax, weighted sum.
#include "ops/build.h"
#include "ops/contract.h"
#include "ops/families.h"
#include "ops/reduce.h"
#include "ops/typing.h"

namespace cairn {
namespace {

using namespace build;

// Repeats each head of k and v for the group of query heads that shares it.
Operand share_heads(const Operand& x, std::int64_t heads) {
  const std::size_t axis = x.rank() - 3;
  const std::int64_t own = x.shape[axis];
  if (own == heads || own == 0) return x;
  Shape shape = x.shape;
  shape[axis] = heads;
  Index old;
  for (std::size_t k = 0; k < x.rank(); ++k) old.push_back(placeholder(k));
  old[axis] = own == 1 ? num(0) : binary(Op::floor_div, placeholder(axis), num(heads / own));
  return make_view(x, std::move(shape), old);
}

// A row whose scores are all -inf gives 0, as the library operator does, where a mask can make one.
Result<void> emit_attention(Call& call) {
  CAIRN_TRY(const Operand query, call.tensor("query"));
  CAIRN_TRY(Operand key, call.tensor("key"));
  CAIRN_TRY(Operand value, call.tensor("value"));
  CAIRN_TRY(const bool causal, call.flag("is_causal"));
  CAIRN_TRY(const bool grouped, call.flag("enable_gqa"));
  if (call.has("dropout_p")) {
    CAIRN_TRY(const double p, call.number("dropout_p"));
    if (p != 0) return call.error("dropout_p above 0 is random");
  }
  if (query.rank() < 2 || key.rank() < 2 || value.rank() < 2) return call.error("an operand has fewer than two axes");
  if (query.shape.back() == 0) return call.error("the head size is 0");
  if (grouped) {
    if (query.rank() < 3 || key.rank() < 3 || value.rank() < 3) return call.error("grouped heads need three axes");
    const std::int64_t heads = query.shape[query.rank() - 3];
    for (const Operand* x : {&key, &value}) {
      const std::int64_t own = x->shape[x->rank() - 3];
      if (own == 0 || heads % own != 0) return call.error("the heads do not divide");
    }
    key = share_heads(key, heads);
    value = share_heads(value, heads);
  }
  double scale = 1 / std::sqrt(static_cast<double>(query.shape.back()));
  if (call.has("scale")) {
    CAIRN_TRY(scale, call.number("scale"));
  }
  std::optional<Operand> mask;
  if (call.has("attn_mask")) {
    CAIRN_TRY(mask, call.tensor("attn_mask"));
  }
  const Dtype wide = wide_dtype(query.dtype);
  Operand wide_query = query;
  Operand wide_key = transpose_last(key);
  wide_query.dtype = wide_key.dtype = wide;  // the scores are kept in f32 for 16-bit inputs
  CAIRN_TRY(const Operand scores, matmul(call, wide_query, wide_key));
  if (mask) {
    const auto shape = broadcast_shapes(scores.shape, mask->shape);
    if (!shape || *shape != scores.shape) return call.error("attn_mask does not broadcast to the scores");
  }
  const Operand scaled = call.emit.compute(wide, scores.shape, [&](const Index& i) {
    ExprPtr x = mul(scores.at(i), real(scale));
    if (mask && mask->dtype == Dtype::boolean) x = select(mask->broadcast_at(i), x, real(-kInf));
    if (mask && mask->dtype != Dtype::boolean) x = add(x, mask->broadcast_at(i));
    if (causal) x = select(le(i.back(), i[i.size() - 2]), x, real(-kInf));
    return x;
  });
  const SoftmaxParts parts = softmax_parts(call.emit, scaled, scaled.rank() - 1, wide);
  Operand weights = call.emit.compute(wide, scaled.shape, [&](const Index& i) {
    const Index outer = parts.split.outer_of(i);
    const ExprPtr weight = div(parts.shifted.at(i), parts.sum.at(outer));
    return mask ? select(eq(parts.maximum.at(outer), real(-kInf)), num(0), weight) : weight;
  });
  Operand wide_value = value;
  wide_value.dtype = wide;
  CAIRN_TRY(const Operand result, matmul(call, weights, wide_value));
  if (result.dtype == call.dtype()) return call.finish(result);
  if (result.shape != call.shape()) return call.finish(result);  // refuses with both shapes
  return call.finish_compute([&](const Index& i) { return result.at(i); });
}

constexpr OpEntry kOps[] = {
    {"aten.scaled_dot_product_attention.default", emit_attention},
};

}  // namespace

std::span<const OpEntry> attention_ops() { return kOps; }

}  // namespace cairn
