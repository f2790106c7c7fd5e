#include "ir/interval.h"

#include <algorithm>

#include <fmt/core.h>

namespace cairn {

namespace {
std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

std::optional<Interval> add(Interval a, Interval b) {
  Interval out;
  if (__builtin_add_overflow(a.lo, b.lo, &out.lo) || __builtin_add_overflow(a.hi, b.hi, &out.hi)) return std::nullopt;
  return out;
}

std::optional<Interval> negate(Interval a) {
  if (a.lo == INT64_MIN || a.hi == INT64_MIN) return std::nullopt;
  return Interval{-a.hi, -a.lo};
}

std::optional<Interval> multiply(Interval a, Interval b) {
  std::int64_t p[4];
  if (__builtin_mul_overflow(a.lo, b.lo, &p[0]) || __builtin_mul_overflow(a.lo, b.hi, &p[1]) ||
      __builtin_mul_overflow(a.hi, b.lo, &p[2]) || __builtin_mul_overflow(a.hi, b.hi, &p[3])) {
    return std::nullopt;
  }
  const auto [lo, hi] = std::minmax_element(p, p + 4);
  return Interval{*lo, *hi};
}

std::optional<Interval> divide(Interval a, Interval b) {
  if ((b.lo <= 0 && b.hi >= 0) || a.lo == INT64_MIN) return std::nullopt;
  const std::int64_t q[4] = {floor_div(a.lo, b.lo), floor_div(a.lo, b.hi), floor_div(a.hi, b.lo), floor_div(a.hi, b.hi)};
  const auto [lo, hi] = std::minmax_element(q, q + 4);
  return Interval{*lo, *hi};
}

// Floor modulo: the result has the divisor's sign.
std::optional<Interval> modulo(Interval a, Interval b) {
  if ((b.lo <= 0 && b.hi >= 0) || a.lo == INT64_MIN) return std::nullopt;
  if (b.lo == b.hi && floor_div(a.lo, b.lo) == floor_div(a.hi, b.lo)) {
    const std::int64_t base = floor_div(a.lo, b.lo) * b.lo;
    return Interval{a.lo - base, a.hi - base};
  }
  if (b.lo > 0) return Interval{0, a.lo >= 0 ? std::min(a.hi, b.hi - 1) : b.hi - 1};
  return Interval{b.lo + 1, 0};
}

std::optional<Interval> power(Interval a, Interval b) {
  if (a.lo < 0 || b.lo < 0 || b.hi > 62) return std::nullopt;
  const auto raise = [](std::int64_t base, std::int64_t times) -> std::optional<std::int64_t> {
    std::int64_t value = 1;
    for (std::int64_t i = 0; i < times; ++i) {
      if (__builtin_mul_overflow(value, base, &value)) return std::nullopt;
    }
    return value;
  };
  const auto hi = raise(a.hi, b.hi);
  if (!hi) return std::nullopt;
  if (a.lo == 0) return Interval{0, std::max<std::int64_t>(*hi, 1)};  // 0**0 is 1
  const auto lo = raise(a.lo, b.lo);
  return Interval{*lo, *hi};
}

std::optional<Interval> exclusive_or(Interval a, Interval b) {
  if (a.lo < 0 || b.lo < 0) return std::nullopt;
  std::uint64_t top = static_cast<std::uint64_t>(std::max(a.hi, b.hi));
  for (int shift = 1; shift < 64; shift *= 2) top |= top >> shift;
  return Interval{0, static_cast<std::int64_t>(top)};
}

Interval hull(Interval a, Interval b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

std::optional<Interval> dtype_range(Dtype dtype) {
  switch (dtype) {
    case Dtype::i64: return Interval{INT64_MIN, INT64_MAX};
    case Dtype::i32: return Interval{INT32_MIN, INT32_MAX};
    case Dtype::i16: return Interval{INT16_MIN, INT16_MAX};
    case Dtype::i8: return Interval{INT8_MIN, INT8_MAX};
    case Dtype::i4: return Interval{-8, 7};
    case Dtype::u64: return Interval{0, INT64_MAX};  // stored values that i64 arithmetic keeps
    case Dtype::u32: return Interval{0, UINT32_MAX};
    case Dtype::u16: return Interval{0, UINT16_MAX};
    case Dtype::u8: return Interval{0, UINT8_MAX};
    case Dtype::u4: return Interval{0, 15};
    case Dtype::boolean: return Interval{0, 1};
    default: return std::nullopt;
  }
}

// A value that a store into dtype keeps as it is.
std::optional<Interval> stored(std::optional<Interval> value, Dtype dtype) {
  const auto range = dtype_range(dtype);
  if (!value || !range || value->lo < range->lo || value->hi > range->hi) return std::nullopt;
  return value;
}
}  // namespace

std::optional<Interval> interval_of(const Expr& expr, const VarRanges& ranges) {
  switch (expr.op) {
    case Op::int_literal: return Interval{expr.int_value, expr.int_value};
    case Op::loop_var:
    case Op::read: {
      const auto it = ranges.find(expr.name);
      if (it == ranges.end()) return std::nullopt;
      return it->second;
    }
    case Op::lt: case Op::le: case Op::gt: case Op::ge: case Op::eq: case Op::ne:
    case Op::logical_and: case Op::logical_or: case Op::logical_not: case Op::isnan:
      return Interval{0, 1};
    case Op::neg: {
      const auto a = interval_of(*expr.args[0], ranges);
      return a ? negate(*a) : std::nullopt;
    }
    case Op::abs: {
      const auto a = interval_of(*expr.args[0], ranges);
      const auto n = a ? negate(*a) : std::nullopt;
      if (!n) return std::nullopt;
      return Interval{std::max<std::int64_t>({a->lo, n->lo, 0}), std::max(a->hi, n->hi)};
    }
    case Op::cast: return stored(interval_of(*expr.args[0], ranges), expr.dtype);
    case Op::select: {
      const auto a = interval_of(*expr.args[1], ranges);
      const auto b = interval_of(*expr.args[2], ranges);
      return a && b ? std::optional(hull(*a, *b)) : std::nullopt;
    }
    default: break;
  }
  if (expr.args.size() != 2) return std::nullopt;
  const auto a = interval_of(*expr.args[0], ranges);
  const auto b = interval_of(*expr.args[1], ranges);
  if (!a || !b) return std::nullopt;
  switch (expr.op) {
    case Op::add: return add(*a, *b);
    case Op::sub: {
      const auto n = negate(*b);
      return n ? add(*a, *n) : std::nullopt;
    }
    case Op::mul: return multiply(*a, *b);
    case Op::floor_div: return divide(*a, *b);
    case Op::mod: return modulo(*a, *b);
    case Op::pow: return power(*a, *b);
    case Op::max: return Interval{std::max(a->lo, b->lo), std::max(a->hi, b->hi)};
    case Op::min: return Interval{std::min(a->lo, b->lo), std::min(a->hi, b->hi)};
    case Op::bit_xor: return exclusive_or(*a, *b);
    default: return std::nullopt;
  }
}

namespace {
// Walks in text order, keeping ranges of loop variables and, by name, of integer temporaries that exactly one
// equation writes with a bounded value (bindings and index tables).
struct ShapeInference {
  const Program& program;
  VarRanges ranges;
  std::map<std::string, int, std::less<>> writers;
  std::map<std::string, Shape, std::less<>> shapes;

  Result<void> walk(const Body& body) {
    for (const StmtPtr& stmt : body) {
      if (stmt->is_equation()) {
        CAIRN_CHECKED(enter(*stmt));
      } else if (stmt->is_loop()) {
        const auto outer = ranges.find(stmt->var);
        const std::optional<Interval> saved = outer == ranges.end() ? std::nullopt : std::optional(outer->second);
        ranges[stmt->var] = {0, std::max<std::int64_t>(stmt->extent - 1, 0)};
        CAIRN_CHECKED(walk(stmt->body));
        if (saved) ranges[stmt->var] = *saved;
        else ranges.erase(stmt->var);
      } else {
        CAIRN_CHECKED(walk(stmt->body));
      }
    }
    return {};
  }

  Result<void> enter(const Stmt& equation) {
    const Tensor* tensor = program.find(equation.tensor);
    if (tensor == nullptr || tensor->role != Role::tmp) return {};
    if (!is_float(tensor->dtype)) note_value(equation, *tensor);
    if (tensor->shape && tensor->declared) return {};
    const auto [it, fresh] = shapes.try_emplace(equation.tensor, Shape(equation.subscripts.size(), 0));
    Shape& shape = it->second;
    if (!fresh && shape.size() != equation.subscripts.size()) {
      return error_at(program, equation.pos, Code::verify,
                      fmt::format("{} has {} subscripts here and {} before; expected one rank", equation.tensor,
                                  equation.subscripts.size(), shape.size()));
    }
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const Expr& subscript = *equation.subscripts[d];
      const auto bounds = interval_of(subscript, ranges);
      if (!bounds || bounds->hi == INT64_MAX) {
        return error_at(program, subscript.pos == kNoPos ? equation.pos : subscript.pos, Code::verify,
                        fmt::format("subscript {} of temporary {} has no bound; declare the temporary's shape", d, equation.tensor));
      }
      shape[d] = std::max(shape[d], std::max<std::int64_t>(bounds->hi + 1, 0));
    }
    return {};
  }

  void count_writers(const Body& body) {
    for (const StmtPtr& stmt : body) {
      if (stmt->is_equation()) ++writers[stmt->tensor];
      count_writers(stmt->body);
    }
  }

  void note_value(const Stmt& equation, const Tensor& tensor) {
    if (writers[equation.tensor] != 1) return;
    const auto value = stored(interval_of(*equation.rhs, ranges), tensor.dtype);
    if (value) ranges[equation.tensor] = *value;
  }
};
}  // namespace

Result<std::map<std::string, Shape, std::less<>>> infer_shapes(const Program& program) {
  ShapeInference inference{program, {}, {}, {}};
  for (const Tensor& tensor : program.tensors()) {
    if (tensor.declared && tensor.shape) inference.shapes[tensor.name] = *tensor.shape;
  }
  inference.count_writers(program.body());
  CAIRN_CHECKED(inference.walk(program.body()));
  return std::move(inference.shapes);
}

}  // namespace cairn
