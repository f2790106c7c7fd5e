// Functions of one operand.
#include "ops/build.h"
#include "ops/families.h"
#include "ops/typing.h"

namespace cairn {
namespace {

using namespace build;

// The operand's element in the compute type of the result (integers become floats where PyTorch makes them so).
template <ExprPtr (*kFunction)(ExprPtr)>
Result<void> emit_unary(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  const Dtype work = is_float(call.dtype()) ? call.dtype() : self.dtype;
  return call.finish_compute([&](const Index& i) { return kFunction(as_dtype(self.at(i), self.dtype, work)); });
}

ExprPtr exp2(ExprPtr x) { return pow(num(2), x); }
ExprPtr log2(ExprPtr x) { return mul(log(x), real(1.4426950408889634)); }
ExprPtr log10(ExprPtr x) { return mul(log(x), real(0.4342944819032518)); }
// log(1+x) by Kahan: the rounding of 1+x cancels in the quotient.
ExprPtr log1p(ExprPtr x) {
  const ExprPtr u = add(num(1), x);
  const ExprPtr small = lor(eq(u, num(1)), eq(x, real(kInf)));
  return select(small, x, div(mul(log(u), x), sub(u, num(1))));
}
// exp(x)-1 without cancellation near 0: 2t/(1-t) with t = tanh(x/2).
ExprPtr expm1(ExprPtr x) {
  const ExprPtr t = tanh(mul(x, real(0.5)));
  return select(gt(x, num(1)), sub(exp(x), num(1)), div(mul(num(2), t), sub(num(1), t)));
}
ExprPtr reciprocal(ExprPtr x) { return div(num(1), x); }
ExprPtr sigmoid(ExprPtr x) { return div(num(1), add(num(1), exp(neg(x)))); }
ExprPtr square(ExprPtr x) { return mul(x, x); }
ExprPtr sin(ExprPtr x) { return unary(Op::sin, x); }
ExprPtr cos(ExprPtr x) { return unary(Op::cos, x); }
ExprPtr tan(ExprPtr x) { return div(sin(x), cos(x)); }
ExprPtr sinh(ExprPtr x) {
  const ExprPtr t = tanh(x);
  return select(gt(abs(x), num(1)), div(sub(exp(x), exp(neg(x))), num(2)), div(t, sqrt(sub(num(1), mul(t, t)))));
}
ExprPtr cosh(ExprPtr x) { return div(add(exp(x), exp(neg(x))), num(2)); }
ExprPtr erfc(ExprPtr x) { return sub(num(1), erf(x)); }
ExprPtr floor_of(ExprPtr x) { return unary(Op::floor, x); }
ExprPtr ceil_of(ExprPtr x) { return unary(Op::ceil, x); }
ExprPtr round_of(ExprPtr x) { return unary(Op::round, x); }
ExprPtr trunc_of(ExprPtr x) { return select(lt(x, num(0)), ceil_of(x), floor_of(x)); }
ExprPtr frac(ExprPtr x) { return sub(x, trunc_of(x)); }
ExprPtr sign_of(ExprPtr x) { return unary(Op::sign, x); }
ExprPtr is_inf(ExprPtr x) { return eq(abs(x), real(kInf)); }
ExprPtr is_finite(ExprPtr x) { return lt(abs(x), real(kInf)); }

// Integer rounding is the identity.
template <ExprPtr (*kFunction)(ExprPtr)>
Result<void> emit_rounding(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  if (!is_float(self.dtype)) return call.finish(self);
  return call.finish_compute([&](const Index& i) { return kFunction(self.at(i)); });
}

// Tests of floats; an integer is always finite.
template <ExprPtr (*kFunction)(ExprPtr), bool kInteger>
Result<void> emit_test(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  if (is_float(self.dtype)) return call.finish_compute([&](const Index& i) { return kFunction(self.at(i)); });
  return call.finish_compute([&](const Index&) { return eq(num(0), num(kInteger ? 0 : 1)); });
}

Result<void> emit_round_decimals(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const std::int64_t decimals, call.integer("decimals"));
  if (!is_float(self.dtype)) return call.finish(self);
  const ExprPtr scale = tidy(std::pow(10.0, static_cast<double>(decimals < 0 ? -decimals : decimals)));
  return call.finish_compute([&](const Index& i) {
    const ExprPtr x = self.at(i);
    return decimals < 0 ? mul(round_of(div(x, scale)), scale) : div(round_of(mul(x, scale)), scale);
  });
}

Result<void> emit_logical_not(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  return call.finish_compute([&](const Index& i) { return lnot(as_condition(self.at(i), self.dtype)); });
}

Result<void> emit_bitwise_not(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  return call.finish_compute([&](const Index& i) {
    return self.dtype == Dtype::boolean ? lnot(self.at(i)) : sub(num(-1), self.at(i));
  });
}

Result<void> emit_logit(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  double eps = -1;
  if (call.has("eps")) {
    CAIRN_TRY(eps, call.number("eps"));
  }
  return call.finish_compute([&](const Index& i) {
    ExprPtr x = self.at(i);
    if (eps >= 0) x = min(max(x, tidy(eps)), tidy(1 - eps));
    return log(div(x, sub(num(1), x)));
  });
}

constexpr OpEntry kOps[] = {
    {"aten.abs.default", emit_unary<build::abs>},
    {"aten.bitwise_not.default", emit_bitwise_not},
    {"aten.ceil.default", emit_rounding<ceil_of>},
    {"aten.cos.default", emit_unary<cos>},
    {"aten.cosh.default", emit_unary<cosh>},
    {"aten.erf.default", emit_unary<build::erf>},
    {"aten.erfc.default", emit_unary<erfc>},
    {"aten.exp.default", emit_unary<build::exp>},
    {"aten.exp2.default", emit_unary<exp2>},
    {"aten.expm1.default", emit_unary<expm1>},
    {"aten.floor.default", emit_rounding<floor_of>},
    {"aten.frac.default", emit_unary<frac>},
    {"aten.isfinite.default", emit_test<is_finite, true>},
    {"aten.isinf.default", emit_test<is_inf, false>},
    {"aten.isnan.default", emit_test<build::isnan, false>},
    {"aten.log.default", emit_unary<build::log>},
    {"aten.log10.default", emit_unary<log10>},
    {"aten.log1p.default", emit_unary<log1p>},
    {"aten.log2.default", emit_unary<log2>},
    {"aten.logical_not.default", emit_logical_not},
    {"aten.logit.default", emit_logit},
    {"aten.neg.default", emit_unary<build::neg>},
    {"aten.reciprocal.default", emit_unary<reciprocal>},
    {"aten.round.decimals", emit_round_decimals},
    {"aten.round.default", emit_rounding<round_of>},
    {"aten.rsqrt.default", emit_unary<build::rsqrt>},
    {"aten.sgn.default", emit_unary<sign_of>},
    {"aten.sigmoid.default", emit_unary<sigmoid>},
    {"aten.sign.default", emit_unary<sign_of>},
    {"aten.sin.default", emit_unary<sin>},
    {"aten.sinh.default", emit_unary<sinh>},
    {"aten.sqrt.default", emit_unary<build::sqrt>},
    {"aten.square.default", emit_unary<square>},
    {"aten.tan.default", emit_unary<tan>},
    {"aten.tanh.default", emit_unary<build::tanh>},
    {"aten.trunc.default", emit_rounding<trunc_of>},
};

}  // namespace

std::span<const OpEntry> pointwise_ops() { return kOps; }

}  // namespace cairn
