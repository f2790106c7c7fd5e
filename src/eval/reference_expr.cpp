#include "eval/reference_expr.h"

#include <cmath>

#include <fmt/core.h>

#include "base/check.h"
#include "base/hash.h"

namespace cairn {

namespace {
bool is_float_type(ComputeType type) { return type == ComputeType::f32 || type == ComputeType::f64; }

// Significand bits with the hidden one, least normal exponent, largest value, whether overflow gives infinity.
struct Format {
  int precision, min_exponent;
  double max;
  int infinite;
};
Format format_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::tf32: return {11, -126, 0x1.ffcp127, 1};
    case Dtype::f16: return {11, -14, 65504, 1};
    case Dtype::bf16: return {8, -126, 0x1.fep127, 1};
    case Dtype::f8e4m3fn: return {4, -6, 448, 0};
    case Dtype::f8e4m3fnuz: return {4, -7, 240, 0};
    case Dtype::f8e5m2: return {3, -14, 57344, 1};
    case Dtype::f8e5m2fnuz: return {3, -15, 57344, 0};
    default: return {24, -126, 0x1.fffffep127, 1};
  }
}

std::string float_to_integer(Dtype dtype, const std::string& x) {
  switch (dtype) {
    case Dtype::u64: return fmt::format("to_u64({})", x);
    case Dtype::i64: return fmt::format("to_int({}, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX)", x);
    case Dtype::i32: return fmt::format("to_int({}, -0x1p31, 0x1.fffffffcp30, INT32_MIN, INT32_MAX)", x);
    case Dtype::i16: return fmt::format("to_int({}, -32768, 32767, -32768, 32767)", x);
    case Dtype::i8: return fmt::format("to_int({}, -128, 127, -128, 127)", x);
    case Dtype::i4: return fmt::format("to_int({}, -8, 7, -8, 7)", x);
    case Dtype::u32: return fmt::format("to_int({}, 0, 0x1.fffffffep31, 0, UINT32_MAX)", x);
    case Dtype::u16: return fmt::format("to_int({}, 0, 65535, 0, 65535)", x);
    case Dtype::u8: return fmt::format("to_int({}, 0, 255, 0, 255)", x);
    default: return fmt::format("to_int({}, 0, 15, 0, 15)", x);
  }
}

std::string wrapped(Dtype dtype, const std::string& x) {
  switch (dtype) {
    case Dtype::i32: return fmt::format("(i64)(int32_t)({})", x);
    case Dtype::i16: return fmt::format("(i64)(int16_t)({})", x);
    case Dtype::i8: return fmt::format("(i64)(int8_t)({})", x);
    case Dtype::i4: return fmt::format("((i64)((u64)({}) << 60) >> 60)", x);
    case Dtype::u32: return fmt::format("(i64)(uint32_t)({})", x);
    case Dtype::u16: return fmt::format("(i64)(uint16_t)({})", x);
    case Dtype::u8: return fmt::format("(i64)(uint8_t)({})", x);
    case Dtype::u4: return fmt::format("(({}) & 15)", x);
    case Dtype::boolean: return fmt::format("(i64)(({}) != 0)", x);
    default: return x;
  }
}

// A product or a square, which is rounded unless the run fuses it into the sum around.
bool is_product(const TypedExpr& e) {
  if (e.form != TypedExpr::Form::node || !is_float_type(e.type)) return false;
  if (e.op == Op::mul) return true;
  return e.op == Op::pow && e.args[1]->form == TypedExpr::Form::node && e.args[1]->op == Op::float_literal && e.args[1]->number == 2;
}

// "R32(x, place)" as "P32(x, place)".
std::string as_product(std::string rounded) {
  CAIRN_CHECK(rounded.size() > 1 && rounded[0] == 'R');
  rounded[0] = 'P';
  return rounded;
}

bool reads_data(const TypedExpr& e) {
  if (e.form == TypedExpr::Form::node && e.op == Op::read) return true;
  for (const TypedPtr& a : e.args) {
    if (reads_data(*a)) return true;
  }
  return false;
}
}  // namespace

std::string print_double(double value) {
  if (std::isnan(value)) return "(double)NAN";
  if (std::isinf(value)) return value > 0 ? "(double)INFINITY" : "(-(double)INFINITY)";
  return fmt::format("({:a})", value);
}

std::string ReferenceExpr::rounded(ComputeType type, const std::string& value) {
  const std::uint64_t place = mix64(++place_);
  return fmt::format("{}({}, {:#x}ull)", type == ComputeType::f64 ? "R64" : "R32", value, place);
}

std::string ReferenceExpr::to_format(Dtype dtype, const std::string& value) {
  if (dtype == Dtype::f64) return value;
  if (dtype == Dtype::f32) return rounded(ComputeType::f32, value);
  const Format f = format_of(dtype);
  return fmt::format("RN({}, {:#x}ull, {}, {}, {}, {})", value, mix64(++place_), f.precision, f.min_exponent,
                     print_double(f.max), f.infinite);
}

std::string ReferenceExpr::stored(Dtype dtype, const std::string& value) {
  // A value of compute type f32 is rounded to f32 already.
  if (is_float(dtype)) return dtype == Dtype::f32 ? value : to_format(dtype, value);
  return wrapped(dtype, value);
}

std::string ReferenceExpr::offset(std::string_view tensor, const std::vector<TypedPtr>& subscripts) {
  const Shape& shape = shapes_.find(tensor)->second;
  std::string text = "0";
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    std::string index = print(*subscripts[d]);
    if (reads_data(*subscripts[d])) index = fmt::format("checked({}, {})", index, shape[d]);
    text = d == 0 ? index : fmt::format("({})*{}+{}", text, shape[d], index);
  }
  return text;
}

std::string ReferenceExpr::print(const TypedExpr& e) {
  if (e.form == TypedExpr::Form::node) return node(e);
  const TypedExpr& arg = *e.args[0];
  const std::string x = print(arg);
  if (e.form == TypedExpr::Form::convert) {
    if (e.type == ComputeType::boolean) return fmt::format("(({}) != 0)", x);
    if (e.type == ComputeType::i64) return fmt::format("(i64)({})", x);
    if (arg.type == ComputeType::i64) return rounded(e.type, fmt::format("(double)({})", x));
    if (arg.type == ComputeType::boolean) return fmt::format("(double)({})", x);
    return e.type == ComputeType::f32 && arg.type == ComputeType::f64 ? rounded(ComputeType::f32, x) : x;
  }
  if (e.storage == Dtype::boolean) return fmt::format("(({}) != 0)", x);
  if (is_float_type(e.type)) return to_format(e.storage, x);
  return is_float_type(arg.type) ? float_to_integer(e.storage, x) : wrapped(e.storage, x);
}

std::string ReferenceExpr::node(const TypedExpr& e) {
  switch (e.op) {
    case Op::int_literal: return e.integer == INT64_MIN ? "INT64_MIN" : fmt::format("INT64_C({})", e.integer);
    case Op::float_literal: {
      const double exact = e.expr->op == Op::float_literal ? e.expr->float_value
                           : e.expr->op == Op::int_literal ? static_cast<double>(e.expr->int_value) : e.number;
      return fmt::format("LIT({}, {})", print_double(exact), print_double(e.number));
    }
    case Op::loop_var: return "v_" + e.expr->name;
    case Op::read: {
      if (e.expr == self_ && !self_text_.empty()) return self_text_;
      const std::string place = fmt::format("t_{}[{}]", e.expr->name, offset(e.expr->name, e.args));
      return e.type == ComputeType::boolean ? fmt::format("({} != 0)", place) : place;
    }
    case Op::logical_not: return fmt::format("!({})", print(*e.args[0]));
    case Op::select:
      return fmt::format("(({}) ? ({}) : ({}))", print(*e.args[0]), print(*e.args[1]), print(*e.args[2]));
    default: break;
  }
  const std::string a = print(*e.args[0]);
  const bool is_square = e.op == Op::mul && e.args[0] == e.args[1];
  const std::string b = e.args.size() > 1 && !is_square ? print(*e.args[1]) : "";
  switch (e.op) {  // conditions
    case Op::lt: return fmt::format("({} < {})", a, b);
    case Op::le: return fmt::format("({} <= {})", a, b);
    case Op::gt: return fmt::format("({} > {})", a, b);
    case Op::ge: return fmt::format("({} >= {})", a, b);
    case Op::eq: return fmt::format("({} == {})", a, b);
    case Op::ne: return fmt::format("({} != {})", a, b);
    case Op::logical_and: return fmt::format("(({}) && ({}))", a, b);
    case Op::logical_or: return fmt::format("(({}) || ({}))", a, b);
    case Op::isnan: return fmt::format("isnan({})", a);
    default: break;
  }
  if (e.type == ComputeType::i64) {
    switch (e.op) {
      case Op::neg: return fmt::format("ineg({})", a);
      case Op::abs: return fmt::format("iabs({})", a);
      case Op::sign: return fmt::format("isign({})", a);
      case Op::add: return fmt::format("iadd({}, {})", a, b);
      case Op::sub: return fmt::format("isub({}, {})", a, b);
      case Op::mul: return is_square ? fmt::format("isquare({})", a) : fmt::format("imul({}, {})", a, b);
      case Op::floor_div: return fmt::format("idiv({}, {})", a, b);
      case Op::mod: return fmt::format("imod({}, {})", a, b);
      case Op::pow: return fmt::format("ipow({}, {})", a, b);
      case Op::max: return fmt::format("imax({}, {})", a, b);
      case Op::min: return fmt::format("imin({}, {})", a, b);
      case Op::bit_xor: return fmt::format("(({}) ^ ({}))", a, b);
      default: CAIRN_CHECK_MSG(false, "integer operation");
    }
  }
  switch (e.op) {
    // Exact operations.
    case Op::neg: return fmt::format("(-({}))", a);
    case Op::abs: return fmt::format("fabs({})", a);
    case Op::floor: return fmt::format("floor({})", a);
    case Op::ceil: return fmt::format("ceil({})", a);
    case Op::round: return fmt::format("nearbyint({})", a);
    case Op::sign: return fmt::format("sign_of({})", a);
    case Op::max: return fmt::format("max_nan({}, {})", a, b);
    case Op::min: return fmt::format("min_nan({}, {})", a, b);
    // Rounded ones.
    case Op::add: case Op::sub: {
      // Compilers contract one product of a sum; the fused naive run does as they do.
      const bool left = is_product(*e.args[0]), right = !left && is_product(*e.args[1]);
      return rounded(e.type, fmt::format("({} {} {})", left ? as_product(a) : a, e.op == Op::add ? '+' : '-', right ? as_product(b) : b));
    }
    case Op::mul: return rounded(e.type, is_square ? fmt::format("square({})", a) : fmt::format("({} * {})", a, b));
    case Op::div: return rounded(e.type, fmt::format("({} / {})", a, b));
    case Op::floor_div: return rounded(e.type, fmt::format("floor_div_float({}, {})", a, b));
    case Op::mod: return rounded(e.type, fmt::format("mod_float({}, {})", a, b));
    case Op::pow: return rounded(e.type, fmt::format("pow({}, {})", a, b));
    case Op::rsqrt:
      // Two roundings, or one instruction that is off by more than half a unit.
      if (e.type == ComputeType::f64) return rounded(e.type, fmt::format("(1 / sqrt({}))", a));
      return rounded(e.type, fmt::format("near(1 / sqrt({}), {:#x}ull)", a, mix64(++place_)));
    case Op::exp: case Op::log: case Op::sqrt: case Op::erf: case Op::tanh: case Op::sin: case Op::cos:
      if (e.type == ComputeType::f64) return rounded(e.type, fmt::format("{}({})", op_name(e.op), a));
      return rounded(e.type, fmt::format("near({}({}), {:#x}ull)", op_name(e.op), a, mix64(++place_)));
    default: break;
  }
  CAIRN_CHECK_MSG(false, "float operation");
  return {};
}

}  // namespace cairn
