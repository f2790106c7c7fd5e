// The algebraic class: residues modulo p = 2q+1 and q, exp from Z_q to Z_p, a keyed random order, infinities.
#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "ir/numbers.h"
#include "ir/interp.h"
#include "verify/identity/operand_sets.h"
#include "verify/identity/pass.h"
#include "verify/identity/residues.h"

namespace cairn::identity {

namespace {
using Kind_ = FieldValue::Kind;
using Cause = FieldValue::Cause;

FieldValue number(std::uint64_t p, std::uint64_t q, bool has_q, int sign) {
  FieldValue v;
  v.kind = Kind_::number;
  v.p = p;
  v.q = q;
  v.has_q = has_q;
  v.sign = static_cast<std::int8_t>(p == 0 && (!has_q || q == 0) ? 0 : sign);
  return v;
}
FieldValue whole(std::int64_t value) { return number(P::of_integer(value), Q::of_integer(value), true, (value > 0) - (value < 0)); }
FieldValue infinite(bool negative) {
  FieldValue v;
  v.kind = negative ? Kind_::bottom : Kind_::top;
  v.sign = negative ? -1 : 1;
  return v;
}
FieldValue nothing(Cause cause) {
  FieldValue v;
  v.cause = cause;
  return v;
}
FieldValue integer(std::int64_t value) {
  FieldValue v;
  v.kind = Kind_::integer;
  v.p = static_cast<std::uint64_t>(value);
  return v;
}
FieldValue not_a_number() {
  FieldValue v;
  v.kind = Kind_::nan;
  return v;
}
bool is_infinite(const FieldValue& v) { return v.kind == Kind_::bottom || v.kind == Kind_::top; }
std::int64_t int_of(const FieldValue& v) { return static_cast<std::int64_t>(v.p); }

FieldValue negative(const FieldValue& x) {
  FieldValue v = x;
  if (x.kind == Kind_::bottom || x.kind == Kind_::top) return infinite(x.kind == Kind_::top);
  if (x.kind == Kind_::integer) return integer(wrap_sub(0, int_of(x)));
  if (x.kind != Kind_::number) return x;
  v.p = P::negate(x.p);
  v.q = Q::negate(x.q);
  v.sign = x.sign == 2 ? std::int8_t{2} : static_cast<std::int8_t>(-x.sign);
  return v;
}

class FieldPass {
 public:
  FieldPass(const TermGraph& graph, std::uint64_t key, FieldMode mode)
      : graph_(graph), key_(mix64(key ^ 0x510e527fade682d1ULL)), mode_(mode) {}

  std::vector<FieldValue> run(const std::vector<TermId>& order, const std::vector<TermId>& wanted) {
    if (!order.empty()) values_.resize(order.back() + 1);
    for (const TermId id : order) values_[id] = evaluate(graph_[id]);
    std::vector<FieldValue> out;
    for (const TermId r : wanted) out.push_back(values_[r]);
    return out;
  }
  std::size_t largest_set() const { return sets_.largest(); }

 private:
  std::uint64_t tag(std::uint64_t what) const { return mix64(key_ + what * 0x9e3779b97f4a7c15ULL); }
  // A random number that is a function of h.
  FieldValue random(std::uint64_t h, int sign = 2) const {
    return number(P::reduce(mix64(h ^ 0x1f83d9abfb41bd6bULL)), Q::reduce(mix64(h ^ 0x5be0cd19137e2179ULL)), true, sign);
  }
  FieldValue opaque(std::uint64_t what, const FieldValue& x, int sign = 2) const { return random(combine64(tag(what), x.p), sign); }
  FieldValue opaque_odd(std::uint64_t what, const FieldValue& x) const {
    if (x.p == 0) return x;
    const bool flip = x.p > P::kModulus / 2;
    FieldValue m = x;
    if (flip) m.p = P::negate(x.p);
    FieldValue v = opaque(what, m);
    if (flip) v = negative(v);
    v.sign = x.sign;
    return v;
  }
  std::uint64_t rank(const FieldValue& x) const { return mix64(x.p ^ key_); }
  bool less(const FieldValue& a, const FieldValue& b) const {
    if (a.kind == Kind_::integer) return int_of(a) < int_of(b);
    if (a.kind != b.kind || a.kind != Kind_::number) {
      if (a.kind == b.kind) return false;
      return a.kind == Kind_::bottom || b.kind == Kind_::top;
    }
    return a.p != b.p && rank(a) < rank(b);
  }

  // max or min as a set of operands.
  FieldValue extreme(bool is_min, const FieldValue& a, const FieldValue& b) {
    if (mode_ != FieldMode::sets) return is_min ? (less(b, a) ? b : a) : (less(a, b) ? b : a);
    const Kind_ neutral = is_min ? Kind_::top : Kind_::bottom;
    if (a.kind == neutral) return b;
    if (b.kind == neutral) return a;
    if (is_infinite(a) || is_infinite(b)) return is_infinite(a) ? a : b;
    const auto is_set = [&](const FieldValue& v) { return v.set != 0 && sets_.is_min(v.set) == is_min; };
    if (!is_set(a) && !is_set(b) && a.p == b.p) return a;
    const OperandSets::Set x{a.set, a.length}, y{b.set, b.length};
    const OperandSets::Set joined = sets_.join(is_min, is_set(a) ? &x : nullptr, a.p, is_set(b) ? &y : nullptr, b.p);
    FieldValue v = random(combine64(tag(is_min ? 41 : 40), sets_.hash(joined, key_)));
    v.set = joined.log;
    v.length = joined.length;
    return v;
  }

  FieldValue add(const FieldValue& x, const FieldValue& y) const {
    if (is_infinite(x) || is_infinite(y)) {
      if (is_infinite(x) && is_infinite(y) && x.kind != y.kind) return nothing(Cause::infinities);
      return is_infinite(x) ? x : y;
    }
    const int sign = x.sign == 0 ? y.sign : y.sign == 0 || x.sign == y.sign ? x.sign : 2;
    return number(P::add(x.p, y.p), Q::add(x.q, y.q), x.has_q && y.has_q, sign);
  }
  FieldValue multiply(const FieldValue& x, const FieldValue& y) const {
    const int sign = x.sign == 2 || y.sign == 2 ? 2 : x.sign * y.sign;
    if (is_infinite(x) || is_infinite(y)) {
      if (sign == 2) return nothing(Cause::unknown_sign);
      return sign == 0 ? nothing(Cause::zero_times_infinity) : infinite(sign < 0);
    }
    return number(P::multiply(x.p, y.p), Q::multiply(x.q, y.q), x.has_q && y.has_q, sign);
  }
  FieldValue invert(const FieldValue& x) const {
    if (is_infinite(x)) return number(0, 0, true, 0);
    if (x.p == 0 || (x.has_q && x.q == 0)) return nothing(Cause::division_by_zero);
    return number(P::invert(x.p), x.has_q ? Q::invert(x.q) : 0, x.has_q, x.sign);
  }
  FieldValue divide(const FieldValue& x, const FieldValue& y) const {
    if (is_infinite(x) && is_infinite(y)) return nothing(Cause::infinities);
    const FieldValue z = invert(y);
    if (z.kind == Kind_::nothing) return z;
    if (is_infinite(x) && y.sign == 2) return nothing(Cause::unknown_sign);
    return multiply(x, z);
  }
  FieldValue exponent(const FieldValue& x) const {
    if (x.kind == Kind_::bottom) return number(0, 0, true, 0);
    if (x.kind == Kind_::top) return x;
    if (!x.has_q) return x.p == 0 ? whole(1) : opaque(21, x, 1);
    return number(exponential(x.q), 0, false, 1);
  }
  FieldValue root(const FieldValue& x) const {
    if (x.kind == Kind_::top) return x;
    if (x.kind == Kind_::bottom) return nothing(Cause::undefined);
    if (x.p == 0) return x;
    return opaque(22, x, x.sign == 1 ? 1 : 2);
  }
  FieldValue power(const FieldValue& x, const Term& exponent_term, const FieldValue& y) const {
    const bool literal = exponent_term.kind == Kind::operation && exponent_term.op == Op::float_literal;
    const double e = literal ? graph_.literal_of(exponent_term).decimal : 0;
    if (literal && e == std::trunc(e) && std::fabs(e) <= 64) {
      FieldValue r = whole(1);
      for (int i = 0; i < static_cast<int>(std::fabs(e)); ++i) {
        r = multiply(r, x);
        if (r.kind == Kind_::nothing) return r;
      }
      return e < 0 ? invert(r) : r;
    }
    if (literal && e == 0.5) return root(x);
    if (literal && e == -0.5) {
      const FieldValue r = root(x);
      return r.kind == Kind_::nothing ? r : invert(r);
    }
    if (is_infinite(x) || is_infinite(y)) return nothing(Cause::undefined);
    return random(combine64(combine64(tag(23), x.p), y.p), x.sign == 1 ? 1 : 2);
  }
  FieldValue unary(Op op, const FieldValue& x) const {
    const auto ratio = [&](const FieldValue& a, const FieldValue& b) { return a.kind == Kind_::nothing ? a : b.kind == Kind_::nothing ? b : divide(a, b); };
    switch (op) {
      case Op::exp: return exponent(x);
      case Op::sqrt: return root(x);
      case Op::rsqrt: {
        const FieldValue r = root(x);
        return r.kind == Kind_::nothing ? r : invert(r);
      }
      case Op::tanh: {
        if (is_infinite(x)) return whole(x.kind == Kind_::top ? 1 : -1);
        const FieldValue e = exponent(add(x, x));
        FieldValue t = ratio(add(e, whole(-1)), add(e, whole(1)));
        return t;
      }
      case Op::abs: {
        if (is_infinite(x)) return infinite(false);
        if (x.sign != 2) return x.sign < 0 ? negative(x) : x;
        const FieldValue y = negative(x);
        return less(x, y) ? y : x;
      }
      case Op::sign:
        if (x.sign != 2) return whole(x.sign);
        return opaque_odd(24, x);
      case Op::erf:
        if (is_infinite(x)) return whole(x.kind == Kind_::top ? 1 : -1);
        return opaque_odd(25, x);
      case Op::sin:
        if (is_infinite(x)) return nothing(Cause::undefined);
        return opaque_odd(26, x);
      case Op::log:
        if (x.kind == Kind_::top) return x;
        if (x.kind == Kind_::bottom) return nothing(Cause::undefined);
        if (x.p == 0) return infinite(true);
        return opaque(27, x);
      case Op::cos:
        if (is_infinite(x)) return nothing(Cause::undefined);
        return opaque(28, x);
      default:   // floor ceil round
        if (is_infinite(x)) return x;
        return opaque(32 + static_cast<std::uint64_t>(op), x);
    }
  }
  FieldValue binary(const Term& t, const FieldValue& a, const FieldValue& b) {
    switch (t.op) {
      case Op::add: return add(a, b);
      case Op::mul: return multiply(a, b);
      case Op::div: return divide(a, b);
      case Op::max: return extreme(false, a, b);
      case Op::min: return extreme(true, a, b);
      case Op::pow: return power(a, graph_[t.b], b);
      default:
        if (is_infinite(a) || is_infinite(b)) return nothing(Cause::undefined);
        return random(combine64(combine64(tag(64 + static_cast<std::uint64_t>(t.op)), a.p), b.p));
    }
  }
  static FieldValue integers(Op op, std::int64_t a, std::int64_t b) {
    switch (op) {
      case Op::neg: return integer(wrap_sub(0, a));
      case Op::add: return integer(wrap_add(a, b));
      case Op::mul: return integer(wrap_mul(a, b));
      case Op::floor_div: return b == 0 ? nothing(Cause::division_by_zero) : integer(floor_div_int(a, b));
      case Op::mod: return b == 0 ? nothing(Cause::division_by_zero) : integer(mod_int(a, b));
      case Op::pow: return b < 0 ? nothing(Cause::undefined) : integer(pow_int(a, b));
      case Op::abs: return integer(a < 0 ? wrap_sub(0, a) : a);
      case Op::sign: return integer((a > 0) - (a < 0));
      case Op::max: return integer(a > b ? a : b);
      case Op::min: return integer(a < b ? a : b);
      case Op::bit_xor: return integer(a ^ b);
      default: return nothing(Cause::undefined);
    }
  }

  FieldValue evaluate(const Term& t) {
    switch (t.kind) {
      case Kind::unwritten: return nothing(Cause::undefined);
      case Kind::input: {
        std::uint64_t h = combine64(combine64(tag(2), t.a), t.b | std::uint64_t{t.c} << 32);
        if (mode_ == FieldMode::ties && t.type != ComputeType::boolean) {
          if (t.type == ComputeType::i64) return integer(static_cast<std::int64_t>(h % 5) - 2);
          h = tag(50 + h % kTied);
        }
        if (t.type == ComputeType::boolean) return integer(static_cast<std::int64_t>(h & 1));
        if (t.type == ComputeType::i64) return integer(static_cast<std::int64_t>(h));
        const FieldValue drawn = random(h);
        held_.insert(combine64(static_cast<std::uint64_t>(t.format), drawn.p));
        return drawn;
      }
      case Kind::operation: return operation(t);
      default: break;
    }
    const FieldValue& x = values_[t.a];
    if (x.kind == Kind_::nothing) return x;
    switch (t.kind) {
      case Kind::chain: {
        const Term& inner = graph_[t.a];
        return t.b == 0 && inner.kind == Kind::round && inner.format == t.format ? values_[inner.a] : x;
      }
      case Kind::round:
        if (x.kind != Kind_::number) return x;
        // What equals an element of that dtype is not changed by rounding to it.
        if (held_.count(combine64(static_cast<std::uint64_t>(t.format), x.p)) != 0) return x;
        return opaque_odd(128 + static_cast<std::uint64_t>(t.format), x);
      case Kind::to_float: return x.kind == Kind_::integer ? whole(int_of(x)) : x;
      case Kind::to_bool: return x.kind == Kind_::integer ? integer(int_of(x) != 0) : integer(x.kind != Kind_::number || x.p != 0);
      case Kind::wrap: return integer(wrap_integer(t.format, int_of(x)));
      case Kind::to_int:
        if (x.kind == Kind_::integer) return x;
        if (x.kind == Kind_::nan) return integer(0);
        if (is_infinite(x)) return integer(to_integer(t.format, x.kind == Kind_::top ? HUGE_VAL : -HUGE_VAL));
        return integer(static_cast<std::int64_t>(combine64(tag(29), x.p) & 0x7f));
      default: return nothing(Cause::undefined);
    }
  }

  FieldValue operation(const Term& t) {
    if (t.op == Op::int_literal) return integer(TermGraph::integer_of(t));
    if (t.op == Op::float_literal) {
      const double v = graph_.literal_of(t).decimal;
      if (std::isnan(v)) return not_a_number();
      if (std::isinf(v)) return infinite(v < 0);
      const RationalResidue r = decimal_residue(v);
      return number(r.p, r.q, true, (v > 0) - (v < 0));
    }
    const FieldValue& a = values_[t.a];
    if (t.op == Op::select) return a.kind == Kind_::nothing ? a : values_[int_of(a) != 0 ? t.b : t.c];
    if (t.op == Op::logical_and || t.op == Op::logical_or) {
      const FieldValue& b = values_[t.b];
      const bool absorbing = t.op == Op::logical_or;
      if (a.kind == Kind_::integer && (int_of(a) != 0) == absorbing) return a;
      if (b.kind == Kind_::integer && (int_of(b) != 0) == absorbing) return b;
      return a.kind == Kind_::nothing ? a : b;
    }
    if (a.kind == Kind_::nothing) return a;
    if (t.op == Op::logical_not) return integer(int_of(a) == 0);
    if (t.op == Op::isnan) return integer(a.kind == Kind_::nan);
    const bool two = op_arity(t.op) == 2;
    const FieldValue& b = two ? values_[t.b] : a;
    if (b.kind == Kind_::nothing) return b;
    const bool nan = a.kind == Kind_::nan || b.kind == Kind_::nan;
    switch (t.op) {
      case Op::lt: return integer(!nan && less(a, b));
      case Op::le: return integer(!nan && !less(b, a));
      case Op::eq: return integer(!nan && same_value(a, b));
      case Op::ne: return integer(nan || !same_value(a, b));
      default: break;
    }
    if (nan) return not_a_number();
    if (a.kind == Kind_::integer) return integers(t.op, int_of(a), int_of(b));
    if (t.op == Op::neg) return negative(a);
    return two ? binary(t, a, b) : unary(t.op, a);
  }

  static constexpr std::uint64_t kTied = 3;   // values of inputs in FieldMode::ties
  const TermGraph& graph_;
  std::uint64_t key_;
  FieldMode mode_;
  std::vector<FieldValue> values_;
  std::unordered_set<std::uint64_t> held_;   // of dtype and residue: elements of inputs
  OperandSets sets_;
};
}  // namespace

bool same_value(const FieldValue& a, const FieldValue& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == Kind_::number) return a.p == b.p && (!a.has_q || !b.has_q || a.q == b.q);
  return a.kind != Kind_::integer || a.p == b.p;
}

std::vector<FieldValue> evaluate_field(const TermGraph& graph, const std::vector<TermId>& order, const std::vector<TermId>& wanted,
                                       std::uint64_t key, FieldMode mode, std::size_t* largest_set) {
  FieldPass pass(graph, key, mode);
  std::vector<FieldValue> values = pass.run(order, wanted);
  if (largest_set != nullptr) *largest_set = pass.largest_set();
  return values;
}

bool asks_order(const TermGraph& graph, const std::vector<TermId>& order) {
  return std::any_of(order.begin(), order.end(), [&graph](TermId id) {
    const Term& t = graph[id];
    if (t.kind != Kind::operation) return false;
    switch (t.op) {
      case Op::max: case Op::min: case Op::lt: case Op::le: case Op::eq: case Op::ne: return true;
      default: return false;
    }
  });
}

std::string_view cause_text(FieldValue::Cause cause) {
  switch (cause) {
    case Cause::infinities: return "infinity minus or over infinity";
    case Cause::zero_times_infinity: return "zero times infinity";
    case Cause::division_by_zero: return "division by zero";
    case Cause::unknown_sign: return "infinity times a value of unknown sign";
    case Cause::undefined: return "a function outside its domain";
    case Cause::none: break;
  }
  return "nothing";
}

}  // namespace cairn::identity
