#include "analysis/system_lower.h"

#include <algorithm>
#include <cstdlib>

#include "analysis/system_state.h"

namespace cairn {

namespace {
constexpr std::size_t kMaxCases = 32;
constexpr std::int64_t kMaxLiteral = std::int64_t{1} << 50;

std::optional<AffineRow> minus(const std::optional<AffineRow>& a, const std::optional<AffineRow>& b) {
  if (!a || !b) return std::nullopt;
  return combine_rows(*a, 1, *b, -1);
}

AffineRow shifted(AffineRow row, std::int64_t by) {
  row.constant += by;
  return row;
}

AffineRow negated(const AffineRow& row) { return *combine_rows(row, -1, constant_row(0), 0); }

bool fits_type(Dtype dtype, const Interval& range) {
  if (dtype == Dtype::i64) return true;
  if (!is_integer(dtype)) return false;
  const bool narrow = dtype == Dtype::i4 || dtype == Dtype::u4;
  const int bits = narrow ? 4 : static_cast<int>(dtype_bytes(dtype) * 8);
  const bool is_signed = dtype <= Dtype::i4;
  if (bits >= 63) return range.lo >= 0;
  const std::int64_t span = std::int64_t{1} << (is_signed ? bits - 1 : bits);
  return range.lo >= (is_signed ? -span : 0) && range.hi < span;
}
}  // namespace

int LowerScope::variable(std::string_view name) const {
  for (auto it = variables.rbegin(); it != variables.rend(); ++it) {
    if (it->first == name) return it->second;
  }
  return -1;
}

std::optional<AffineRow> SystemLowering::lower(const Expr& expr, LowerScope& scope) {
  AffineRow row;
  return accumulate(expr, 1, scope, &row) ? std::optional(std::move(row)) : std::nullopt;
}

bool SystemLowering::accumulate(const Expr& expr, std::int64_t factor, LowerScope& scope, AffineRow* into) {
  const auto add = [&](const std::optional<AffineRow>& row) { return row && add_scaled(into, factor, *row); };
  switch (expr.op) {
    case Op::int_literal:
      if (expr.int_value > kMaxLiteral || expr.int_value < -kMaxLiteral) return false;
      return add(constant_row(expr.int_value));
    case Op::loop_var: {
      const int v = scope.variable(expr.name);
      return v >= 0 && add_scaled(into, factor, v);
    }
    case Op::neg: return accumulate(*expr.args[0], -factor, scope, into);
    case Op::add:
    case Op::sub:
      return accumulate(*expr.args[0], factor, scope, into) &&
             accumulate(*expr.args[1], expr.op == Op::add ? factor : -factor, scope, into);
    case Op::mul: {
      const bool literal_right = expr.args[1]->op == Op::int_literal;
      const auto y = lower(*expr.args[literal_right ? 1 : 0], scope);
      const Expr& other = *expr.args[literal_right ? 0 : 1];
      if (!y) return false;
      if (y->is_constant()) {
        std::int64_t scaled = 0;
        return !__builtin_mul_overflow(factor, y->constant, &scaled) && std::abs(scaled) <= kMaxLiteral &&
               accumulate(other, scaled, scope, into);
      }
      const auto x = lower(other, scope);
      return x && x->is_constant() && add(combine_rows(*y, x->constant, constant_row(0), 0));
    }
    case Op::cast: {
      const auto row = lower(*expr.args[0], scope);
      const auto range = row ? system.bounds(*row) : std::nullopt;
      return range && fits_type(expr.dtype, *range) && add(row);
    }
    case Op::pow: {
      const auto x = lower(*expr.args[0], scope);
      const auto y = lower(*expr.args[1], scope);
      if (!x || !y || !x->is_constant() || !y->is_constant() || y->constant < 0) return false;
      std::int64_t value = 1;
      for (std::int64_t i = 0; i < y->constant; ++i) {
        if (i >= 64 || __builtin_mul_overflow(value, x->constant, &value)) return false;
      }
      return value <= kMaxLiteral && value >= -kMaxLiteral && add(constant_row(value));
    }
    case Op::floor_div:
    case Op::mod: return add(divide(expr, scope));
    case Op::min:
    case Op::max:
    case Op::select: return add(choose(expr, scope));
    case Op::bit_xor: return add(exclusive_or(expr, scope));
    default: return false;
  }
}

// x xor y of two non-negative values is opaque, but one-to-one in x for a given y, and in y for a given x: enough
// for swizzled subscripts.
std::optional<AffineRow> SystemLowering::exclusive_or(const Expr& expr, LowerScope& scope) {
  constexpr std::size_t kMaxXors = 4;
  for (const LowerScope::Known& known : scope.known) {
    if (same_expr(*known.expr, expr)) return known.row;
  }
  const auto x = lower(*expr.args[0], scope);
  const auto y = x ? lower(*expr.args[1], scope) : std::nullopt;
  const auto range_x = y ? system.bounds(*x) : std::nullopt;
  const auto range_y = y ? system.bounds(*y) : std::nullopt;
  if (!range_x || !range_y || range_x->lo < 0 || range_y->lo < 0 || xors_.size() == kMaxXors) return std::nullopt;
  std::int64_t top = 1;
  while (top <= std::max(range_x->hi, range_y->hi)) top *= 2;
  exact = false;
  const Xor made{*x, *y, system.add_variable({0, top - 1})};
  const AffineRow value = variable_row(made.value);
  for (const Xor& other : xors_) {
    const auto left = combine_rows(*x, 1, other.left, -1);
    const auto right = combine_rows(*y, 1, other.right, -1);
    const auto result = combine_rows(value, 1, variable_row(other.value), -1);
    if (!left || !right || !result) return std::nullopt;
    const auto below = [](const AffineRow& row) { return Constraint{shifted(negated(row), -1), false}; };
    const auto above = [](const AffineRow& row) { return Constraint{shifted(row, -1), false}; };
    system.add_cases({{{*left, true}, {*right, true}, {*result, true}},
                      {{*right, true}, above(*left), above(*result)},
                      {{*right, true}, above(*left), below(*result)},
                      {{*right, true}, below(*left), above(*result)},
                      {{*right, true}, below(*left), below(*result)},
                      {above(*right)},
                      {below(*right)}});
  }
  xors_.push_back(made);
  scope.known.push_back({&expr, value});
  return value;
}

// x = c q + t with 0 <= t < c. Multiples of c leave at once, so that (i*8+j)//8 needs no variable.
std::optional<AffineRow> SystemLowering::divide(const Expr& expr, LowerScope& scope) {
  for (const LowerScope::Known& known : scope.known) {
    if (same_expr(*known.expr, expr)) return known.row;
  }
  auto x = lower(*expr.args[0], scope);
  if (!x) return std::nullopt;
  const auto divisor = lower(*expr.args[1], scope);
  if (!divisor || !divisor->is_constant() || divisor->constant == 0) return std::nullopt;
  std::int64_t c = divisor->constant;
  const std::int64_t sign = c < 0 ? -1 : 1;
  if (c < 0) {
    c = -c;
    x = negated(*x);   // floor(x / -c) = floor(-x / c), and x mod -c = -((-x) mod c)
  }
  AffineRow quotient;
  AffineRow rest;
  for (const auto& [v, coef] : x->terms) {
    // The remainder of smallest magnitude keeps ranges tight: 7 = 8 - 1.
    const std::int64_t whole = solver::floor_div(coef + c / 2, c);
    const std::int64_t part = coef - whole * c;
    if (whole != 0) quotient.terms.emplace_back(v, whole);
    if (part != 0) rest.terms.emplace_back(v, part);
  }
  quotient.constant = solver::floor_div(x->constant, c);
  rest.constant = x->constant - quotient.constant * c;
  const auto range = system.bounds(rest);
  if (!range) return std::nullopt;
  const std::int64_t first = solver::floor_div(range->lo, c);
  const std::int64_t last = solver::floor_div(range->hi, c);
  std::optional<AffineRow> q;
  std::optional<AffineRow> t;
  if (first == last) {
    q = shifted(quotient, first);
    t = shifted(rest, -first * c);
  } else {
    const AffineRow whole = variable_row(system.add_variable({first, last}));
    const AffineRow part = variable_row(system.add_variable({0, c - 1}));
    auto equation = combine_rows(rest, 1, whole, -c);
    if (equation) equation = combine_rows(*equation, 1, part, -1);
    if (!equation) return std::nullopt;
    system.add_equal(*equation);
    q = combine_rows(quotient, 1, whole, 1);
    t = part;
  }
  if (!q || !t) return std::nullopt;
  const bool is_quotient = expr.op == Op::floor_div;
  const AffineRow row = is_quotient ? *q : sign < 0 ? negated(*t) : *t;
  scope.known.push_back({&expr, row});
  return row;
}

// min, max and if_then_else: one alternative each.
std::optional<AffineRow> SystemLowering::choose(const Expr& expr, LowerScope& scope) {
  for (const LowerScope::Known& known : scope.known) {
    if (same_expr(*known.expr, expr)) return known.row;
  }
  const bool is_select = expr.op == Op::select;
  const auto a = lower(*expr.args[is_select ? 1 : 0], scope);
  if (!a) return std::nullopt;
  const auto b = lower(*expr.args[is_select ? 2 : 1], scope);
  const auto difference = b ? combine_rows(*b, 1, *a, -1) : std::nullopt;   // b - a
  const auto range_a = system.bounds(*a);
  const auto range_b = b ? system.bounds(*b) : std::nullopt;
  const auto gap = difference ? system.bounds(*difference) : std::nullopt;
  if (!range_a || !range_b || !gap) return std::nullopt;
  const bool is_min = expr.op == Op::min;
  if (!is_select && gap->lo >= 0) return is_min ? a : b;
  if (!is_select && gap->hi <= 0) return is_min ? b : a;
  const AffineRow value =
      variable_row(system.add_variable({std::min(range_a->lo, range_b->lo), std::max(range_a->hi, range_b->hi)}));
  const auto is_a = combine_rows(value, 1, *a, -1);
  const auto is_b = combine_rows(value, 1, *b, -1);
  if (!is_a || !is_b) return std::nullopt;
  std::vector<Conjunction> all;
  if (is_select) {
    for (Conjunction c : cases(*expr.args[0], true, scope)) {
      c.push_back({*is_a, true});
      all.push_back(std::move(c));
    }
    for (Conjunction c : cases(*expr.args[0], false, scope)) {
      c.push_back({*is_b, true});
      all.push_back(std::move(c));
    }
  } else {
    all.push_back({{*is_a, true}, {is_min ? *difference : negated(*difference), false}});
    all.push_back({{*is_b, true}, {is_min ? negated(*difference) : *difference, false}});
  }
  system.add_cases(std::move(all));
  scope.known.push_back({&expr, value});
  return value;
}

std::vector<Conjunction> SystemLowering::compare(const Expr& cond, bool holds, LowerScope& scope) {
  const auto gap = minus(lower(*cond.args[1], scope), lower(*cond.args[0], scope));  // right - left
  if (!gap) {
    exact = false;
    return {{}};
  }
  const auto one = [](AffineRow row) { return std::vector<Conjunction>{{{std::move(row), false}}}; };
  Op op = cond.op;
  if (!holds) {
    switch (op) {
      case Op::lt: op = Op::ge; break;
      case Op::le: op = Op::gt; break;
      case Op::gt: op = Op::le; break;
      case Op::ge: op = Op::lt; break;
      case Op::eq: op = Op::ne; break;
      default: op = Op::eq; break;
    }
  }
  switch (op) {
    case Op::lt: return one(shifted(*gap, -1));
    case Op::le: return one(*gap);
    case Op::gt: return one(shifted(negated(*gap), -1));
    case Op::ge: return one(negated(*gap));
    case Op::eq: return {{{*gap, true}}};
    default: return {{{shifted(*gap, -1), false}}, {{shifted(negated(*gap), -1), false}}};
  }
}

std::vector<Conjunction> SystemLowering::cases(const Expr& cond, bool holds, LowerScope& scope) {
  if (is_comparison(cond.op)) return compare(cond, holds, scope);
  switch (cond.op) {
    case Op::logical_not: return cases(*cond.args[0], !holds, scope);
    case Op::int_literal: return (cond.int_value != 0) == holds ? std::vector<Conjunction>{{}} : std::vector<Conjunction>{};
    case Op::logical_and:
    case Op::logical_or: break;
    default: exact = false; return {{}};
  }
  std::vector<Conjunction> left = cases(*cond.args[0], holds, scope);
  std::vector<Conjunction> right = cases(*cond.args[1], holds, scope);
  std::vector<Conjunction> out;
  if ((cond.op == Op::logical_or) == holds) {
    out = std::move(left);
    for (Conjunction& c : right) out.push_back(std::move(c));
  } else {
    if (left.size() * right.size() > kMaxCases) {
      exact = false;
      return {{}};
    }
    for (const Conjunction& l : left) {
      for (const Conjunction& r : right) {
        Conjunction both = l;
        both.insert(both.end(), r.begin(), r.end());
        out.push_back(std::move(both));
      }
    }
  }
  if (out.size() > kMaxCases) {
    exact = false;
    return {{}};
  }
  return out;
}

void SystemLowering::assume(const Expr& cond, bool holds, LowerScope& scope) {
  // Conjunctions go in part by part: fewer products of cases.
  if ((cond.op == Op::logical_and && holds) || (cond.op == Op::logical_or && !holds)) {
    assume(*cond.args[0], holds, scope);
    assume(*cond.args[1], holds, scope);
    return;
  }
  system.add_cases(cases(cond, holds, scope));
}

}  // namespace cairn
