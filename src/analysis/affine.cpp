#include "analysis/affine.h"

#include <algorithm>
#include <cstdlib>


namespace cairn {

namespace {
std::optional<LinearForm> combine(const LinearForm& x, const LinearForm& y, std::int64_t b) {
  LinearForm out;
  std::int64_t product = 0;
  if (__builtin_mul_overflow(y.constant, b, &product) || __builtin_add_overflow(x.constant, product, &out.constant)) {
    return std::nullopt;
  }
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < x.terms.size() || j < y.terms.size()) {
    const bool take_x = j == y.terms.size() || (i < x.terms.size() && x.terms[i].first <= y.terms[j].first);
    const bool take_y = i == x.terms.size() || (j < y.terms.size() && y.terms[j].first <= x.terms[i].first);
    const std::string& name = take_x ? x.terms[i].first : y.terms[j].first;
    std::int64_t coef = take_x ? x.terms[i].second : 0;
    if (take_y && (__builtin_mul_overflow(y.terms[j].second, b, &product) ||
                   __builtin_add_overflow(coef, product, &coef))) {
      return std::nullopt;
    }
    if (coef != 0) out.terms.emplace_back(name, coef);
    i += take_x ? 1 : 0;
    j += take_y ? 1 : 0;
  }
  return out;
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

// x // c and x % c without ranges: possible where c divides every coefficient.
std::optional<LinearForm> divide(const LinearForm& x, std::int64_t c, bool remainder) {
  if (c == 0 || c == -1) return std::nullopt;
  const auto divisible = [c](const auto& term) { return term.second % c == 0; };
  if (!std::all_of(x.terms.begin(), x.terms.end(), divisible)) return std::nullopt;
  LinearForm out;
  const std::int64_t quotient = floor_quotient(x.constant, c);
  if (remainder) {
    out.constant = x.constant - quotient * c;
    return out;
  }
  out.constant = quotient;
  for (const auto& [name, coef] : x.terms) out.terms.emplace_back(name, coef / c);
  return out;
}
}  // namespace

std::int64_t LinearForm::coefficient(std::string_view var) const {
  for (const auto& [name, coef] : terms) {
    if (name == var) return coef;
  }
  return 0;
}

std::optional<LinearForm> linear_form(const Expr& expr) {
  const auto arg = [&expr](std::size_t i) { return linear_form(*expr.args[i]); };
  switch (expr.op) {
    case Op::int_literal: return LinearForm{{}, expr.int_value};
    case Op::loop_var: return LinearForm{{{expr.name, 1}}, 0};
    case Op::cast: return expr.dtype == Dtype::i64 ? arg(0) : std::nullopt;
    case Op::neg: {
      const auto x = arg(0);
      return x ? combine({}, *x, -1) : std::nullopt;
    }
    case Op::add:
    case Op::sub: {
      const auto x = arg(0);
      if (!x) return std::nullopt;
      const auto y = arg(1);
      return y ? combine(*x, *y, expr.op == Op::add ? 1 : -1) : std::nullopt;
    }
    case Op::mul: {
      const auto x = arg(0);
      if (!x) return std::nullopt;
      const auto y = arg(1);
      if (!y) return std::nullopt;
      if (y->terms.empty()) return combine({}, *x, y->constant);
      return x->terms.empty() ? combine({}, *y, x->constant) : std::nullopt;
    }
    case Op::floor_div:
    case Op::mod: {
      const auto y = arg(1);
      if (!y || !y->terms.empty()) return std::nullopt;
      const auto x = arg(0);
      return x ? divide(*x, y->constant, expr.op == Op::mod) : std::nullopt;
    }
    case Op::pow: {
      const auto x = arg(0);
      const auto y = arg(1);
      if (!x || !y || !x->terms.empty() || !y->terms.empty() || y->constant < 0) return std::nullopt;
      std::int64_t value = 1;
      for (std::int64_t i = 0; i < y->constant; ++i) {
        if (i >= 64 || __builtin_mul_overflow(value, x->constant, &value)) return std::nullopt;
      }
      return LinearForm{{}, value};
    }
    default: return std::nullopt;
  }
}

ExprPtr linear_expr(const LinearForm& form) {
  std::vector<std::pair<std::string, std::int64_t>> terms = form.terms;
  // Positive terms first, larger strides first: `i*4+j-k`.
  std::stable_sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) {
    if ((a.second > 0) != (b.second > 0)) return a.second > 0;
    return std::llabs(a.second) > std::llabs(b.second);
  });
  ExprPtr sum;
  if (!terms.empty() && terms.front().second < 0 && form.constant > 0) sum = make_int(form.constant);
  const bool constant_first = sum != nullptr;
  for (const auto& [name, coef] : terms) {
    ExprPtr term = make_var(name);
    const bool subtract = sum != nullptr && coef < 0 && coef != INT64_MIN;
    const std::int64_t factor = subtract ? -coef : coef;
    if (factor != 1) term = make_expr(Op::mul, {std::move(term), make_int(factor)});
    sum = sum == nullptr ? term : make_expr(subtract ? Op::sub : Op::add, {sum, term});
  }
  if (sum == nullptr) return make_int(form.constant);
  if (form.constant == 0 || constant_first) return sum;
  if (form.constant > 0 || form.constant == INT64_MIN) {
    return make_expr(Op::add, {std::move(sum), make_int(form.constant)});
  }
  return make_expr(Op::sub, {std::move(sum), make_int(-form.constant)});
}

}  // namespace cairn
