#include "analysis/algebra/bounds.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "ir/self_update.h"
#include "ir/typing.h"
#include "ir/walk.h"

namespace cairn::algebra {
namespace {

constexpr double kInfinity = __builtin_inf();
constexpr unsigned kMaxDepth = 40;   // of nested expressions, those of the tensors' definitions included

double product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

struct End {
  double value;
  bool open;
};

Bounds bounds_of_integers(Dtype dtype) {
  switch (dtype) {
    case Dtype::boolean: return closed(0, 1);
    case Dtype::u4: return closed(0, 15);
    case Dtype::i4: return closed(-8, 7);
    case Dtype::u8: return closed(0, 255);
    case Dtype::i8: return closed(-128, 127);
    case Dtype::u16: return closed(0, 65535);
    case Dtype::i16: return closed(-32768, 32767);
    case Dtype::u32: return closed(0, 4294967295.0);
    case Dtype::i32: return closed(-2147483648.0, 2147483647.0);
    default: return closed(-9.3e18, 9.3e18);
  }
}

Bounds meet_known(const Program& program, Bounds b, const ExprPtr& e, const Place& place) {
  for (const ExprPtr& known : place.known) {
    if (!is_comparison(known->op) || known->op == Op::ne) continue;
    for (const bool turned : {false, true}) {
      const ExprPtr& side = known->args[turned ? 1 : 0];
      const Expr& other = *known->args[turned ? 0 : 1];
      if ((other.op != Op::int_literal && other.op != Op::float_literal) || !same_value(side, e)) continue;
      double v = other.op == Op::int_literal ? static_cast<double>(other.int_value) : other.float_value;
      b.may_be_nan = false;
      const bool upper = turned ? (known->op == Op::gt || known->op == Op::ge) : (known->op == Op::lt || known->op == Op::le);
      bool open = known->op == Op::lt || known->op == Op::gt;
      if (open && v == std::floor(v) && is_integer_expr(program, *e)) {
        v += upper ? -1 : 1;
        open = false;
      }
      Bounds limit;
      limit.may_be_nan = false;
      if (known->op == Op::eq || upper) {
        limit.hi = v;
        limit.hi_open = open;
      }
      if (known->op == Op::eq || !upper) {
        limit.lo = v;
        limit.lo_open = open;
      }
      b = meet(b, limit);
    }
  }
  return b;
}

double log_of(double x) { return x <= 0 ? -kInfinity : std::log(x); }
double sqrt_of(double x) { return x <= 0 ? 0 : std::sqrt(x); }

}  // namespace

double largest_finite(ComputeType type) { return type == ComputeType::f64 ? DBL_MAX : FLT_MAX; }
double smallest_normal(ComputeType type) { return type == ComputeType::f64 ? DBL_MIN : FLT_MIN; }

Bounds point(double value) { return closed(value, value); }
Bounds closed(double lo, double hi) { return {lo, hi, false, false, std::isnan(lo) || std::isnan(hi)}; }
bool is_positive(const Bounds& a) { return a.lo > 0 || (a.lo == 0 && a.lo_open); }

Bounds add(const Bounds& a, const Bounds& b) {
  Bounds out;
  out.lo = a.lo == -kInfinity || b.lo == -kInfinity ? -kInfinity : a.lo + b.lo;
  out.hi = a.hi == kInfinity || b.hi == kInfinity ? kInfinity : a.hi + b.hi;
  out.lo_open = a.lo_open || b.lo_open;
  out.hi_open = a.hi_open || b.hi_open;
  const bool clash = (a.hi == kInfinity && b.lo == -kInfinity) || (a.lo == -kInfinity && b.hi == kInfinity);
  out.may_be_nan = a.may_be_nan || b.may_be_nan || clash;
  return out;
}

Bounds negate(const Bounds& a) { return {-a.hi, -a.lo, a.hi_open, a.lo_open, a.may_be_nan}; }

Bounds multiply(const Bounds& a, const Bounds& b) {
  const End as[] = {{a.lo, a.lo_open}, {a.hi, a.hi_open}}, bs[] = {{b.lo, b.lo_open}, {b.hi, b.hi_open}};
  Bounds out = closed(kInfinity, -kInfinity);
  for (const End& x : as) {
    for (const End& y : bs) {
      const double p = product(x.value, y.value);
      const bool open = (x.open && (x.value != 0 || !(y.value == 0 && !y.open))) || (y.open && (y.value != 0 || !(x.value == 0 && !x.open)));
      if (p < out.lo || (p == out.lo && !open)) out.lo_open = open;
      if (p > out.hi || (p == out.hi && !open)) out.hi_open = open;
      out.lo = std::min(out.lo, p);
      out.hi = std::max(out.hi, p);
    }
  }
  // An end that only zero meets is met from inside too: [0,1]*(0,1) holds 0.
  if (out.lo == 0 && (!(is_positive(a) || is_positive(negate(a))) || !(is_positive(b) || is_positive(negate(b))))) out.lo_open = false;
  if (out.hi == 0 && (!(is_positive(a) || is_positive(negate(a))) || !(is_positive(b) || is_positive(negate(b))))) out.hi_open = false;
  const bool infinite = std::isinf(a.lo) || std::isinf(a.hi) || std::isinf(b.lo) || std::isinf(b.hi);
  out.may_be_nan = a.may_be_nan || b.may_be_nan || (infinite && ((a.lo <= 0 && a.hi >= 0) || (b.lo <= 0 && b.hi >= 0)));
  return out;
}

Bounds invert(const Bounds& a) {
  if (is_positive(a)) {
    Bounds out = closed(a.hi == kInfinity ? 0 : 1 / a.hi, a.lo == 0 ? kInfinity : 1 / a.lo);
    out.lo_open = a.hi_open || a.hi == kInfinity;
    out.hi_open = a.lo_open;
    out.may_be_nan = a.may_be_nan;
    return out;
  }
  if (is_positive(negate(a))) return negate(invert(negate(a)));
  return {};
}

Bounds hull(const Bounds& a, const Bounds& b) {
  Bounds out;
  out.lo = std::min(a.lo, b.lo);
  out.hi = std::max(a.hi, b.hi);
  out.lo_open = a.lo == b.lo ? a.lo_open && b.lo_open : a.lo < b.lo ? a.lo_open : b.lo_open;
  out.hi_open = a.hi == b.hi ? a.hi_open && b.hi_open : a.hi > b.hi ? a.hi_open : b.hi_open;
  out.may_be_nan = a.may_be_nan || b.may_be_nan;
  return out;
}

Bounds meet(const Bounds& a, const Bounds& b) {
  Bounds out;
  out.lo = std::max(a.lo, b.lo);
  out.hi = std::min(a.hi, b.hi);
  out.lo_open = a.lo == b.lo ? a.lo_open || b.lo_open : a.lo > b.lo ? a.lo_open : b.lo_open;
  out.hi_open = a.hi == b.hi ? a.hi_open || b.hi_open : a.hi < b.hi ? a.hi_open : b.hi_open;
  out.may_be_nan = a.may_be_nan && b.may_be_nan;
  return out;
}

Bounds square(const Bounds& a) {
  const Bounds raw = multiply(a, a);
  Bounds out = closed(0, raw.hi);
  if (is_positive(a) || is_positive(negate(a))) {
    out.lo = std::min(a.lo * a.lo, a.hi * a.hi);
    out.lo_open = true;
    if (out.lo > 0) out.lo_open = raw.lo_open;
  }
  out.hi_open = raw.hi_open;
  out.may_be_nan = a.may_be_nan;
  return out;
}

Bounds apply_increasing(const Bounds& a, double (*fn)(double)) {
  Bounds out = closed(fn(a.lo), fn(a.hi));
  out.lo_open = a.lo_open;
  out.hi_open = a.hi_open;
  out.may_be_nan = a.may_be_nan;
  return out;
}

Bounds Prover::bounds_of(const ExprPtr& e, const Place& place) {
  if (depth_ >= kMaxDepth) return {};
  ++depth_;
  const Bounds b = meet_known(program_, bounds_of_node(e, place), e, place);
  --depth_;
  return b;
}

Bounds Prover::bounds_of_sum(const ExprPtr& e, const Place& place) {
  std::vector<Leaf> leaves = operands_of(e, ChainKind::sum);
  Bounds total = point(0);
  std::vector<bool> used(leaves.size(), false);
  const auto pair_up = [&](const auto& fits, const Bounds& gives) {
    for (std::size_t p = 0; p < leaves.size(); ++p) {
      for (std::size_t q = 0; q < leaves.size() && !used[p]; ++q) {
        if (used[q] || leaves[p].inverse || !leaves[q].inverse || !fits(leaves[p].expr, leaves[q].expr)) continue;
        used[p] = used[q] = true;
        total = add(total, meet(gives, add(bounds_of(leaves[p].expr, place), negate(bounds_of(leaves[q].expr, place)))));
      }
    }
  };
  Bounds zero = point(0), below, above;
  zero.may_be_nan = true;
  below.hi = 0;
  above.lo = 0;
  pair_up([](const ExprPtr& p, const ExprPtr& q) { return same_value(p, q); }, zero);
  pair_up([&](const ExprPtr& p, const ExprPtr& q) { return is_max_over(q, p, place); }, below);
  pair_up([&](const ExprPtr& p, const ExprPtr& q) { return is_max_over(p, q, place); }, above);
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    if (used[k]) continue;
    const Bounds b = bounds_of(leaves[k].expr, place);
    total = add(total, leaves[k].inverse ? negate(b) : b);
  }
  return total;
}

Bounds Prover::bounds_of_product(const ExprPtr& e, const Place& place) {
  const std::vector<Leaf> leaves = operands_of(e, ChainKind::product);
  Bounds total = point(1);
  std::vector<bool> used(leaves.size(), false);
  for (std::size_t p = 0; p < leaves.size(); ++p) {
    if (used[p]) continue;
    Bounds b = bounds_of(leaves[p].expr, place);
    for (std::size_t q = p + 1; q < leaves.size(); ++q) {
      if (used[q] || leaves[q].inverse != leaves[p].inverse || !same_value(leaves[p].expr, leaves[q].expr)) continue;
      used[q] = true;
      b = square(b);
      break;
    }
    total = multiply(total, leaves[p].inverse ? invert(b) : b);
  }
  return total;
}

Bounds Prover::bounds_of_node(const ExprPtr& e, const Place& place) {
  const auto arg = [&](std::size_t k) { return bounds_of(e->args[k], place); };
  switch (e->op) {
    case Op::int_literal: return point(static_cast<double>(e->int_value));
    case Op::float_literal: return std::isnan(e->float_value) ? Bounds{} : point(e->float_value);
    case Op::loop_var:
      for (const LoopRange& loop : place.loops) {
        if (loop.var == e->name) return closed(0, static_cast<double>(loop.extent - 1));
      }
      return {};
    case Op::read: return bounds_of_tensor(e->name);
    case Op::add: case Op::sub: case Op::neg: return bounds_of_sum(e, place);
    case Op::mul: case Op::div: return bounds_of_product(e, place);
    case Op::exp: {
      Bounds b = apply_increasing(arg(0), [](double x) { return std::exp(x); });
      b.lo_open = b.lo_open || b.lo == 0;
      return b;
    }
    case Op::log: {
      const Bounds a = arg(0);
      Bounds b = apply_increasing(a, log_of);
      b.may_be_nan = a.may_be_nan || a.lo < 0;
      return b;
    }
    case Op::sqrt: case Op::rsqrt: {
      const Bounds a = arg(0);
      Bounds b = apply_increasing(a, sqrt_of);
      b.lo_open = is_positive(a) && (a.lo_open || b.lo == 0);
      b.may_be_nan = a.may_be_nan || a.lo < 0;
      if (e->op == Op::sqrt) return b;
      b.lo_open = b.lo_open || b.lo == 0;   // rsqrt(0) is inf, still positive
      return invert(b);
    }
    case Op::abs: {
      const Bounds a = arg(0), n = negate(a);
      if (a.lo >= 0) return a;
      if (n.lo >= 0) return n;
      Bounds b = hull(a, n);
      b.lo = 0;
      b.lo_open = false;
      return b;
    }
    case Op::tanh: return apply_increasing(arg(0), [](double x) { return std::tanh(x); });
    case Op::erf: return apply_increasing(arg(0), [](double x) { return std::erf(x); });
    case Op::floor: return apply_increasing(arg(0), [](double x) { return std::floor(x); });
    case Op::ceil: return apply_increasing(arg(0), [](double x) { return std::ceil(x); });
    case Op::round: return apply_increasing(arg(0), [](double x) { return std::nearbyint(x); });
    case Op::sin: case Op::cos: {
      Bounds b = closed(-1, 1);
      b.may_be_nan = true;
      return b;
    }
    case Op::sign: return closed(-1, 1);
    case Op::max: case Op::min: {
      const Bounds a = e->op == Op::max ? arg(0) : negate(arg(0)), b = e->op == Op::max ? arg(1) : negate(arg(1));
      Bounds out = closed(std::max(a.lo, b.lo), std::max(a.hi, b.hi));
      out.lo_open = a.lo == b.lo ? a.lo_open || b.lo_open : a.lo > b.lo ? a.lo_open : b.lo_open;
      out.hi_open = a.hi == b.hi ? a.hi_open && b.hi_open : a.hi > b.hi ? a.hi_open : b.hi_open;
      out.may_be_nan = a.may_be_nan || b.may_be_nan;
      return e->op == Op::max ? out : negate(out);
    }
    case Op::pow: {
      const Bounds base = arg(0), exponent = arg(1);
      const bool even = exponent.lo == exponent.hi && std::fmod(exponent.lo, 2) == 0 && exponent.lo > 0;
      if (even && exponent.lo == 2) return square(base);
      Bounds out;
      if (even || base.lo >= 0) out.lo = 0;
      out.lo_open = is_positive(base);
      return out;
    }
    case Op::select: return hull(arg(1), arg(2));
    case Op::cast: return is_float(e->dtype) ? Bounds{arg(0).lo >= 0 ? 0 : -kInfinity, arg(0).hi <= 0 ? 0 : kInfinity, is_positive(arg(0)), false, true}
                                             : bounds_of_integers(e->dtype);
    case Op::mod: {
      const Bounds b = arg(1);
      if (b.lo > 0) return closed(0, b.hi);
      return {};
    }
    case Op::floor_div: {
      const Bounds a = arg(0), b = arg(1);
      if (a.lo >= 0 && b.lo >= 1) return closed(0, a.hi);
      return {};
    }
    default: return is_comparison(e->op) ? closed(0, 1) : Bounds{};
  }
}

Bounds Prover::bounds_of_tensor(const std::string& name) {
  const Tensor* tensor = program_.find(name);
  if (!tensor) return {};
  if (!is_float(tensor->dtype)) return bounds_of_integers(tensor->dtype);
  if (tensor->role != Role::tmp && tensor->role != Role::out) return {};
  const auto found = tensors_.find(name);
  if (found != tensors_.end()) return found->second;
  tensors_[name] = {};   // what a definition that reads the tensor itself sees
  Bounds b = bounds_of_writes(name);
  if (b.lo > 0) b.lo_open = true;
  // A store rounds: what is positive may become 0, what is large infinite.
  const bool positive = is_positive(b);
  if (tensor->dtype != Dtype::f64 && positive) {
    b.lo = b.lo > 1e-3 ? b.lo * 0.99 : 0;
    b.lo_open = true;
  }
  if (tensor->dtype != Dtype::f64 && b.hi > 100) b.hi = kInfinity;
  tensors_[name] = b;
  return b;
}

Bounds Prover::bounds_of_writes(const std::string& name) {
  Bounds all = closed(kInfinity, -kInfinity);
  bool any = false, scaled = false;
  for (const EquationRef& ref : equations_) {
    if (ref.equation->tensor != name) continue;
    const Place place = place_of(program_, ref.path);
    const std::optional<SelfUpdate> update = match_self_update(*ref.equation);
    if (!update) {
      const Bounds b = bounds_of(ref.equation->rhs, place);
      all = any ? hull(all, b) : b;
      any = true;
      continue;
    }
    // The neutral start and what one update adds; sums and products only keep signs.
    Bounds one = update->op == UpdateOp::mul ? point(1) : point(0);
    for (const SelfUpdate::Operand& operand : update->others) {
      const Bounds b = bounds_of(operand.expr, place);
      switch (update->op) {
        case UpdateOp::add: one = add(one, operand.inverse ? negate(b) : b); break;
        case UpdateOp::mul: one = multiply(one, operand.inverse ? invert(b) : b); break;
        default: one = b; break;
      }
    }
    Bounds grown = one;
    if (update->op == UpdateOp::add) {
      grown.hi = one.hi <= 0 ? one.hi : kInfinity;
      grown.lo = one.lo >= 0 ? one.lo : -kInfinity;
    } else if (update->op == UpdateOp::mul) {
      grown = {};
      scaled = true;
      if (one.lo >= 0) grown.lo = 0;
      grown.lo_open = is_positive(one);
    }
    grown.may_be_nan = true;
    all = any ? hull(all, grown) : grown;
    any = true;
  }
  // A product keeps the sign of what it started from only if that is not negative.
  return any && !(scaled && all.lo < 0) ? all : Bounds{};
}

}  // namespace cairn::algebra
