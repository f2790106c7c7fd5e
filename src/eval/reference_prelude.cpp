#include "eval/reference_prelude.h"

namespace cairn {

std::string_view reference_prelude() {
  return R"(#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
typedef int64_t i64;
typedef uint64_t u64;
static u64 seed;
static int broken;
#define INLINE static inline __attribute__((always_inline, unused))
INLINE u64 bits_of(double x) { u64 b; memcpy(&b, &x, 8); return b; }
INLINE double of_bits(u64 b) { double x; memcpy(&x, &b, 8); return x; }
INLINE double square(double x) { return x * x; }
INLINE i64 isquare(i64 x) { return (i64)((u64)x * (u64)x); }
INLINE double max_nan(double a, double b) { return a > b || a != a ? a : b; }
INLINE double min_nan(double a, double b) { return a < b || a != a ? a : b; }
INLINE double sign_of(double x) { return (x > 0) - (x < 0); }
INLINE double mod_float(double a, double b) {
  double r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
INLINE double floor_div_float(double a, double b) {
  if (b == 0) return a / b;
  double r = fmod(a, b), q = (a - r) / b;
  if (r != 0 && (r < 0) != (b < 0)) q -= 1;
  if (q == 0) return copysign(0.0, a / b);
  double f = floor(q);
  return q - f > 0.5 ? f + 1 : f;
}
INLINE i64 iadd(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
INLINE i64 isub(i64 a, i64 b) { return (i64)((u64)a - (u64)b); }
INLINE i64 imul(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }
INLINE i64 ineg(i64 a) { return (i64)(0 - (u64)a); }
INLINE i64 iabs(i64 a) { return a < 0 ? ineg(a) : a; }
INLINE i64 isign(i64 a) { return (a > 0) - (a < 0); }
INLINE i64 imax(i64 a, i64 b) { return a > b ? a : b; }
INLINE i64 imin(i64 a, i64 b) { return a < b ? a : b; }
INLINE i64 idiv(i64 a, i64 b) {
  if (b == 0) { broken = 1; return 0; }
  if (b == -1) return ineg(a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
INLINE i64 imod(i64 a, i64 b) {
  if (b == 0) { broken = 1; return 0; }
  if (b == -1) return 0;
  i64 r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
INLINE i64 ipow(i64 a, i64 b) {
  i64 r = 1;
  if (b < 0) { broken = 1; return 0; }
  for (; b > 0; b >>= 1, a = imul(a, a)) if (b & 1) r = imul(r, a);
  return r;
}
/* A subscript that data decides. */
INLINE i64 checked(i64 i, i64 n) {
  if (i >= 0 && i < n) return i;
  broken = 1;
  return 0;
}
INLINE i64 to_int(double x, double lo, double hi, i64 low, i64 high) {
  return x != x ? 0 : x <= lo ? low : x >= hi ? high : (i64)x;
}
INLINE i64 to_u64(double x) { return !(x > 0) ? 0 : x >= 0x1p64 ? -1 : (i64)(u64)x; }
#ifdef CAIRN_STOCHASTIC
#define LIT(exact, rounded) (rounded)
/* To nearest in a format: only for what lies outside its normal range. */
static double nearest(double x, int precision, int min_exponent, double max, int infinite) {
  if (x == 0 || x != x) return x;
  double r = x;
  if (!isinf(x)) {
    int e = ilogb(x) < min_exponent ? min_exponent : ilogb(x);
    double unit = ldexp(1.0, e - precision + 1);
    r = nearbyint(x / unit) * unit;
  }
  if (fabs(r) > max) return infinite ? copysign(INFINITY, x) : NAN;
  return r;
}
/* The bits below the last place that are added before cutting; in runs that round to nearest just under half a unit, or half
   where the last place is odd: ties go to even, since sums of a few distinct values meet many ties. */
static u64 random_bits;
/* The run that contracts products into sums, as compilers do. */
static int fused;
INLINE u64 noise(u64 b, u64 place, u64 half) {
  u64 h = (b ^ (b >> 29) ^ seed ^ place) * 0x9e3779b97f4a7c15ull;
  return ((h ^ (h >> 32)) & random_bits) | (half & ~random_bits);
}
INLINE double R32(double x, u64 place) {
  u64 b = bits_of(x), a = b & 0x7fffffffffffffffull;
  u64 y = (b + (noise(b, place, 0xfffffffull + ((b >> 29) & 1)) & 0x1fffffffull)) & ~0x1fffffffull;
  u64 z = bits_of((double)(float)x);
  /* All ones for normal numbers of f32: masks, because compilers do not vectorise a choice here. */
  u64 normal = (u64)0 - (u64)(a - 0x3810000000000000ull <= 0x47efffffe0000000ull - 0x3810000000000000ull);
  return of_bits((y & normal) | (z & ~normal));
}
/* One unit of the last place up, down or none. */
INLINE double R64(double x, u64 place) {
  u64 h = noise(bits_of(x), place, 2) & 3;
  double step = h == 0 ? 0x1p-53 : h == 1 ? -0x1p-53 : 0;
  double y = x + x * step * 1.5;
  return y - y == 0 ? y : x;
}
/* What a library function of f32 may be off: a unit of the last place. */
INLINE double near(double x, u64 place) {
  u64 h = noise(bits_of(x), place, 2) & 3;
  return x + x * (h == 0 ? 0x1p-23 : h == 1 ? -0x1p-23 : 0);
}
INLINE double P32(double x, u64 place) { return fused ? x : R32(x, place); }
INLINE double P64(double x, u64 place) { return fused ? x : R64(x, place); }
INLINE double RN(double x, u64 place, int precision, int min_exponent, double max, int infinite) {
  double a = fabs(x);
  if (!(a <= max) || a < ldexp(1.0, min_exponent)) return nearest(x, precision, min_exponent, max, infinite);
  u64 mask = (1ull << (53 - precision)) - 1, b = bits_of(x);
  double y = of_bits((b + (noise(b, place, mask / 2 + ((b >> (53 - precision)) & 1)) & mask)) & ~mask);
  return fabs(y) > max ? nearest(x, precision, min_exponent, max, infinite) : y;
}
#else
static u64 random_bits;
static int fused;
#define near(x, place) (x)
#define P32(x, place) (x)
#define P64(x, place) (x)
#define LIT(exact, rounded) (exact)
#define R32(x, place) (x)
#define R64(x, place) (x)
#define RN(x, place, precision, min_exponent, max, infinite) (x)
#endif
)";
}

}  // namespace cairn
