// Activation functions.
#include "ops/build.h"
#include "ops/families.h"
#include "ops/typing.h"

namespace cairn {
namespace {

using namespace build;

template <ExprPtr (*kFunction)(ExprPtr)>
Result<void> emit_activation(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  return call.finish_compute([&](const Index& i) { return kFunction(self.at(i)); });
}

ExprPtr relu(ExprPtr x) { return max(x, num(0)); }
ExprPtr relu6(ExprPtr x) { return min(max(x, num(0)), num(6)); }
ExprPtr silu(ExprPtr x) { return div(x, add(num(1), exp(neg(x)))); }
ExprPtr clamp6(ExprPtr x) { return min(max(add(x, num(3)), num(0)), num(6)); }
ExprPtr hardsigmoid(ExprPtr x) { return div(clamp6(x), num(6)); }
ExprPtr hardswish(ExprPtr x) { return div(mul(x, clamp6(x)), num(6)); }

// The rational form of x*tanh(log(1+exp(x))): with e = exp(x) and n = e*(e+2) it is x*n/(n+2), free of
// cancellation; above 20 the factor is 1 in every supported float.
Result<void> emit_mish(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  const Operand e = call.emit.compute(wide_dtype(self.dtype), self.shape,
                                      [&](const Index& i) { return exp(min(self.at(i), num(20))); });
  return call.finish_compute([&](const Index& i) {
    const ExprPtr n = mul(e.at(i), add(e.at(i), num(2)));
    return mul(self.at(i), div(n, add(n, num(2))));
  });
}

Result<void> emit_gelu(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const std::size_t form, call.choice("approximate", {"none", "tanh"}));
  if (form == 0) {
    return call.finish_compute([&](const Index& i) {
      const ExprPtr x = self.at(i);
      return mul(mul(x, real(0.5)), add(num(1), erf(mul(x, real(0.7071067811865476)))));
    });
  }
  return call.finish_compute([&](const Index& i) {
    const ExprPtr x = self.at(i);
    const ExprPtr cube = mul(mul(x, x), x);
    const ExprPtr inner = mul(real(0.7978845608028654), add(x, mul(real(0.044715), cube)));
    return mul(mul(real(0.5), x), add(num(1), tanh(inner)));
  });
}

Result<void> emit_leaky_relu(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const double slope, call.number("negative_slope"));
  return call.finish_compute([&](const Index& i) {
    return select(gt(self.at(i), num(0)), self.at(i), mul(self.at(i), tidy(slope)));
  });
}

// x > 0: x*scale, else alpha*scale*(exp(x*input_scale)-1), the latter as 2t/(1-t) with t = tanh(x*input_scale/2),
// which does not cancel near 0.
Result<void> emit_elu_form(Call& call, double alpha, double scale, double input_scale) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  const auto times = [](ExprPtr x, double factor) { return factor == 1 ? x : mul(x, tidy(factor)); };
  return call.finish_compute([&](const Index& i) {
    const ExprPtr x = self.at(i);
    const ExprPtr t = tanh(times(x, input_scale * 0.5));
    const ExprPtr tail = div(mul(tidy(2 * alpha * scale), t), sub(num(1), t));
    return select(gt(x, num(0)), times(x, scale), tail);
  });
}

Result<void> emit_elu(Call& call) {
  CAIRN_TRY(const double alpha, call.number("alpha"));
  CAIRN_TRY(const double scale, call.number("scale"));
  CAIRN_TRY(const double input_scale, call.number("input_scale"));
  return emit_elu_form(call, alpha, scale, input_scale);
}

Result<void> emit_celu(Call& call) {
  CAIRN_TRY(const double alpha, call.number("alpha"));
  if (alpha == 0) return call.error("alpha is 0");
  return emit_elu_form(call, alpha, 1, 1 / alpha);
}

Result<void> emit_selu(Call& call) {
  return emit_elu_form(call, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1);
}

Result<void> emit_hardtanh(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const Scalar low, call.scalar("min_val"));
  CAIRN_TRY(const Scalar high, call.scalar("max_val"));
  return call.finish_compute([&](const Index& i) {
    return min(max(self.at(i), scalar_literal(low, self.dtype)), scalar_literal(high, self.dtype));
  });
}

// log(1+exp(x*beta))/beta with the exponentials stored and log1p by Kahan; x where x*beta is above the threshold.
Result<void> emit_softplus(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const double beta, call.number("beta"));
  CAIRN_TRY(const double threshold, call.number("threshold"));
  const auto scaled = [&](const Index& i) { return beta == 1 ? self.at(i) : mul(self.at(i), tidy(beta)); };
  const Operand e =
      call.emit.compute(wide_dtype(self.dtype), self.shape, [&](const Index& i) { return exp(scaled(i)); });
  return call.finish_compute([&](const Index& i) {
    const ExprPtr u = add(num(1), e.at(i));
    const ExprPtr log1p = select(eq(u, num(1)), e.at(i), div(mul(log(u), e.at(i)), sub(u, num(1))));
    return select(gt(scaled(i), tidy(threshold)), self.at(i), beta == 1 ? log1p : div(log1p, tidy(beta)));
  });
}

// min(x,0) - log(1+exp(-|x|)).
Result<void> emit_log_sigmoid(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  const Operand e = call.emit.compute(wide_dtype(self.dtype), self.shape,
                                      [&](const Index& i) { return exp(neg(abs(self.at(i)))); });
  return call.finish_compute([&](const Index& i) {
    const ExprPtr u = add(num(1), e.at(i));
    const ExprPtr log1p = select(eq(u, num(1)), e.at(i), div(mul(log(u), e.at(i)), sub(u, num(1))));
    return sub(min(self.at(i), num(0)), log1p);
  });
}

Result<void> emit_threshold(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const Scalar threshold, call.scalar("threshold"));
  CAIRN_TRY(const Scalar value, call.scalar("value"));
  return call.finish_compute([&](const Index& i) {
    return select(le(self.at(i), scalar_literal(threshold, self.dtype)), scalar_literal(value, self.dtype), self.at(i));
  });
}

Result<void> emit_hardshrink(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const double lambda, call.number("lambd"));
  return call.finish_compute([&](const Index& i) {
    const ExprPtr x = self.at(i);
    return select(land(ge(x, tidy(-lambda)), le(x, tidy(lambda))), num(0), x);
  });
}

Result<void> emit_softshrink(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const double lambda, call.number("lambd"));
  return call.finish_compute([&](const Index& i) {
    const ExprPtr x = self.at(i);
    return select(gt(x, tidy(lambda)), sub(x, tidy(lambda)),
                  select(lt(x, tidy(-lambda)), add(x, tidy(lambda)), mul(x, num(0))));
  });
}

// weight has one element, or one a channel (axis 1).
Result<void> emit_prelu(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const Operand weight, call.tensor("weight"));
  if (weight.rank() > 1 && weight.shape != self.shape) return call.error("weight has more than one axis");
  return call.finish_compute([&](const Index& i) {
    Index at;
    if (weight.rank() == 1) at.push_back(weight.shape[0] == 1 || i.size() < 2 ? num(0) : i[1]);
    if (weight.rank() > 1) at = i;
    return select(gt(self.at(i), num(0)), self.at(i), mul(weight.at(at), self.at(i)));
  });
}

constexpr OpEntry kOps[] = {
    {"aten.celu.default", emit_celu},
    {"aten.elu.default", emit_elu},
    {"aten.gelu.default", emit_gelu},
    {"aten.hardshrink.default", emit_hardshrink},
    {"aten.hardsigmoid.default", emit_activation<hardsigmoid>},
    {"aten.hardswish.default", emit_activation<hardswish>},
    {"aten.hardtanh.default", emit_hardtanh},
    {"aten.leaky_relu.default", emit_leaky_relu},
    {"aten.log_sigmoid.default", emit_log_sigmoid},
    {"aten.mish.default", emit_mish},
    {"aten.prelu.default", emit_prelu},
    {"aten.relu.default", emit_activation<relu>},
    {"aten.relu6.default", emit_activation<relu6>},
    {"aten.selu.default", emit_selu},
    {"aten.silu.default", emit_activation<silu>},
    {"aten.softplus.default", emit_softplus},
    {"aten.softshrink.default", emit_softshrink},
    {"aten.threshold.default", emit_threshold},
};

}  // namespace

std::span<const OpEntry> activation_ops() { return kOps; }

}  // namespace cairn
