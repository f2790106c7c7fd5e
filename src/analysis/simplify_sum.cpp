#include "analysis/simplify_sum.h"

#include <algorithm>
#include <cstdlib>

namespace cairn::simplify {

namespace {
constexpr std::int64_t kLimit = std::int64_t{1} << 60;

bool add_scaled(std::int64_t a, std::int64_t b, std::int64_t factor, std::int64_t* out) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(b, factor, &product) || __builtin_add_overflow(a, product, out)) return false;
  return *out <= kLimit && *out >= -kLimit;
}

bool is_division(const Expr& e, Op op) {
  return e.op == op && e.args[1]->op == Op::int_literal && e.args[1]->int_value > 0;
}

// Is `quotient` y // c, or y' // (c d) where y = y' // d?
bool divides_by(const Expr& quotient, const Expr& y, std::int64_t c) {
  if (!is_division(quotient, Op::floor_div)) return false;
  const std::int64_t by = quotient.args[1]->int_value;
  if (by == c && same_expr(*quotient.args[0], y)) return true;
  if (!is_division(y, Op::floor_div)) return false;
  std::int64_t both = 0;
  return !__builtin_mul_overflow(c, y.args[1]->int_value, &both) && by == both &&
         same_expr(*quotient.args[0], *y.args[0]);
}

// One recombination of y // c and y % c; true if it happened. The remainder's place gets the result.
bool recombine(Sum* sum) {
  for (Term& mod : sum->terms) {
    if (!is_division(*mod.atom, Op::mod)) continue;
    const std::int64_t c = mod.atom->args[1]->int_value;
    std::int64_t wanted = 0;
    if (__builtin_mul_overflow(mod.coef, c, &wanted)) continue;
    for (Term& div : sum->terms) {
      if (div.coef != wanted) continue;
      if (divides_by(*div.atom, *mod.atom->args[0], c)) {
        mod.atom = mod.atom->args[0];
        div.coef = 0;
        return true;
      }
      // c*(y//c%d) + y%c is y%(c*d).
      std::int64_t both = 0;
      if (is_division(*div.atom, Op::mod) && divides_by(*div.atom->args[0], *mod.atom->args[0], c) &&
          !__builtin_mul_overflow(c, div.atom->args[1]->int_value, &both)) {
        mod.atom = make_expr(Op::mod, {mod.atom->args[0], make_int(both)});
        div.coef = 0;
        return true;
      }
    }
  }
  return false;
}

bool add_term(Sum* sum, const ExprPtr& atom, std::int64_t coef) {
  for (Term& t : sum->terms) {
    if (same_expr(t.atom, atom)) return add_scaled(t.coef, coef, 1, &t.coef);
  }
  sum->terms.push_back({atom, coef});
  return true;
}

// The terms of a canonical expression (what build() made).
bool add_expr(Sum* sum, const Expr& e, const ExprPtr& whole, std::int64_t factor) {
  switch (e.op) {
    case Op::int_literal: return add_scaled(sum->constant, e.int_value, factor, &sum->constant);
    case Op::add: return add_expr(sum, *e.args[0], e.args[0], factor) && add_expr(sum, *e.args[1], e.args[1], factor);
    case Op::sub: return add_expr(sum, *e.args[0], e.args[0], factor) && add_expr(sum, *e.args[1], e.args[1], -factor);
    case Op::mul: {
      std::int64_t scaled = 0;
      if (e.args[1]->op != Op::int_literal) return add_term(sum, whole, factor);
      return !__builtin_mul_overflow(e.args[1]->int_value, factor, &scaled) &&
             add_expr(sum, *e.args[0], e.args[0], scaled);
    }
    default: return add_term(sum, whole, factor);
  }
}

void drop_zeros(Sum* sum) {
  sum->terms.erase(std::remove_if(sum->terms.begin(), sum->terms.end(), [](const Term& t) { return t.coef == 0; }),
                   sum->terms.end());
}
}  // namespace

std::optional<Sum> add(const Sum& a, const Sum& b, std::int64_t factor) {
  Sum out = a;
  if (!add_scaled(a.constant, b.constant, factor, &out.constant)) return std::nullopt;
  for (const Term& t : b.terms) {
    std::int64_t coef = 0;
    if (!add_scaled(0, t.coef, factor, &coef) || !add_term(&out, t.atom, coef)) return std::nullopt;
  }
  drop_zeros(&out);
  while (recombine(&out)) {
    Sum flat;
    flat.constant = out.constant;
    for (const Term& t : out.terms) {
      if (!add_expr(&flat, *t.atom, t.atom, t.coef)) return std::nullopt;
    }
    drop_zeros(&flat);
    out = std::move(flat);
  }
  return out;
}

ExprPtr build(const Sum& sum) {
  std::vector<Term> terms = sum.terms;
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
    if ((a.coef > 0) != (b.coef > 0)) return a.coef > 0;
    if (std::abs(a.coef) != std::abs(b.coef)) return std::abs(a.coef) > std::abs(b.coef);
    const bool var_a = a.atom->op == Op::loop_var;
    const bool var_b = b.atom->op == Op::loop_var;
    if (var_a != var_b) return var_a;
    return var_a ? a.atom->name < b.atom->name : a.atom->hash < b.atom->hash;
  });
  ExprPtr out;
  const bool constant_first = !terms.empty() && terms.front().coef < 0 && sum.constant > 0;
  if (constant_first) out = make_int(sum.constant);
  for (const Term& t : terms) {
    const bool subtract = out != nullptr && t.coef < 0;
    const std::int64_t factor = subtract ? -t.coef : t.coef;
    ExprPtr term = factor == 1 ? t.atom : make_expr(Op::mul, {t.atom, make_int(factor)});
    out = out == nullptr ? term : make_expr(subtract ? Op::sub : Op::add, {out, term});
  }
  if (out == nullptr) return make_int(sum.constant);
  if (sum.constant == 0 || constant_first) return out;
  return sum.constant > 0 ? make_expr(Op::add, {out, make_int(sum.constant)})
                          : make_expr(Op::sub, {out, make_int(-sum.constant)});
}

}  // namespace cairn::simplify
