// PyTorch's dtype rules that the emitters need.
#pragma once
#include "ops/call.h"

namespace cairn {

// f32 for f16 and bf16, else the dtype itself: where sums and intermediate results are kept.
Dtype wide_dtype(Dtype dtype);
// The dtype that two tensors are converted to before an operator meets them (ranks decide between a tensor and a
// rank-0 tensor of the same category).
Dtype promote(const Operand& a, const Operand& b);
// a and a Scalar.
Dtype promote(const Operand& a, const Scalar& b);
// value (of dtype from) as an operand of an operator that works in dtype to: a conversion is written only where
// LEIR's own rule would not round as PyTorch does.
ExprPtr as_dtype(ExprPtr value, Dtype from, Dtype to);
// A scalar as a literal for an operator that works in dtype to.
ExprPtr scalar_literal(const Scalar& value, Dtype to);
// value (of dtype from) as a condition.
ExprPtr as_condition(ExprPtr value, Dtype from);

}  // namespace cairn
