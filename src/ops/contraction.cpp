// The matmul family.
#include "ops/contract.h"

#include "ops/build.h"
#include "ops/families.h"
#include "ops/typing.h"

namespace cairn {

using namespace build;

Operand contract(Emitter& emit, Dtype dtype, const Shape& shape, const Shape& reduced,
                 const std::function<ExprPtr(const Index&, const Index&)>& element) {
  const Dtype wide = wide_dtype(dtype);
  const Operand sum = emit.reduce(UpdateOp::add, wide, shape, reduced, element);
  if (wide == dtype) return sum;
  return emit.compute(dtype, shape, [&](const Index& i) { return sum.at(i); });
}

Operand transpose_last(const Operand& a) {
  Index index;
  Shape shape = a.shape;
  for (std::size_t axis = 0; axis < a.rank(); ++axis) index.push_back(placeholder(axis));
  std::swap(index[a.rank() - 1], index[a.rank() - 2]);
  std::swap(shape[a.rank() - 1], shape[a.rank() - 2]);
  return make_view(a, std::move(shape), index);
}

Result<Operand> matmul(Call& call, const Operand& a, const Operand& b) {
  if (a.rank() == 0 || b.rank() == 0) return call.error("an operand has rank 0, expected 1 or more");
  if (a.dtype != b.dtype) return call.error("the operands differ in dtype");
  if (a.dtype == Dtype::boolean) return call.error("bool operands are not supported");
  const std::int64_t inner = a.shape.back();
  if (inner != b.shape[b.rank() == 1 ? 0 : b.rank() - 2]) return call.error("the inner extents differ");
  const auto leading = [](const Operand& x) {
    return x.rank() < 2 ? Shape{} : Shape(x.shape.begin(), x.shape.end() - 2);
  };
  const auto batch = broadcast_shapes(leading(a), leading(b));
  if (!batch) return call.error("the leading extents do not broadcast");
  Shape shape = *batch;
  if (a.rank() > 1) shape.push_back(a.shape[a.rank() - 2]);
  if (b.rank() > 1) shape.push_back(b.shape.back());
  const auto operand_at = [&](const Operand& x, const Index& batch_index, const Index& own) {
    Index index = batch_index;
    index.insert(index.end(), own.begin(), own.end());
    // Only leading axes broadcast; a last axis of extent 1 has subscript 0 anyway.
    return x.broadcast_at(index);
  };
  return contract(call.emit, a.dtype, shape, {inner}, [&](const Index& i, const Index& r) {
    const Index batch_index(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(batch->size()));
    std::size_t next = batch->size();
    const Index left = a.rank() > 1 ? Index{i[next++], r[0]} : Index{r[0]};
    const Index right = b.rank() > 1 ? Index{r[0], i[next]} : Index{r[0]};
    return mul(operand_at(a, a.rank() > 1 ? batch_index : Index{}, left),
               operand_at(b, b.rank() > 1 ? batch_index : Index{}, right));
  });
}

namespace {

Result<void> emit_matmul(Call& call, const char* left, const char* right) {
  CAIRN_TRY(const Operand a, call.tensor(left));
  CAIRN_TRY(const Operand b, call.tensor(right));
  CAIRN_TRY(const Operand product, matmul(call, a, b));
  return call.finish(product);
}
Result<void> emit_mm(Call& call) { return emit_matmul(call, "self", "mat2"); }
Result<void> emit_matmul_op(Call& call) { return emit_matmul(call, "self", "other"); }
Result<void> emit_mv(Call& call) { return emit_matmul(call, "self", "vec"); }
Result<void> emit_dot(Call& call) { return emit_matmul(call, "self", "tensor"); }

// input @ weight^T + bias.
Result<void> emit_linear(Call& call) {
  CAIRN_TRY(const Operand input, call.tensor("input"));
  CAIRN_TRY(const Operand weight, call.tensor("weight"));
  if (weight.rank() > 2 || weight.rank() == 0) return call.error("weight has neither one nor two axes");
  const Operand right = weight.rank() == 2 ? transpose_last(weight) : weight;
  CAIRN_TRY(const Operand product, matmul(call, input, right));
  if (!call.has("bias")) return call.finish(product);
  CAIRN_TRY(const Operand bias, call.tensor("bias"));
  const auto shape = broadcast_shapes(product.shape, bias.shape);
  if (!shape || *shape != product.shape) return call.error("bias does not broadcast to the product");
  return call.finish_compute([&](const Index& i) { return add(product.at(i), bias.broadcast_at(i)); });
}

// beta*self + alpha*(a @ b).
Result<void> emit_add_product(Call& call, const char* left, const char* right) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const Operand a, call.tensor(left));
  CAIRN_TRY(const Operand b, call.tensor(right));
  CAIRN_TRY(const Scalar beta, call.scalar("beta"));
  CAIRN_TRY(const Scalar alpha, call.scalar("alpha"));
  CAIRN_TRY(const Operand product, matmul(call, a, b));
  const auto shape = broadcast_shapes(product.shape, self.shape);
  if (!shape || *shape != product.shape) return call.error("self does not broadcast to the product");
  return call.finish_compute([&](const Index& i) {
    ExprPtr value = product.at(i);
    if (alpha.number != 1) value = mul(value, scalar_literal(alpha, self.dtype));
    if (beta.number == 0) return value;  // NaN in self does not spread then
    ExprPtr start = self.broadcast_at(i);
    if (beta.number != 1) start = mul(start, scalar_literal(beta, self.dtype));
    return add(value, start);
  });
}
Result<void> emit_addmm(Call& call) { return emit_add_product(call, "mat1", "mat2"); }
Result<void> emit_baddbmm(Call& call) { return emit_add_product(call, "batch1", "batch2"); }
Result<void> emit_addmv(Call& call) { return emit_add_product(call, "mat", "vec"); }

constexpr OpEntry kOps[] = {
    {"aten.addmm.default", emit_addmm},   {"aten.addmv.default", emit_addmv}, {"aten.baddbmm.default", emit_baddbmm},
    {"aten.bmm.default", emit_mm},        {"aten.dot.default", emit_dot},     {"aten.linear.default", emit_linear},
    {"aten.matmul.default", emit_matmul_op}, {"aten.mm.default", emit_mm},    {"aten.mv.default", emit_mv},
};

}  // namespace

std::span<const OpEntry> contraction_ops() { return kOps; }

}  // namespace cairn
