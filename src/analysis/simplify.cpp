#include <algorithm>
#include <numeric>

#include "analysis/simplify_sum.h"
#include "analysis/system_state.h"

namespace cairn {

namespace simplify {

namespace {
using solver::floor_div;

// Only loop variables, integer literals and integer operators: such a node is computed in i64.
bool is_pure(const Expr& e) {
  switch (e.op) {
    case Op::int_literal:
    case Op::loop_var: return true;
    case Op::cast: return e.dtype == Dtype::i64 && is_pure(*e.args[0]);
    case Op::select: return is_pure(*e.args[1]) && is_pure(*e.args[2]);
    case Op::neg: case Op::add: case Op::sub: case Op::mul: case Op::floor_div: case Op::mod: case Op::pow:
    case Op::max: case Op::min: case Op::bit_xor: return is_pure(*e.args[0]) && is_pure(*e.args[1 % e.args.size()]);
    default: return false;
  }
}

Sum constant_sum(std::int64_t value) { return {{}, value}; }
Sum atom_sum(ExprPtr atom) { return {{{std::move(atom), 1}}, 0}; }
std::optional<Sum> scale(const Sum& x, std::int64_t factor) { return add({}, x, factor); }
bool is_true(const Expr& e) { return e.op == Op::int_literal && e.int_value != 0; }
bool is_false(const Expr& e) { return e.op == Op::int_literal && e.int_value == 0; }
}  // namespace

ExprPtr Simplifier::simplify(const ExprPtr& e) {
  if (is_comparison(e->op) && is_pure(*e->args[0]) && is_pure(*e->args[1])) return compare(e);
  if (is_pure(*e)) {
    if (const auto sum = sum_of(e)) {
      ExprPtr built = build(*sum);
      return same_expr(built, e) ? e : built;
    }
    return e;
  }
  return rebuild(e);
}

// Structural: arguments simplified; proved conditions decide selects and logic.
ExprPtr Simplifier::rebuild(const ExprPtr& e) {
  if (e->args.empty()) return e;
  std::vector<ExprPtr> args;
  bool changed = false;
  for (const ExprPtr& arg : e->args) {
    args.push_back(simplify(arg));
    changed = changed || args.back() != arg;
  }
  switch (e->op) {
    case Op::select:
      if (is_true(*args[0])) return args[1];
      if (is_false(*args[0])) return args[2];
      break;
    case Op::logical_and:
      if (is_false(*args[0]) || is_true(*args[1])) return args[0];
      if (is_true(*args[0])) return args[1];
      break;
    case Op::logical_or:
      if (is_true(*args[0]) || is_false(*args[1])) return args[0];
      if (is_false(*args[0])) return args[1];
      break;
    case Op::logical_not:
      if (args[0]->op == Op::int_literal) return make_int(args[0]->int_value == 0 ? 1 : 0);
      break;
    default: break;
  }
  if (!changed) return e;
  if (e->op == Op::read) return make_read(e->name, std::move(args), e->pos);
  if (e->op == Op::cast) return make_cast(e->dtype, std::move(args[0]), e->pos);
  return make_expr(e->op, std::move(args), e->pos);
}

std::optional<Sum> Simplifier::normal_form(const ExprPtr& e) { return is_pure(*e) ? sum_of(e) : std::nullopt; }

std::optional<Sum> Simplifier::sum_of(const ExprPtr& e) {
  const auto arg = [&](std::size_t i) { return sum_of(e->args[i]); };
  switch (e->op) {
    case Op::int_literal: return constant_sum(e->int_value);
    case Op::loop_var: return atom_sum(e);
    case Op::cast: return arg(0);
    case Op::neg: {
      const auto x = arg(0);
      return x ? scale(*x, -1) : std::nullopt;
    }
    case Op::select:
    case Op::min:
    case Op::max: return choose(e);
    default: break;
  }
  const auto x = arg(0);
  const auto y = arg(1);
  if (!x || !y) return std::nullopt;
  switch (e->op) {
    case Op::add: return add(*x, *y, 1);
    case Op::sub: return add(*x, *y, -1);
    case Op::mul:
      if (y->is_constant()) return scale(*x, y->constant);
      if (x->is_constant()) return scale(*y, x->constant);
      break;
    case Op::floor_div:
    case Op::mod: {
      const bool is_div = e->op == Op::floor_div;
      if (!y->is_constant() || y->constant == 0 || y->constant < -(std::int64_t{1} << 40)) break;
      if (y->constant > 0) return is_div ? divide(*x, y->constant) : remainder(*x, y->constant);
      const auto negative = scale(*x, -1);   // x // -c = (-x) // c, x % -c = -((-x) % c)
      if (!negative) return std::nullopt;
      if (is_div) return divide(*negative, -y->constant);
      const auto rest = remainder(*negative, -y->constant);
      return rest ? scale(*rest, -1) : std::nullopt;
    }
    case Op::pow: {
      if (!x->is_constant() || !y->is_constant() || y->constant < 0 || y->constant > 62) break;
      Sum value = constant_sum(1);
      for (std::int64_t i = 0; i < y->constant; ++i) {
        const auto next = scale(value, x->constant);
        if (!next) return std::nullopt;
        value = *next;
      }
      return value;
    }
    case Op::bit_xor: {
      if (x->is_constant() && y->is_constant()) return constant_sum(x->constant ^ y->constant);
      const ExprPtr a = build(*x), b = build(*y);   // (z xor b) xor b = z
      if (is_false(*a)) return y;
      if (is_false(*b)) return x;
      for (const bool left : {true, false}) {
        const ExprPtr &inner = left ? a : b, &other = left ? b : a;
        if (inner->op != Op::bit_xor) continue;
        if (same_expr(inner->args[1], other)) return sum_of(inner->args[0]);
        if (same_expr(inner->args[0], other)) return sum_of(inner->args[1]);
      }
      return atom_sum(make_expr(e->op, {a, b}));
    }
    default: break;
  }
  return atom_sum(make_expr(e->op, {build(*x), build(*y)}));
}

std::optional<Sum> Simplifier::choose(const ExprPtr& e) {
  const bool is_select = e->op == Op::select;
  ExprPtr cond;
  if (is_select) {
    cond = simplify(e->args[0]);
    if (cond->op == Op::int_literal) return sum_of(e->args[cond->int_value != 0 ? 1 : 2]);
  }
  const auto a = sum_of(e->args[is_select ? 1 : 0]);
  const auto b = sum_of(e->args[is_select ? 2 : 1]);
  if (!a || !b) return std::nullopt;
  const auto gap = add(*b, *a, -1);
  if (!gap) return std::nullopt;
  if (gap->is_constant() && gap->constant == 0) return a;
  if (is_select) return atom_sum(make_expr(Op::select, {cond, build(*a), build(*b)}));
  const auto bounds = range(*gap);
  if (bounds && bounds->lo >= 0) return e->op == Op::min ? a : b;
  if (bounds && bounds->hi <= 0) return e->op == Op::min ? b : a;
  return atom_sum(make_expr(e->op, {build(*a), build(*b)}));
}

std::optional<Simplifier::Split> Simplifier::split(const Sum& x, std::int64_t c) const {
  std::vector<std::int64_t> candidates;
  for (const Term& t : x.terms) {
    const std::int64_t g = std::gcd(t.coef, c);
    if (g > 1) candidates.push_back(g);
  }
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  for (auto g = candidates.rbegin(); g != candidates.rend(); ++g) {
    Split out{*g, {}, {}};
    for (const Term& t : x.terms) {
      if (t.coef % *g == 0) {
        out.big.terms.push_back({t.atom, t.coef / *g});
      } else {
        out.small.terms.push_back(t);
      }
    }
    out.big.constant = floor_div(x.constant, *g);
    out.small.constant = x.constant - out.big.constant * *g;
    const auto bounds = range(out.small);
    if (!bounds || floor_div(bounds->lo, *g) != floor_div(bounds->hi, *g)) continue;
    const std::int64_t m = floor_div(bounds->lo, *g);
    out.big.constant += m;
    out.small.constant -= m * *g;
    return out;
  }
  return std::nullopt;
}

std::optional<Sum> Simplifier::divide(const Sum& x, std::int64_t c) {
  if (c == 1) return x;
  Sum quotient;
  Sum rest;
  for (const Term& t : x.terms) {
    const std::int64_t whole = t.coef / c;   // truncated: the part keeps its sign and shrinks
    if (whole != 0) quotient.terms.push_back({t.atom, whole});
    if (t.coef % c != 0) rest.terms.push_back({t.atom, t.coef % c});
  }
  quotient.constant = floor_div(x.constant, c);
  rest.constant = x.constant - quotient.constant * c;
  if (rest.is_constant()) return quotient;
  if (const auto bounds = range(rest); bounds && floor_div(bounds->lo, c) == floor_div(bounds->hi, c)) {
    quotient.constant += floor_div(bounds->lo, c);
    return quotient;
  }
  if (const auto parts = split(rest, c)) {
    const auto inner = divide(parts->big, c / parts->g);
    return inner ? add(quotient, *inner, 1) : std::nullopt;
  }
  if (rest.terms.size() == 1 && rest.terms[0].coef == 1 && rest.terms[0].atom->op == Op::floor_div) {
    const Expr& inner = *rest.terms[0].atom;
    const std::int64_t d = inner.args[1]->op == Op::int_literal ? inner.args[1]->int_value : 0;
    std::int64_t both = 0;
    if (d > 0 && !__builtin_mul_overflow(c, d, &both) && both < (std::int64_t{1} << 40)) {
      const auto y = sum_of(inner.args[0]);   // ((y // d) + k) // c = (y + k d) // (c d)
      const auto moved = y ? add(*y, constant_sum(rest.constant), d) : std::nullopt;
      const auto merged = moved ? divide(*moved, both) : std::nullopt;
      return merged ? add(quotient, *merged, 1) : std::nullopt;
    }
  }
  return add(quotient, atom_sum(make_expr(Op::floor_div, {build(rest), make_int(c)})), 1);
}

std::optional<Sum> Simplifier::remainder(const Sum& x, std::int64_t c) {
  if (c == 1) return constant_sum(0);
  Sum rest;
  rest.constant = x.constant - floor_div(x.constant, c) * c;
  for (const Term& t : x.terms) {
    const std::int64_t coef = t.coef % c;
    if (coef == 0) continue;
    // coef * (y % d) and coef * y agree modulo c where c divides coef * d.
    const bool is_mod = t.atom->op == Op::mod && t.atom->args[1]->op == Op::int_literal && t.atom->args[1]->int_value > 0;
    if (is_mod && (static_cast<Int128>(coef) * t.atom->args[1]->int_value) % c == 0) {
      const auto y = sum_of(t.atom->args[0]);
      const auto replaced = y ? add(x, atom_sum(t.atom), -t.coef) : std::nullopt;
      const auto whole = replaced ? add(*replaced, *y, t.coef) : std::nullopt;
      return whole ? remainder(*whole, c) : std::nullopt;
    }
    rest.terms.push_back({t.atom, coef});
  }
  if (rest.is_constant()) return rest;
  if (const auto bounds = range(rest); bounds && floor_div(bounds->lo, c) == floor_div(bounds->hi, c)) {
    rest.constant -= floor_div(bounds->lo, c) * c;
    return rest;
  }
  if (const auto parts = split(rest, c)) {
    const auto inner = remainder(parts->big, c / parts->g);
    return inner ? add(parts->small, *inner, parts->g) : std::nullopt;
  }
  return atom_sum(make_expr(Op::mod, {build(rest), make_int(c)}));
}

}  // namespace simplify

ExprPtr simplify_index(const ExprPtr& expr, const std::vector<LoopRange>& loops) {
  return simplify::Simplifier(loops).simplify(expr);
}

}  // namespace cairn
