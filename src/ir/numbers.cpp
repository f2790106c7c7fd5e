#include "ir/numbers.h"

#include <array>
#include <limits>

#include "base/check.h"
#include "ir/interp.h"

namespace cairn {

namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// In the order of Dtype. tf32 has f32's range; the 8-bit formats are those of PyTorch (no infinity in fn and
// fnuz: overflow gives NaN).
constexpr std::array<FloatFormat, 9> kFormats{{
    {53, -1022, 0x1.fffffffffffffp1023, true, true},
    {24, -126, 0x1.fffffep127, true, true},
    {11, -126, 0x1.ffcp127, true, true},
    {11, -14, 65504, true, true},
    {8, -126, 0x1.fep127, true, true},
    {4, -6, 448, false, true},
    {4, -7, 240, false, false},
    {3, -14, 57344, true, true},
    {3, -15, 57344, false, false},
}};

struct IntRange {
  std::int64_t lo, hi;
};
IntRange integer_range(Dtype dtype) {
  switch (dtype) {
    case Dtype::i32: return {INT32_MIN, INT32_MAX};
    case Dtype::i16: return {INT16_MIN, INT16_MAX};
    case Dtype::i8: return {INT8_MIN, INT8_MAX};
    case Dtype::i4: return {-8, 7};
    case Dtype::u32: return {0, UINT32_MAX};
    case Dtype::u16: return {0, UINT16_MAX};
    case Dtype::u8: return {0, UINT8_MAX};
    case Dtype::u4: return {0, 15};
    case Dtype::boolean: return {0, 1};
    default: return {INT64_MIN, INT64_MAX};
  }
}

double finish(const FloatFormat& format, double rounded) {
  if (std::fabs(rounded) > format.max) return format.has_infinity ? std::copysign(kInf, rounded) : kNan;
  if (rounded == 0 && !format.signed_zero) return 0;
  return rounded;
}
}  // namespace

const FloatFormat& float_format(Dtype dtype) {
  CAIRN_CHECK(is_float(dtype));
  return kFormats[static_cast<std::size_t>(dtype)];
}

double round_to(Dtype dtype, double value) {
  if (dtype == Dtype::f64) return value;
  if (dtype == Dtype::f32) return static_cast<double>(static_cast<float>(value));
  if (dtype == Dtype::boolean) return value != 0 ? 1 : 0;
  if (!is_float(dtype)) return static_cast<double>(to_integer(dtype, value));
  const FloatFormat& format = float_format(dtype);
  if (std::isnan(value)) return value;
  if (std::isinf(value)) return finish(format, value);
  if (std::fabs(value) >= 0x1p200) return finish(format, value);  // the anchor would overflow
  return finish(format, round_to_precision(value, format.precision, format.min_exponent));
}

double round_directed(Dtype dtype, double value, bool up) {
  const double nearest = round_to(dtype, value);
  if (dtype == Dtype::f64 || nearest == value || !std::isfinite(value) || !std::isfinite(nearest)) return nearest;
  if ((nearest > value) == up) return nearest;
  const FloatFormat& format = float_format(dtype);
  int exponent = std::ilogb(value);
  if (exponent < format.min_exponent) exponent = format.min_exponent;
  const double unit = std::ldexp(1.0, exponent - format.precision + 1);
  const double other = up ? std::ceil(value / unit) * unit : std::floor(value / unit) * unit;
  return std::fabs(other) > format.max ? nearest : other;
}

std::int64_t to_integer(Dtype dtype, double value) {
  if (std::isnan(value)) return 0;
  if (dtype == Dtype::boolean) return value != 0;
  if (dtype == Dtype::u64) {
    if (value <= 0) return 0;
    if (value >= 0x1p64) return -1;  // all ones
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value));
  }
  const IntRange range = integer_range(dtype);
  if (value <= static_cast<double>(range.lo)) return range.lo;
  if (value >= static_cast<double>(range.hi)) return range.hi;
  return static_cast<std::int64_t>(value);
}

std::int64_t wrap_integer(Dtype dtype, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  switch (dtype) {
    case Dtype::i32: return static_cast<std::int32_t>(bits);
    case Dtype::i16: return static_cast<std::int16_t>(bits);
    case Dtype::i8: return static_cast<std::int8_t>(bits);
    case Dtype::i4: return static_cast<std::int64_t>(bits << 60) >> 60;
    case Dtype::u32: return static_cast<std::int64_t>(bits & UINT32_MAX);
    case Dtype::u16: return static_cast<std::int64_t>(bits & UINT16_MAX);
    case Dtype::u8: return static_cast<std::int64_t>(bits & UINT8_MAX);
    case Dtype::u4: return static_cast<std::int64_t>(bits & 15);
    case Dtype::boolean: return value != 0;
    default: return value;
  }
}

std::int64_t pow_int(std::int64_t a, std::int64_t b) {
  std::int64_t result = 1;
  for (; b > 0; b >>= 1) {
    if (b & 1) result = wrap_mul(result, a);
    a = wrap_mul(a, a);
  }
  return result;
}

bool is_exact_arithmetic(char op, double a, double b, double* result) {
  constexpr double kLeast = 0x1p-126, kMost = 0x1.fffffep127;
  const auto held = [](double x) { return std::fabs(x) <= kMost && static_cast<double>(static_cast<float>(x)) == x; };
  if (!held(a) || !held(b)) return false;
  // Products of two significands of 24 bits are exact in f64; the error of a sum is found by Knuth's TwoSum.
  double r = 0;
  bool exact = true;
  if (op == '-') b = -b;
  switch (op) {
    case '*': r = a * b; break;
    case '/': r = a / b; break;
    default: {
      r = a + b;
      const double part = r - a;
      exact = (a - (r - part)) + (b - part) == 0;
    }
  }
  if (!exact || !held(r) || std::fabs(r) < kLeast || (op == '/' && r * b != a)) return false;
  *result = r;
  return true;
}

}  // namespace cairn
