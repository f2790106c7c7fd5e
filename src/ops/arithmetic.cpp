// Operators of two operands with broadcasting, and clamps.
#include "ops/build.h"
#include "ops/families.h"
#include "ops/pair.h"
#include "ops/typing.h"

namespace cairn {
namespace {

using namespace build;

// self + alpha*other; of bools the sum is "or".
Result<void> emit_add_sub(Call& call, bool subtract) {
  CAIRN_TRY(const Pair pair, take_pair(call, "self", "other"));
  Scalar alpha{true, 1, 1};
  if (call.has("alpha")) {
    CAIRN_TRY(alpha, call.scalar("alpha"));
  }
  return call.finish_compute([&](const Index& i) {
    if (pair.work == Dtype::boolean && call.dtype() == Dtype::boolean) return lor(pair.left(i), pair.right(i));
    ExprPtr right = pair.right(i);
    if (alpha.number != 1) right = mul(scalar_literal(alpha, pair.work), right);
    return subtract ? sub(pair.left(i), right) : add(pair.left(i), right);
  });
}
Result<void> emit_add(Call& call) { return emit_add_sub(call, false); }
Result<void> emit_sub(Call& call) { return emit_add_sub(call, true); }
Result<void> emit_rsub(Call& call) {
  CAIRN_TRY(const Pair pair, take_pair(call, "self", "other"));
  CAIRN_TRY(const Scalar alpha, call.scalar("alpha"));
  return call.finish_compute([&](const Index& i) {
    return sub(pair.right(i), alpha.number == 1 ? pair.left(i) : mul(scalar_literal(alpha, pair.work), pair.left(i)));
  });
}

Result<void> emit_mul(Call& call) {
  CAIRN_TRY(const Pair pair, take_pair(call, "self", "other"));
  return call.finish_compute([&](const Index& i) {
    if (call.dtype() == Dtype::boolean) return land(pair.left(i), pair.right(i));
    return mul(pair.left(i), pair.right(i));
  });
}

// True division: integers are converted to the result's dtype first.
Result<void> emit_div(Call& call) {
  CAIRN_TRY(Pair pair, take_pair(call, "self", "other"));
  if (!is_float(pair.work)) pair.work = call.dtype();
  return call.finish_compute([&](const Index& i) { return div(pair.left(i), pair.right(i)); });
}

// Truncation of an integer quotient: the floor plus one where the signs differ and the division is not exact.
ExprPtr int_trunc_div(const ExprPtr& a, const ExprPtr& b) {
  const ExprPtr opposite = lor(land(lt(a, num(0)), gt(b, num(0))), land(gt(a, num(0)), lt(b, num(0))));
  const ExprPtr inexact = ne(binary(Op::mod, a, b), num(0));
  return add(binary(Op::floor_div, a, b), select(land(inexact, opposite), num(1), num(0)));
}

Result<void> emit_div_mode(Call& call) {
  if (!call.has("rounding_mode")) return emit_div(call);
  CAIRN_TRY(const Pair pair, take_pair(call, "self", "other"));
  CAIRN_TRY(const std::size_t mode, call.choice("rounding_mode", {"floor", "trunc"}));
  const bool floats = is_float(pair.work);
  if (mode == 0) {
    return call.finish_compute([&](const Index& i) { return binary(Op::floor_div, pair.left(i), pair.right(i)); });
  }
  return call.finish_compute([&](const Index& i) {
    if (!floats) return int_trunc_div(pair.left(i), pair.right(i));
    const ExprPtr q = div(pair.left(i), pair.right(i));
    return select(lt(q, num(0)), unary(Op::ceil, q), unary(Op::floor, q));
  });
}

Result<void> emit_floor_divide(Call& call) {
  CAIRN_TRY(const Pair pair, take_pair(call, "self", "other"));
  return call.finish_compute([&](const Index& i) { return binary(Op::floor_div, pair.left(i), pair.right(i)); });
}

Result<void> emit_remainder(Call& call) {
  CAIRN_TRY(const Pair pair, take_pair(call, "self", "other"));
  return call.finish_compute([&](const Index& i) { return binary(Op::mod, pair.left(i), pair.right(i)); });
}

// The remainder with the sign of the dividend.
Result<void> emit_fmod(Call& call) {
  CAIRN_TRY(const Pair pair, take_pair(call, "self", "other"));
  return call.finish_compute([&](const Index& i) {
    const ExprPtr r = binary(Op::mod, abs(pair.left(i)), abs(pair.right(i)));
    return select(lt(pair.left(i), num(0)), neg(r), r);
  });
}

// PyTorch's own special exponents keep their own rounding.
ExprPtr power_by_scalar(const ExprPtr& x, double exponent, bool floats) {
  if (exponent == 0) return num(1);
  if (exponent == 1) return x;
  if (exponent == 2) return pow(x, num(2));
  if (exponent == 3) return mul(mul(x, x), x);
  if (floats && exponent == 0.5) return sqrt(x);
  if (floats && exponent == -0.5) return rsqrt(x);
  if (floats && exponent == -1) return div(num(1), x);
  if (floats && exponent == -2) return div(num(1), mul(x, x));
  return pow(x, tidy(exponent));
}

Result<void> emit_pow(Call& call) {
  CAIRN_TRY(const Pair pair, take_pair(call, "self", "exponent"));
  const bool floats = is_float(call.dtype());
  if (!pair.b) {
    if (!floats && pair.scalar.number < 0) return call.error("an integer to a negative power");
    return call.finish_compute(
        [&](const Index& i) { return power_by_scalar(pair.left(i), pair.scalar.number, floats); });
  }
  return call.finish_compute([&](const Index& i) { return pow(pair.left(i), pair.right(i)); });
}

template <Op kOp>
Result<void> emit_extreme(Call& call) {
  CAIRN_TRY(const Pair pair, take_pair(call, "self", "other"));
  return call.finish_compute([&](const Index& i) {
    if (call.dtype() == Dtype::boolean) {
      return binary(kOp == Op::max ? Op::logical_or : Op::logical_and, pair.left(i), pair.right(i));
    }
    return binary(kOp, pair.left(i), pair.right(i));
  });
}

// fmax and fmin: a NaN loses.
template <Op kOp>
Result<void> emit_quiet_extreme(Call& call) {
  CAIRN_TRY(const Pair pair, take_pair(call, "self", "other"));
  return call.finish_compute([&](const Index& i) {
    if (!is_float(pair.work)) return binary(kOp, pair.left(i), pair.right(i));
    return select(isnan(pair.left(i)), pair.right(i),
                  select(isnan(pair.right(i)), pair.left(i), binary(kOp, pair.left(i), pair.right(i))));
  });
}

// Bounds are scalars or tensors, either may be absent; min(max(x, low), high) as PyTorch orders them.
Result<void> emit_clamp(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  struct Bound {
    Op op;
    std::optional<Operand> tensor;
    Scalar scalar;
  };
  std::vector<Bound> bounds;
  for (const auto& [name, op] : {std::pair<const char*, Op>{"min", Op::max}, {"max", Op::min}}) {
    if (!call.has(name)) continue;
    Bound bound{op, {}, {}};
    if (call.node().args.find(std::string_view(name))->second.kind == Arg::Kind::tensor) {
      CAIRN_TRY(bound.tensor, call.tensor(name));
      const auto shape = broadcast_shapes(bound.tensor->shape, call.shape());
      if (!shape || *shape != call.shape()) return call.error("a bound does not broadcast to the result");
    } else {
      CAIRN_TRY(bound.scalar, call.scalar(name));
    }
    bounds.push_back(std::move(bound));
  }
  const Dtype work = call.dtype();
  return call.finish_compute([&](const Index& i) {
    ExprPtr value = as_dtype(self.broadcast_at(i), self.dtype, work);
    for (const Bound& bound : bounds) {
      value = binary(bound.op, value, bound.tensor ? as_dtype(bound.tensor->broadcast_at(i), bound.tensor->dtype, work)
                                                   : scalar_literal(bound.scalar, work));
    }
    return value;
  });
}

// self + value*a*b, self + value*a/b.
template <Op kOp>
Result<void> emit_add_combined(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const Operand a, call.tensor("tensor1"));
  CAIRN_TRY(const Operand b, call.tensor("tensor2"));
  CAIRN_TRY(const Scalar value, call.scalar("value"));
  for (const Operand* one : {&self, &a, &b}) {
    const auto shape = broadcast_shapes(one->shape, call.shape());
    if (!shape || *shape != call.shape()) return call.error("an operand does not broadcast to the result");
  }
  return call.finish_compute([&](const Index& i) {
    ExprPtr left = a.broadcast_at(i);
    if (value.number != 1) left = mul(scalar_literal(value, call.dtype()), left);
    return add(self.broadcast_at(i), binary(kOp, left, b.broadcast_at(i)));
  });
}

// start + weight*(end - start), in PyTorch's two forms.
Result<void> emit_lerp(Call& call) {
  CAIRN_TRY(const Operand start, call.tensor("self"));
  CAIRN_TRY(const Pair pair, take_pair(call, "self", "end"));
  if (!call.has("weight")) return call.error("argument weight is missing");
  const bool tensor_weight = call.node().args.find(std::string_view("weight"))->second.kind == Arg::Kind::tensor;
  Operand weight;
  if (tensor_weight) {
    CAIRN_TRY(weight, call.tensor("weight"));
  } else {
    CAIRN_TRY(const Scalar value, call.scalar("weight"));
    weight = make_constant(start.dtype, {}, scalar_literal(value, start.dtype));
  }
  return call.finish_compute([&](const Index& i) {
    const ExprPtr w = weight.broadcast_at(i);
    const ExprPtr span = sub(pair.right(i), pair.left(i));
    return select(lt(abs(w), real(0.5)), add(pair.left(i), mul(w, span)),
                  sub(pair.right(i), mul(span, sub(num(1), w))));
  });
}

constexpr OpEntry kOps[] = {
    {"aten.add.Scalar", emit_add},
    {"aten.add.Tensor", emit_add},
    {"aten.addcdiv.default", emit_add_combined<Op::div>},
    {"aten.addcmul.default", emit_add_combined<Op::mul>},
    {"aten.clamp.Tensor", emit_clamp},
    {"aten.clamp.default", emit_clamp},
    {"aten.clamp_max.Tensor", emit_clamp},
    {"aten.clamp_max.default", emit_clamp},
    {"aten.clamp_min.Tensor", emit_clamp},
    {"aten.clamp_min.default", emit_clamp},
    {"aten.div.Scalar", emit_div},
    {"aten.div.Scalar_mode", emit_div_mode},
    {"aten.div.Tensor", emit_div},
    {"aten.div.Tensor_mode", emit_div_mode},
    {"aten.floor_divide.default", emit_floor_divide},
    {"aten.fmax.default", emit_quiet_extreme<Op::max>},
    {"aten.fmin.default", emit_quiet_extreme<Op::min>},
    {"aten.fmod.Scalar", emit_fmod},
    {"aten.fmod.Tensor", emit_fmod},
    {"aten.lerp.Scalar", emit_lerp},
    {"aten.lerp.Tensor", emit_lerp},
    {"aten.maximum.default", emit_extreme<Op::max>},
    {"aten.minimum.default", emit_extreme<Op::min>},
    {"aten.mul.Scalar", emit_mul},
    {"aten.mul.Tensor", emit_mul},
    {"aten.pow.Scalar", emit_pow},
    {"aten.pow.Tensor_Scalar", emit_pow},
    {"aten.pow.Tensor_Tensor", emit_pow},
    {"aten.remainder.Scalar", emit_remainder},
    {"aten.remainder.Tensor", emit_remainder},
    {"aten.rsub.Scalar", emit_rsub},
    {"aten.rsub.Tensor", emit_rsub},
    {"aten.sub.Scalar", emit_sub},
    {"aten.sub.Tensor", emit_sub},
};

}  // namespace

std::span<const OpEntry> arithmetic_ops() { return kOps; }

}  // namespace cairn
