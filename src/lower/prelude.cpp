// The C helper functions that generated code may need; only those used are emitted.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/core.h>

#include "ir/mathlib.h"
#include "lower/emitter.h"

namespace cairn {

namespace {
struct Helper {
  std::string_view name;
  std::string_view needs;   // another helper, emitted before
  std::string_view text;
};

// Scalars. Integer arithmetic wraps; division rounds down; max and min carry NaN.
constexpr std::array kHelpers{
    Helper{"add", "", "static inline int64_t cairn_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }\n"},
    Helper{"sub", "", "static inline int64_t cairn_sub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }\n"},
    Helper{"mul", "", "static inline int64_t cairn_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }\n"},
    Helper{"neg", "", "static inline int64_t cairn_neg(int64_t a) { return (int64_t)(0 - (uint64_t)a); }\n"},
    Helper{"iabs", "neg", "static inline int64_t cairn_iabs(int64_t a) { return a < 0 ? cairn_neg(a) : a; }\n"},
    Helper{"isign", "", "static inline int64_t cairn_isign(int64_t a) { return (a > 0) - (a < 0); }\n"},
    Helper{"imax", "", "static inline int64_t cairn_imax(int64_t a, int64_t b) { return a > b ? a : b; }\n"},
    Helper{"imin", "", "static inline int64_t cairn_imin(int64_t a, int64_t b) { return a < b ? a : b; }\n"},
    Helper{"ipow", "mul", R"(static inline int64_t cairn_ipow(int64_t a, int64_t b) {
  int64_t r = 1;
  for (; b > 0; b >>= 1, a = cairn_mul(a, a)) {
    if (b & 1) r = cairn_mul(r, a);
  }
  return r;
}
)"},
    Helper{"floor_div", "", R"(static inline int64_t cairn_idiv(int64_t a, int64_t b) {
  if (b == -1) return (int64_t)(0 - (uint64_t)a);
  const int64_t q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}
)"},
    Helper{"floor_mod", "", R"(static inline int64_t cairn_imod(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
)"},
    Helper{"nonzero", "", R"(static inline int64_t cairn_nonzero(int64_t b, int check, int *failed) {
  if (b == 0) __atomic_store_n(failed, check, __ATOMIC_RELAXED);
  return b == 0 ? 1 : b;
}
)"},
    Helper{"check_index", "", R"(static inline int64_t cairn_index(int64_t i, int64_t extent, int check, int *failed) {
  if ((uint64_t)i < (uint64_t)extent) return i;
  __atomic_store_n(failed, check, __ATOMIC_RELAXED);
  return 0;
}
)"},
    Helper{"maxf", "", "static inline float cairn_maxf(float a, float b) { return a > b || a != a ? a : b; }\n"},
    Helper{"minf", "", "static inline float cairn_minf(float a, float b) { return a < b || a != a ? a : b; }\n"},
    Helper{"max", "", "static inline double cairn_max(double a, double b) { return a > b || a != a ? a : b; }\n"},
    Helper{"min", "", "static inline double cairn_min(double a, double b) { return a < b || a != a ? a : b; }\n"},
    Helper{"sqf", "", "static inline float cairn_sqf(float x) { return x * x; }\n"},
    Helper{"sq", "", "static inline double cairn_sq(double x) { return x * x; }\n"},
    Helper{"rsqrtf", "", "static inline float cairn_rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }\n"},
    Helper{"rsqrt", "", "static inline double cairn_rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }\n"},
    Helper{"signf", "", "static inline float cairn_signf(float x) { return (float)((x > 0) - (x < 0)); }\n"},
    Helper{"sign", "", "static inline double cairn_sign(double x) { return (double)((x > 0) - (x < 0)); }\n"},
    Helper{"fmodf", "", R"(static inline float cairn_fmodf(float a, float b) {
  float r = __builtin_fmodf(a, b);
  if (r != 0 && (r < 0) != (b < 0)) r += b;
  return r;
}
)"},
    Helper{"fmod", "", R"(static inline double cairn_fmod(double a, double b) {
  double r = __builtin_fmod(a, b);
  if (r != 0 && (r < 0) != (b < 0)) r += b;
  return r;
}
)"},
    Helper{"fdivf", "", R"(static inline float cairn_fdivf(float a, float b) {
  if (b == 0) return a / b;
  const float r = __builtin_fmodf(a, b);
  float q = (a - r) / b;
  if (r != 0 && (r < 0) != (b < 0)) q -= 1.0f;
  if (q == 0) return __builtin_copysignf(0.0f, a / b);
  const float f = __builtin_floorf(q);
  return q - f > 0.5f ? f + 1.0f : f;
}
)"},
    Helper{"fdiv", "", R"(static inline double cairn_fdiv(double a, double b) {
  if (b == 0) return a / b;
  const double r = __builtin_fmod(a, b);
  double q = (a - r) / b;
  if (r != 0 && (r < 0) != (b < 0)) q -= 1.0;
  if (q == 0) return __builtin_copysign(0.0, a / b);
  const double f = __builtin_floor(q);
  return q - f > 0.5 ? f + 1.0 : f;
}
)"},
    Helper{"to_int", "", R"(static inline int64_t cairn_to_int(double x, int64_t lo, int64_t hi) {
  return x != x ? 0 : x <= (double)lo ? lo : x >= (double)hi ? hi : (int64_t)x;
}
)"},
    Helper{"to_u64", "", R"(static inline int64_t cairn_to_u64(double x) {
  return !(x > 0) ? 0 : x >= 0x1p64 ? -1 : (int64_t)(uint64_t)x;
}
)"},
    Helper{"bits", "", R"(static inline uint32_t cairn_word(float x) {
  uint32_t u;
  __builtin_memcpy(&u, &x, 4);
  return u;
}
static inline float cairn_unword(uint32_t u) {
  float x;
  __builtin_memcpy(&x, &u, 4);
  return x;
}
)"},
    Helper{"bf16_load", "bits", "static inline float cairn_bf16_load(uint16_t x) { return cairn_unword((uint32_t)x << 16); }\n"},
    Helper{"bf16_store", "bits", R"(static inline uint16_t cairn_bf16_store(float x) {
  const uint32_t u = cairn_word(x);
  return (uint16_t)(x != x ? u >> 16 | 0x40 : (u + 0x7fff + (u >> 16 & 1)) >> 16);
}
)"},
    Helper{"tf32_store", "bits", R"(static inline float cairn_tf32_store(float x) {
  const uint32_t u = cairn_word(x);
  return x != x ? x : cairn_unword((u + 0xfff + (u >> 13 & 1)) & ~0x1fffu);
}
)"},
    Helper{"i4_store", "", "static inline int8_t cairn_i4_store(int64_t x) { return (int8_t)((int64_t)((uint64_t)x << 60) >> 60); }\n"},
    // Rounds to a narrower format: adding and subtracting 1.5 * 2^52 units of the last place rounds to even.
    Helper{"round_format", "", R"(static inline float cairn_round_format(double x, int precision, int min_exponent, double max, int infinity) {
  uint64_t u;
  if (x != x) return (float)x;
  __builtin_memcpy(&u, &x, 8);
  int exponent = (int)(u >> 52 & 0x7ff) - 1023;
  if (exponent < 200) {
    if (exponent < min_exponent) exponent = min_exponent;
    double anchor;
    u = (uint64_t)(exponent - precision + 1076) << 52 | (uint64_t)1 << 51;
    __builtin_memcpy(&anchor, &u, 8);
    const double size = __builtin_fabs(x) + anchor - anchor;
    x = __builtin_copysign(size, x);
  }
  if (__builtin_fabs(x) > max) return infinity ? __builtin_copysignf(__builtin_inff(), (float)x) : __builtin_nanf("");
  return (float)x;
}
)"},
    Helper{"tf32_round", "round_format", "static inline float cairn_tf32_round(double x) { return cairn_round_format(x, 11, -126, 0x1.ffcp127, 1); }\n"},
    Helper{"bf16_round", "round_format", "static inline float cairn_bf16_round(double x) { return cairn_round_format(x, 8, -126, 0x1.fep127, 1); }\n"},
    Helper{"f8e4m3fn_round", "round_format", "static inline float cairn_f8e4m3fn_round(double x) { return cairn_round_format(x, 4, -6, 448, 0); }\n"},
    Helper{"f8e4m3fnuz_round", "round_format",
           "static inline float cairn_f8e4m3fnuz_round(double x) { return cairn_round_format(x, 4, -7, 240, 0) + 0.0f; }\n"},
    Helper{"f8e5m2_round", "round_format", "static inline float cairn_f8e5m2_round(double x) { return cairn_round_format(x, 3, -14, 57344, 1); }\n"},
    Helper{"f8e5m2fnuz_round", "round_format",
           "static inline float cairn_f8e5m2fnuz_round(double x) { return cairn_round_format(x, 3, -15, 57344, 0) + 0.0f; }\n"},
    // 8-bit floats: sign, exponent with bias 1 - min_exponent, `bits` of mantissa.
    Helper{"f8", "", R"(static inline uint8_t cairn_f8_encode(float x, int bits, int min_exponent, int nan, int zero_sign) {
  if (x != x) return (uint8_t)nan;
  const int sign = __builtin_signbit(x) ? 128 : 0;
  const float size = __builtin_fabsf(x);
  if (size == 0) return (uint8_t)(zero_sign ? sign : 0);
  if (size > 57344.0f) return (uint8_t)(sign | 0x7c);
  int exponent = __builtin_ilogbf(size);
  if (exponent < min_exponent) return (uint8_t)(sign | (int)__builtin_ldexpf(size, bits - min_exponent));
  const int mantissa = (int)__builtin_ldexpf(size, bits - exponent) - (1 << bits);
  return (uint8_t)(sign | (exponent - min_exponent + 1) << bits | mantissa);
}
static inline float cairn_f8_decode(uint8_t x, int bits, int min_exponent) {
  const int exponent = (x & 127) >> bits, mantissa = x & ((1 << bits) - 1);
  const float size = exponent == 0 ? __builtin_ldexpf((float)mantissa, min_exponent - bits)
                                   : __builtin_ldexpf((float)(mantissa + (1 << bits)), exponent - 1 + min_exponent - bits);
  return x & 128 ? -size : size;
}
)"},
    Helper{"f8e4m3fn_load", "f8",
           "static inline float cairn_f8e4m3fn_load(uint8_t x) { return (x & 127) == 127 ? __builtin_nanf(\"\") : cairn_f8_decode(x, 3, -6); }\n"},
    Helper{"f8e4m3fnuz_load", "f8",
           "static inline float cairn_f8e4m3fnuz_load(uint8_t x) { return x == 128 ? __builtin_nanf(\"\") : cairn_f8_decode(x, 3, -7); }\n"},
    Helper{"f8e5m2_load", "f8", R"(static inline float cairn_f8e5m2_load(uint8_t x) {
  if ((x & 127) > 124) return __builtin_nanf("");
  if ((x & 127) == 124) return x & 128 ? -__builtin_inff() : __builtin_inff();
  return cairn_f8_decode(x, 2, -14);
}
)"},
    Helper{"f8e5m2fnuz_load", "f8",
           "static inline float cairn_f8e5m2fnuz_load(uint8_t x) { return x == 128 ? __builtin_nanf(\"\") : cairn_f8_decode(x, 2, -15); }\n"},
    Helper{"f8e4m3fn_store", "f8 f8e4m3fn_round",
           "static inline uint8_t cairn_f8e4m3fn_store(float x) { return cairn_f8_encode(cairn_f8e4m3fn_round(x), 3, -6, 127, 1); }\n"},
    Helper{"f8e4m3fnuz_store", "f8 f8e4m3fnuz_round",
           "static inline uint8_t cairn_f8e4m3fnuz_store(float x) { return cairn_f8_encode(cairn_f8e4m3fnuz_round(x), 3, -7, 128, 0); }\n"},
    Helper{"f8e5m2_store", "f8 f8e5m2_round",
           "static inline uint8_t cairn_f8e5m2_store(float x) { return cairn_f8_encode(cairn_f8e5m2_round(x), 2, -14, 127, 1); }\n"},
    Helper{"f8e5m2fnuz_store", "f8 f8e5m2fnuz_round",
           "static inline uint8_t cairn_f8e5m2fnuz_store(float x) { return cairn_f8_encode(cairn_f8e5m2fnuz_round(x), 2, -15, 128, 0); }\n"},
};

void add_helper(std::string_view name, std::set<std::string>* done, std::string* out) {
  if (done->contains(std::string(name))) return;
  const auto it = std::find_if(kHelpers.begin(), kHelpers.end(), [name](const Helper& h) { return h.name == name; });
  if (it == kHelpers.end()) return;  // a vector helper, or the math library
  // The math library has these already.
  static const std::set<std::string, std::less<>> shared{"maxf", "minf", "max", "min", "signf", "sign"};
  if (done->contains("mathlib") && shared.contains(name)) return;
  done->insert(std::string(name));
  std::string_view needs = it->needs;
  while (!needs.empty()) {
    const std::size_t space = std::min(needs.find(' '), needs.size());
    add_helper(needs.substr(0, space), done, out);
    needs.remove_prefix(std::min(space + 1, needs.size()));
  }
  *out += it->text;
}
}  // namespace

std::string c_prelude(const std::set<std::string>& helpers, const std::set<std::string>& vector_types) {
  std::string out;
  std::set<std::string> done;
  if (helpers.contains("mathlib")) {
    out += mathlib_c_source();
    out += '\n';
    done.insert("mathlib");
  }
  out += c_vector_types(vector_types);
  for (const std::string& name : helpers) add_helper(name, &done, &out);
  out += c_vector_helpers(helpers);
  if (!out.empty()) out += '\n';
  return out;
}

}  // namespace cairn
