// Sums of products over shared axes, accumulated in f32 where the result is a 16-bit float.
#pragma once
#include "ops/call.h"

namespace cairn {

// The result (dtype, shape) of sum over `reduced` of element(i.., r..); 16-bit floats accumulate in an f32 temporary
// that a nest of its own rounds.
Operand contract(Emitter& emit, Dtype dtype, const Shape& shape, const Shape& reduced,
                 const std::function<ExprPtr(const Index&, const Index&)>& element);
// a @ b by PyTorch's rules for matmul (ranks 1 and up, leading axes broadcast).
Result<Operand> matmul(Call& call, const Operand& a, const Operand& b);
// Swaps the last two axes without storage.
Operand transpose_last(const Operand& a);

}  // namespace cairn
