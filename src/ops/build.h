// Short builders of expressions for the operator families.
#pragma once
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ir/expr.h"

namespace cairn::build {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

inline ExprPtr num(std::int64_t value) { return make_int(value); }
inline ExprPtr real(double value) { return make_float(value); }
// An integer literal where the value is a small integer (as people write it), else a float literal. Only for
// places where the other operand is a float.
inline ExprPtr tidy(double value) {
  if (std::isfinite(value) && value == std::floor(value) && std::fabs(value) < 1e6 && !std::signbit(value)) {
    return make_int(static_cast<std::int64_t>(value));
  }
  return make_float(value);
}

inline ExprPtr unary(Op op, ExprPtr a) { return make_expr(op, {std::move(a)}); }
inline ExprPtr binary(Op op, ExprPtr a, ExprPtr b) { return make_expr(op, {std::move(a), std::move(b)}); }
inline ExprPtr neg(ExprPtr a) { return unary(Op::neg, std::move(a)); }
inline ExprPtr exp(ExprPtr a) { return unary(Op::exp, std::move(a)); }
inline ExprPtr log(ExprPtr a) { return unary(Op::log, std::move(a)); }
inline ExprPtr sqrt(ExprPtr a) { return unary(Op::sqrt, std::move(a)); }
inline ExprPtr rsqrt(ExprPtr a) { return unary(Op::rsqrt, std::move(a)); }
inline ExprPtr abs(ExprPtr a) { return unary(Op::abs, std::move(a)); }
inline ExprPtr tanh(ExprPtr a) { return unary(Op::tanh, std::move(a)); }
inline ExprPtr erf(ExprPtr a) { return unary(Op::erf, std::move(a)); }
inline ExprPtr isnan(ExprPtr a) { return unary(Op::isnan, std::move(a)); }
inline ExprPtr lnot(ExprPtr a) { return unary(Op::logical_not, std::move(a)); }
inline ExprPtr add(ExprPtr a, ExprPtr b) { return binary(Op::add, std::move(a), std::move(b)); }
inline ExprPtr sub(ExprPtr a, ExprPtr b) { return binary(Op::sub, std::move(a), std::move(b)); }
// a + offset as people write it: a, a+2, a-2.
inline ExprPtr shifted(ExprPtr a, std::int64_t offset) {
  if (offset == 0) return a;
  return offset > 0 ? add(std::move(a), num(offset)) : sub(std::move(a), num(-offset));
}
inline ExprPtr mul(ExprPtr a, ExprPtr b) { return binary(Op::mul, std::move(a), std::move(b)); }
inline ExprPtr div(ExprPtr a, ExprPtr b) { return binary(Op::div, std::move(a), std::move(b)); }
inline ExprPtr pow(ExprPtr a, ExprPtr b) { return binary(Op::pow, std::move(a), std::move(b)); }
inline ExprPtr max(ExprPtr a, ExprPtr b) { return binary(Op::max, std::move(a), std::move(b)); }
inline ExprPtr min(ExprPtr a, ExprPtr b) { return binary(Op::min, std::move(a), std::move(b)); }
inline ExprPtr lt(ExprPtr a, ExprPtr b) { return binary(Op::lt, std::move(a), std::move(b)); }
inline ExprPtr le(ExprPtr a, ExprPtr b) { return binary(Op::le, std::move(a), std::move(b)); }
inline ExprPtr gt(ExprPtr a, ExprPtr b) { return binary(Op::gt, std::move(a), std::move(b)); }
inline ExprPtr ge(ExprPtr a, ExprPtr b) { return binary(Op::ge, std::move(a), std::move(b)); }
inline ExprPtr eq(ExprPtr a, ExprPtr b) { return binary(Op::eq, std::move(a), std::move(b)); }
inline ExprPtr ne(ExprPtr a, ExprPtr b) { return binary(Op::ne, std::move(a), std::move(b)); }
inline ExprPtr land(ExprPtr a, ExprPtr b) { return binary(Op::logical_and, std::move(a), std::move(b)); }
inline ExprPtr lor(ExprPtr a, ExprPtr b) { return binary(Op::logical_or, std::move(a), std::move(b)); }
inline ExprPtr select(ExprPtr c, ExprPtr a, ExprPtr b) {
  return make_expr(Op::select, {std::move(c), std::move(a), std::move(b)});
}

}  // namespace cairn::build
