#include "verify/identity/terms.h"

#include <bit>
#include <cmath>

#include "ir/interp.h"
#include "ir/numbers.h"

namespace cairn::identity {

namespace {
std::uint64_t hash_of(const Term& t) {
  const std::uint64_t head = static_cast<std::uint64_t>(t.kind) | static_cast<std::uint64_t>(t.op) << 8 |
                             static_cast<std::uint64_t>(t.type) << 16 | static_cast<std::uint64_t>(t.format) << 24 | std::uint64_t{t.a} << 32;
  return mix64(head * 0x9ddfea08eb382d69ULL ^ (t.b | std::uint64_t{t.c} << 32));
}
bool is_float_type(ComputeType type) { return type == ComputeType::f32 || type == ComputeType::f64; }
Dtype dtype_of(ComputeType type) { return type == ComputeType::f32 ? Dtype::f32 : Dtype::f64; }
bool commutes(Op op) {
  switch (op) {
    case Op::add: case Op::mul: case Op::max: case Op::min: case Op::eq: case Op::ne: case Op::bit_xor:
    case Op::logical_and: case Op::logical_or: return true;
    default: return false;
  }
}
}  // namespace

bool holds_all(Dtype wide, Dtype narrow) {
  if (wide == narrow || wide == Dtype::f64) return true;
  if (!is_float(wide) || !is_float(narrow)) return false;
  const FloatFormat& w = float_format(wide);
  const FloatFormat& n = float_format(narrow);
  // Least subnormals too.
  return w.precision >= n.precision && w.max >= n.max && w.min_exponent - w.precision <= n.min_exponent - n.precision &&
         (w.has_infinity || !n.has_infinity) && (w.signed_zero || !n.signed_zero);
}

void FlatMap::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& s : old) {
    if (s.key == 0) continue;
    std::size_t i = mix64(s.key) & (slots_.size() - 1);
    while (slots_[i].key != 0) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = s;
  }
}

TermGraph::TermGraph() : slots_(1024) {
  terms_.reserve(512);
  terms_.push_back(Term{});
}

void TermGraph::grow() {
  slots_.assign(slots_.size() * 4, 0);
  for (TermId id = 1; id < terms_.size(); ++id) {
    std::size_t i = hash_of(terms_[id]) & (slots_.size() - 1);
    while (slots_[i] != 0) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = id;
  }
}

TermId TermGraph::make(const Term& t) {
  if (2 * terms_.size() > slots_.size()) grow();
  std::size_t i = hash_of(t) & (slots_.size() - 1);
  while (slots_[i] != 0 && !(terms_[slots_[i]] == t)) i = (i + 1) & (slots_.size() - 1);
  if (slots_[i] == 0) {
    slots_[i] = static_cast<TermId>(terms_.size());
    terms_.push_back(t);
  }
  return slots_[i];
}

TermId TermGraph::constant(std::int64_t value, ComputeType type) {
  const auto bits = static_cast<std::uint64_t>(value);
  return make({Kind::operation, Op::int_literal, type, Dtype::f64, 0, static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)});
}

TermId TermGraph::literal(double number, double decimal, ComputeType type) {
  if (number == 0) number = 0;  // the sign of zero is not compared
  if (decimal == 0) decimal = 0;
  const std::uint64_t key = combine64(std::bit_cast<std::uint64_t>(number), std::bit_cast<std::uint64_t>(decimal)) | 1;
  std::uint32_t& index = literal_ids_.at(key);
  if (index == 0) {
    literals_.push_back({number, decimal});
    index = static_cast<std::uint32_t>(literals_.size());
  }
  return make({Kind::operation, Op::float_literal, type, dtype_of(type), index - 1, 0, 0});
}

TermId TermGraph::input(std::uint32_t state, std::int64_t offset, ComputeType type, Dtype format) {
  const auto bits = static_cast<std::uint64_t>(offset);
  return make({Kind::input, Op::read, type, format, state, static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)});
}

int TermGraph::operands(const Term& t, TermId* out) const {
  switch (t.kind) {
    case Kind::unwritten: case Kind::input: return 0;
    case Kind::operation: break;
    default: out[0] = t.a; return 1;
  }
  if (t.op == Op::int_literal || t.op == Op::float_literal) return 0;
  out[0] = t.a;
  out[1] = t.b;
  out[2] = t.c;
  return op_arity(t.op);
}

Dtype TermGraph::format_of(Op op, ComputeType type, TermId a, TermId b, TermId c) const {
  if (!is_float_type(type)) return Dtype::f64;
  const auto join = [this](TermId x, TermId y) {
    const Dtype p = terms_[x].format, q = terms_[y].format;
    return holds_all(p, q) ? p : holds_all(q, p) ? q : Dtype::f32;
  };
  switch (op) {
    case Op::neg: case Op::abs: return terms_[a].format;
    case Op::max: case Op::min: return join(a, b);
    case Op::select: return join(b, c);
    default: return dtype_of(type);
  }
}

TermId TermGraph::negate(TermId a, ComputeType type) {
  const Term t = terms_[a];
  if (t.kind == Kind::operation && t.op == Op::neg) return t.a;
  if (t.kind == Kind::operation && t.op == Op::float_literal) return literal(-literals_[t.a].number, -literals_[t.a].decimal, type);
  std::int64_t value = 0;
  if (is_integer(a, &value)) return integer(wrap_sub(0, value));
  return make({Kind::operation, Op::neg, type, t.format, a, 0, 0});
}

TermId TermGraph::fold_integer(Op op, ComputeType type, TermId a, TermId b) {
  std::int64_t x = 0, y = 0;
  const bool known = is_integer(a, &x), both = known && (op_arity(op) == 1 || is_integer(b, &y));
  if (both) {
    switch (op) {
      case Op::add: return integer(wrap_add(x, y));
      case Op::mul: return integer(wrap_mul(x, y));
      case Op::floor_div: if (y == 0) break; return integer(floor_div_int(x, y));
      case Op::mod: if (y == 0) break; return integer(mod_int(x, y));
      case Op::pow: if (y < 0) break; return integer(pow_int(x, y));
      case Op::abs: return integer(x < 0 ? wrap_sub(0, x) : x);
      case Op::sign: return integer((x > 0) - (x < 0));
      case Op::max: return integer(x > y ? x : y);
      case Op::min: return integer(x < y ? x : y);
      case Op::bit_xor: return integer(x ^ y);
      case Op::lt: return boolean(x < y);
      case Op::le: return boolean(x <= y);
      case Op::eq: return boolean(x == y);
      case Op::ne: return boolean(x != y);
      case Op::logical_not: return boolean(x == 0);
      case Op::logical_and: return boolean(x != 0 && y != 0);
      case Op::logical_or: return boolean(x != 0 || y != 0);
      default: break;
    }
  }
  const bool other = is_integer(b, &y);
  if (op_arity(op) == 2 && (known || other)) {
    const std::int64_t v = known ? x : y;
    const TermId rest = known ? b : a;
    switch (op) {
      case Op::add: if (v == 0) return rest; break;
      case Op::mul: if (v == 1) return rest; if (v == 0) return integer(0); break;
      case Op::logical_and: return v ? rest : boolean(false);
      case Op::logical_or: return v ? boolean(true) : rest;
      case Op::max: if (v == INT64_MIN) return rest; break;
      case Op::min: if (v == INT64_MAX) return rest; break;
      default: break;
    }
  }
  (void)type;
  return kUnwrittenTerm;
}

TermId TermGraph::fold_literals(Op op, ComputeType type, TermId a, TermId b) {
  const char sign = op == Op::add ? '+' : op == Op::mul ? '*' : op == Op::div ? '/' : 0;
  const Term &s = terms_[a], &t = terms_[b];
  if (sign == 0 || s.kind != Kind::operation || s.op != Op::float_literal || t.kind != Kind::operation || t.op != Op::float_literal) return kUnwrittenTerm;
  const Literal x = literals_[s.a], y = literals_[t.a];
  double r = 0;
  const bool plain = x.number == x.decimal && y.number == y.decimal;
  return plain && is_exact_arithmetic(sign, x.number, y.number, &r) ? literal(r, r, type) : kUnwrittenTerm;
}

TermId TermGraph::fold_float(Op op, ComputeType type, TermId a, TermId b) {
  constexpr double kInf = HUGE_VAL;
  if (const TermId folded = fold_literals(op, type, a, b); folded != kUnwrittenTerm) return folded;
  switch (op) {
    case Op::add:
      if (is_literal(a, 0)) return b;
      if (is_literal(b, 0)) return a;
      break;
    case Op::mul:
      if (is_literal(a, 1)) return b;
      if (is_literal(b, 1)) return a;
      if (is_literal(a, 0) && is_literal(b, 0)) return a;
      if (is_negation(a)) return negate(operation(Op::mul, type, terms_[a].a, b), type);
      if (is_negation(b)) return negate(operation(Op::mul, type, a, terms_[b].a), type);
      if (is_literal(a, -1)) return negate(b, type);
      if (is_literal(b, -1)) return negate(a, type);
      break;
    case Op::div:
      if (is_literal(b, 1)) return a;
      if (const Term& t = terms_[b]; t.kind == Kind::operation && t.op == Op::float_literal) {
        // Over a power of two: times its reciprocal, the same real number before rounding.
        const Literal l = literals_[t.a];
        int exponent = 0;
        if (l.number == l.decimal && std::fabs(std::frexp(l.number, &exponent)) == 0.5 && std::abs(exponent) < 100) {
          return operation(Op::mul, type, a, literal(1 / l.number, 1 / l.number, type));
        }
      }
      if (is_negation(a)) return negate(operation(Op::div, type, terms_[a].a, b), type);
      if (is_negation(b)) return negate(operation(Op::div, type, a, terms_[b].a), type);
      break;
    case Op::max:
      if (is_literal(a, -kInf)) return b;
      if (is_literal(b, -kInf)) return a;
      break;
    case Op::min:
      if (is_literal(a, kInf)) return b;
      if (is_literal(b, kInf)) return a;
      break;
    default: break;
  }
  return kUnwrittenTerm;
}

TermId TermGraph::assume(TermId id, TermId condition, bool holds, int depth) {
  const Term t = terms_[id];
  if (t.kind == Kind::round || t.kind == Kind::chain) {
    const TermId inner = depth == 0 ? t.a : assume(t.a, condition, holds, depth - 1);
    if (inner == t.a) return id;
    return t.kind == Kind::round ? round(inner, t.format, t.type) : chain(inner, t.format, t.b != 0);
  }
  if (t.kind != Kind::operation || t.op == Op::int_literal || t.op == Op::float_literal) return id;
  if (t.op == Op::select && t.a == condition) return assume(holds ? t.b : t.c, condition, holds, depth);
  if (depth == 0) return id;
  TermId args[3] = {0, 0, 0};
  const int n = operands(t, args);
  bool changed = false;
  for (int i = t.op == Op::select ? 1 : 0; i < n; ++i) {
    const TermId was = args[i];
    args[i] = assume(was, condition, holds, depth - 1);
    changed |= args[i] != was;
  }
  return changed ? operation(t.op, t.type, args[0], args[1], args[2]) : id;
}

TermId TermGraph::operation(Op op, ComputeType type, TermId a, TermId b, TermId c) {
  if (op == Op::gt || op == Op::ge) {
    std::swap(a, b);
    op = op == Op::gt ? Op::lt : Op::le;
  }
  if (op == Op::sub) {
    b = negate(b, type);
    op = Op::add;
  }
  if (op == Op::neg) return negate(a, type);
  if (op == Op::select) {
    std::int64_t chosen = 0;
    if (is_integer(a, &chosen)) return chosen != 0 ? b : c;
    b = assume(b, a, true, kAssumeDepth);
    c = assume(c, a, false, kAssumeDepth);
    if (b == c) return b;
  } else {
    if (commutes(op) && a > b) std::swap(a, b);
    if (a == b && (op == Op::max || op == Op::min || op == Op::logical_and || op == Op::logical_or)) return a;
    const bool floats = is_float_type(terms_[a].type);
    const TermId folded = floats ? fold_float(op, type, a, b) : fold_integer(op, type, a, b);
    if (folded != kUnwrittenTerm) return folded;
  }
  return make({Kind::operation, op, type, format_of(op, type, a, b, c), a, b, c});
}

TermId TermGraph::convert(TermId a, ComputeType to) {
  const Term t = terms_[a];
  if (t.type == to || a == kUnwrittenTerm) return a;
  const bool is_constant = t.kind == Kind::operation && t.op == Op::int_literal;
  if (to == ComputeType::boolean) {
    if (is_constant) return boolean(integer_of(t) != 0);
    if (t.kind == Kind::operation && t.op == Op::float_literal) return boolean(literals_[t.a].number != 0);
    return make({Kind::to_bool, Op::read, to, Dtype::f64, a, 0, 0});
  }
  if (to == ComputeType::i64) return is_constant ? integer(integer_of(t)) : make({Kind::to_int, Op::read, to, Dtype::i64, a, 0, 0});
  if (is_float_type(t.type)) {
    if (to == ComputeType::f32) return round(a, Dtype::f32, to);
    if (t.kind == Kind::operation && t.op == Op::float_literal) return literal(literals_[t.a].number, literals_[t.a].decimal, to);
    return a;  // exact: what is computed from it carries its own type
  }
  if (is_constant) {
    const auto v = static_cast<double>(integer_of(t));
    return literal(to == ComputeType::f32 ? static_cast<double>(static_cast<float>(integer_of(t))) : v, v, to);
  }
  return make({Kind::to_float, Op::read, to, dtype_of(to), a, 0, 0});
}

TermId TermGraph::round(TermId a, Dtype dtype, ComputeType type) {
  const Term t = terms_[a];
  if (a == kUnwrittenTerm) return a;
  if (!is_float(dtype)) {
    if (is_float_type(t.type)) {
      if (t.kind == Kind::operation && t.op == Op::float_literal) return integer(to_integer(dtype, literals_[t.a].number));
      return make({Kind::to_int, Op::read, type, dtype, a, 0, 0});
    }
    std::int64_t value = 0;
    if (is_integer(a, &value)) return integer(wrap_integer(dtype, value));
    if (dtype == Dtype::i64 || dtype == Dtype::u64) return a;
    return make({Kind::wrap, Op::read, type, dtype, a, 0, 0});
  }
  if (t.kind == Kind::chain && t.format == dtype) return t.a;   // an update that adds nothing: what it found, rounded
  if (holds_all(dtype, t.format)) return a;
  if (t.kind == Kind::operation && t.op == Op::float_literal) {
    const double number = literals_[t.a].number;
    if (std::isnan(number) || round_to(dtype, number) == number) return a;
  }
  // Rounding keeps the order of values.
  if (t.kind == Kind::operation && (t.op == Op::max || t.op == Op::min)) return operation(t.op, t.type, round(t.a, dtype, type), round(t.b, dtype, type));
  if (t.kind == Kind::operation && t.op == Op::select) {
    // A choice that is rounded already on one side: the rounding of the other.
    const TermId yes = round(t.b, dtype, type), no = round(t.c, dtype, type);
    if (yes == t.b || no == t.c) return operation(Op::select, t.type, t.a, yes, no);
  }
  return make({Kind::round, Op::read, type, dtype, a, 0, 0});
}

TermId TermGraph::chain(TermId a, Dtype dtype, bool joined) {
  const Term& t = terms_[a];
  if (t.kind != Kind::round || t.format != dtype) return a;
  return make({Kind::chain, Op::read, t.type, dtype, a, joined ? 1u : 0u, 0});
}

}  // namespace cairn::identity
