// Two operands brought to one dtype, as PyTorch's binary operators take them.
#pragma once
#include <optional>

#include "ops/call.h"

namespace cairn {

// `a` is a tensor (or a scalar first operand), `b` a tensor or the scalar.
struct Pair {
  Operand a;
  std::optional<Operand> b;
  Scalar scalar;
  Dtype work = Dtype::f32;  // what PyTorch converts both to

  ExprPtr left(const Index& i) const;
  ExprPtr right(const Index& i) const;
};

// The arguments of those names; refuses shapes that do not broadcast to the result's.
Result<Pair> take_pair(Call& call, const char* left, const char* right);

}  // namespace cairn
