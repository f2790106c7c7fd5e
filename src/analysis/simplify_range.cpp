#include <algorithm>
#include <numeric>

#include "analysis/simplify_sum.h"
#include "analysis/system_state.h"

namespace cairn::simplify {

namespace {
using solver::floor_div;

// lhs <= rhs with the negative terms of n >= 0 on the left, as `<`, `>=`, or a comparison with a literal.
ExprPtr print_at_least(const Sum& n) {
  Sum left;
  Sum right;
  for (const Term& t : n.terms) {
    if (t.coef < 0) {
      left.terms.push_back({t.atom, -t.coef});
    } else {
      right.terms.push_back(t);
    }
  }
  if (left.terms.empty()) return make_expr(Op::ge, {build(right), make_int(-n.constant)});
  right.constant = n.constant + 1;
  return make_expr(Op::lt, {build(left), build(right)});
}
}  // namespace

std::optional<Interval> Simplifier::range(const Sum& sum) const {
  constexpr Int128 kLimit = Int128{1} << 60;
  Int128 lo = sum.constant;
  Int128 hi = sum.constant;
  for (const Term& t : sum.terms) {
    const auto bounds = range(*t.atom);
    if (!bounds) return std::nullopt;
    lo += static_cast<Int128>(t.coef) * (t.coef > 0 ? bounds->lo : bounds->hi);
    hi += static_cast<Int128>(t.coef) * (t.coef > 0 ? bounds->hi : bounds->lo);
  }
  if (lo < -kLimit || hi > kLimit) return std::nullopt;
  return Interval{static_cast<std::int64_t>(lo), static_cast<std::int64_t>(hi)};
}

std::optional<Interval> Simplifier::range(const Expr& atom) const {
  switch (atom.op) {
    case Op::int_literal: return Interval{atom.int_value, atom.int_value};
    case Op::loop_var:
      // The innermost of equal names is the one in sight.
      for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
        if (loop->var == atom.name) return Interval{0, std::max<std::int64_t>(loop->extent - 1, 0)};
      }
      return std::nullopt;
    case Op::floor_div:
    case Op::mod: {
      const std::int64_t c = atom.args[1]->op == Op::int_literal ? atom.args[1]->int_value : 0;
      if (c <= 0) return std::nullopt;
      const auto x = range(*atom.args[0]);
      if (atom.op == Op::mod) {
        if (x && x->lo >= 0 && x->hi < c) return x;
        return Interval{0, c - 1};
      }
      return x ? std::optional(Interval{floor_div(x->lo, c), floor_div(x->hi, c)}) : std::nullopt;
    }
    case Op::neg:
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::min:
    case Op::max:
    case Op::select: return range_of_args(atom);
    default: return std::nullopt;
  }
}

std::optional<Interval> Simplifier::range_of_args(const Expr& atom) const {
  constexpr std::int64_t kLimit = std::int64_t{1} << 30;
  const bool is_select = atom.op == Op::select;
  const auto x = range(*atom.args[is_select ? 1 : 0]);
  const auto y = range(*atom.args[is_select ? 2 : (atom.args.size() - 1)]);
  if (!x || !y || x->lo < -kLimit || x->hi > kLimit || y->lo < -kLimit || y->hi > kLimit) return std::nullopt;
  switch (atom.op) {
    case Op::neg: return Interval{-x->hi, -x->lo};
    case Op::add: return Interval{x->lo + y->lo, x->hi + y->hi};
    case Op::sub: return Interval{x->lo - y->hi, x->hi - y->lo};
    case Op::mul: {
      const auto [lo, hi] = std::minmax({x->lo * y->lo, x->lo * y->hi, x->hi * y->lo, x->hi * y->hi});
      return Interval{lo, hi};
    }
    case Op::min: return Interval{std::min(x->lo, y->lo), std::min(x->hi, y->hi)};
    case Op::max: return Interval{std::max(x->lo, y->lo), std::max(x->hi, y->hi)};
    default: return Interval{std::min(x->lo, y->lo), std::max(x->hi, y->hi)};
  }
}

// Proves or refutes a comparison by the range of right - left; drops parts that can not matter (with j < 8,
// i*8+j < 64 says i < 8).
ExprPtr Simplifier::compare(const ExprPtr& e) {
  const auto a = sum_of(e->args[0]);
  const auto b = sum_of(e->args[1]);
  const auto gap = a && b ? add(*b, *a, -1) : std::nullopt;
  if (!gap) return e;
  const bool is_equality = e->op == Op::eq || e->op == Op::ne;
  if (is_equality) {
    const auto bounds = range(*gap);
    std::int64_t g = 0;
    for (const Term& t : gap->terms) g = std::gcd(g, t.coef);
    const bool never = (bounds && (bounds->lo > 0 || bounds->hi < 0)) || (g > 1 && gap->constant % g != 0);
    if (never) return make_int(e->op == Op::ne ? 1 : 0);
    if (gap->is_constant() || (bounds && bounds->lo == 0 && bounds->hi == 0)) return make_int(e->op == Op::eq ? 1 : 0);
  } else {
    const bool upward = e->op == Op::lt || e->op == Op::le;   // n >= 0 says what e says
    auto n = upward ? gap : add({}, *gap, -1);
    if (n && (e->op == Op::lt || e->op == Op::gt)) n->constant -= 1;
    bool smaller = false;
    while (n) {
      const auto bounds = range(*n);
      if (bounds && bounds->lo >= 0) return make_int(1);
      if (bounds && bounds->hi < 0) return make_int(0);
      const auto parts = split(*n, 0);
      if (!parts || parts->g == 1) break;
      smaller = smaller || !parts->small.is_constant();
      n = parts->big;
    }
    if (smaller && n) return print_at_least(*n);
  }
  ExprPtr built = make_expr(e->op, {build(*a), build(*b)}, e->pos);
  return same_expr(built, e) ? e : built;
}

}  // namespace cairn::simplify
