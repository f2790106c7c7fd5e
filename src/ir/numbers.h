// Number formats: rounding to a dtype, nearest or directed, and the scalar operations of LEIR whose C spelling
// means something else (floor division, NaN-propagating max). Inline, for the interpreter's inner loop.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "ir/types.h"

namespace cairn {

// A binary floating-point format: significand bits with the hidden one, least normal exponent, largest value,
// and what lies beyond it.
struct FloatFormat {
  int precision = 24;
  int min_exponent = -126;
  double max = 0;
  bool has_infinity = true;   // false: overflow gives NaN
  bool signed_zero = true;    // false: -0 is stored as 0 (the fnuz formats)
};
const FloatFormat& float_format(Dtype dtype);

// 1.5*2^52 units of the format's last place at x: adding and subtracting it rounds to nearest even.
inline double round_to_precision(double x, int precision, int min_exponent) {
  int exponent = static_cast<int>((std::bit_cast<std::uint64_t>(x) >> 52) & 0x7ff) - 1023;
  if (exponent < min_exponent) exponent = min_exponent;
  const auto biased = static_cast<std::uint64_t>(exponent - precision + 1 + 52 + 1023);
  const double anchor = std::bit_cast<double>((biased << 52) | (1ULL << 51));
  return std::signbit(x) ? -((-x + anchor) - anchor) : (x + anchor) - anchor;  // keeps -0
}

// Rounds toward +inf (up) or -inf; a value that nearest rounding keeps finite stays finite.
double round_directed(Dtype dtype, double value, bool up);

// Whether +, -, * or / of two numbers is a number that f32 holds and operands that f32 holds give without rounding, so that
// every compute type of floats gives the same bits; zero and subnormal results are left out. `op` is one of "+-*/".
bool is_exact_arithmetic(char op, double a, double b, double* result);

template <class T>
inline T max_nan(T a, T b) { return a > b || a != a ? a : b; }
template <class T>
inline T min_nan(T a, T b) { return a < b || a != a ? a : b; }
template <class T>
inline T sign_of(T x) { return static_cast<T>((x > 0) - (x < 0)); }  // NaN gives 0, as PyTorch

// Remainder with the sign of b, and floor division, of floats (Python's and PyTorch's rule: not floor(a/b)).
template <class T>
inline T mod_float(T a, T b) {
  T r = std::fmod(a, b);
  if (r != 0 && (r < 0) != (b < 0)) r += b;
  return r;
}
template <class T>
inline T floor_div_float(T a, T b) {
  if (b == 0) return a / b;
  const T r = std::fmod(a, b);
  T q = (a - r) / b;
  if (r != 0 && (r < 0) != (b < 0)) q -= 1;
  if (q == 0) return std::copysign(T(0), a / b);
  T f = std::floor(q);
  if (q - f > T(0.5)) f += 1;
  return f;
}

// Integer arithmetic wraps; division is floor division. b must not be 0.
inline std::int64_t wrap_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t wrap_sub(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
inline std::int64_t wrap_mul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
inline std::int64_t floor_div_int(std::int64_t a, std::int64_t b) {
  if (b == -1) return wrap_sub(0, a);  // the lowest integer would trap
  const std::int64_t q = a / b;
  return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}
inline std::int64_t mod_int(std::int64_t a, std::int64_t b) {
  if (b == -1) return 0;
  const std::int64_t r = a % b;
  return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
}
// a**b for b >= 0.
std::int64_t pow_int(std::int64_t a, std::int64_t b);

}  // namespace cairn
