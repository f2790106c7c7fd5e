#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "base/rng.h"
#include "ir/mathlib.h"

// clang-format off
#include "ir/mathlib_base.inc"
#include "ir/mathlib_f32.inc"
#include "ir/mathlib_f64.inc"
#include "ir/mathlib_tail.inc"
#include "ir/mathlib_vectors.inc"
// clang-format on

namespace cairn {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Distance in units in the last place of the type at the exact value.
double ulps(float got, long double exact) {
  if (std::isnan(exact) || std::isinf(exact)) return std::isnan(exact) ? (std::isnan(got) ? 0 : kInf) : (got == static_cast<float>(exact) ? 0 : kInf);
  if (std::isnan(got)) return kInf;
  if (std::isinf(got)) return std::fabs(exact) >= 0x1.ffffffp127L ? 0 : kInf;
  const int e = std::max(std::ilogb(static_cast<double>(exact == 0 ? 1e-300L : exact)), -126);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) / std::ldexp(1.0L, e - 23));
}
double ulps(double got, long double exact) {
  if (std::isnan(exact) || std::isinf(exact)) return std::isnan(exact) ? (std::isnan(got) ? 0 : kInf) : (got == static_cast<double>(exact) ? 0 : kInf);
  if (std::isnan(got)) return kInf;
  if (std::isinf(got)) return std::fabs(exact) >= 0x1.fffffffffffff8p1023L ? 0 : kInf;
  const int e = std::max(exact == 0 ? -1022 : std::ilogb(exact), -1022);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) / std::ldexp(1.0L, e - 52));
}

// Arguments: every magnitude, and dense ones where the functions bend.
template <class T>
T argument(Rng& rng, int i) {
  switch (i % 4) {
    case 0: {
      if constexpr (sizeof(T) == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(rng.next()));
      else return std::bit_cast<double>(rng.next());
    }
    case 1: return static_cast<T>((rng.uniform() - 0.5) * 4);
    case 2: return static_cast<T>((rng.uniform() - 0.5) * 200);
    default: return static_cast<T>(rng.normal() * 1500);
  }
}

template <class T>
struct Row {
  const char* name;
  T (*ours)(T);
  long double (*exact)(long double);
  double bound;
};

template <class T>
void check(const std::vector<Row<T>>& rows, int count) {
  for (const Row<T>& row : rows) {
    Rng rng(7);
    double worst = 0;
    T at = 0;
    for (int i = 0; i < count; ++i) {
      const T x = argument<T>(rng, i);
      const double u = ulps(row.ours(x), row.exact(static_cast<long double>(x)));
      if (!(u <= worst)) {
        worst = u;
        at = x;
      }
    }
    EXPECT_LE(worst, row.bound) << row.name << " at " << at << " gives " << row.ours(at);
    ::testing::Test::RecordProperty(row.name, std::to_string(worst));
    if (std::getenv("CAIRN_SHOW") != nullptr) std::printf("%s %g ulp at %.17g\n", row.name, worst, static_cast<double>(at));
  }
}

TEST(mathlib, f32_is_within_two_units_of_the_exact_value) {
  check<float>({{"expf", math_exp, [](long double x) { return std::exp(x); }, 1.5},
                {"logf", math_log, [](long double x) { return std::log(x); }, 1.5},
                {"tanhf", math_tanh, [](long double x) { return std::tanh(x); }, 2},
                {"erff", math_erf, [](long double x) { return std::erf(x); }, 2},
                {"sinf", math_sin, [](long double x) { return std::sin(x); }, 2},
                {"cosf", math_cos, [](long double x) { return std::cos(x); }, 2}},
               400'000);
}

TEST(mathlib, f64_is_within_two_units_of_the_exact_value) {
  check<double>({{"exp", math_exp, [](long double x) { return std::exp(x); }, 1.5},
                 {"log", math_log, [](long double x) { return std::log(x); }, 1.5},
                 {"tanh", math_tanh, [](long double x) { return std::tanh(x); }, 2},
                 {"erf", math_erf, [](long double x) { return std::erf(x); }, 2},
                 {"sin", math_sin, [](long double x) { return std::sin(x); }, 2},
                 {"cos", math_cos, [](long double x) { return std::cos(x); }, 2}},
                200'000);
}

TEST(mathlib, powers_follow_c_and_stay_within_two_units) {
  Rng rng(11);
  double worst = 0, worst32 = 0, at = 0, to = 0;
  for (int i = 0; i < 200'000; ++i) {
    const double x = i % 2 ? std::exp(rng.normal() * 3) : std::fabs(argument<double>(rng, 0));
    const double y = i % 3 ? rng.normal() * 20 : static_cast<double>(static_cast<int>(rng.below(41)) - 20);
    const double u = ulps(math_pow(x, y), std::pow(static_cast<long double>(x), static_cast<long double>(y)));
    if (!(u <= worst)) {
      worst = u;
      at = x;
      to = y;
    }
    const auto xf = static_cast<float>(i % 2 ? x : -x);
    const auto yf = static_cast<float>(i % 5 ? y : 3);
    worst32 = std::max(worst32, ulps(math_pow(xf, yf), std::pow(static_cast<long double>(xf), static_cast<long double>(yf))));
  }
  EXPECT_LE(worst, 2) << at << " ** " << to << " = " << math_pow(at, to);
  EXPECT_LE(worst32, 0.51);
  const double nan = std::nan("");
  const double values[] = {0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 1e300, -1e300, 5e-324, kInf, -kInf, nan, 1e19, 0x1p53};
  for (const double x : values) {
    for (const double y : values) {
      const double expected = std::pow(x, y), got = math_pow(x, y);
      EXPECT_TRUE((std::isnan(expected) && std::isnan(got)) || got == expected ||
                  std::fabs(got - expected) <= 1e-15 * std::fabs(expected))
          << x << " ** " << y << " = " << got << ", expected " << expected;
    }
  }
}

TEST(mathlib, special_values) {
  EXPECT_EQ(math_exp(-std::numeric_limits<float>::infinity()), 0.0f);
  EXPECT_EQ(math_exp(kInf), kInf);
  EXPECT_EQ(math_exp(0.0f), 1.0f);
  EXPECT_EQ(math_exp(0.0), 1.0);
  EXPECT_EQ(math_log(0.0f), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(math_log(1.0), 0.0);
  EXPECT_EQ(math_log(1.0f), 0.0f);
  EXPECT_TRUE(std::isnan(math_log(-1.0)) && std::isnan(math_log(-1e-45f)) && std::isnan(math_exp(std::nan(""))));
  EXPECT_TRUE(std::isnan(math_sin(kInf)) && std::isnan(math_cos(std::nanf(""))) && std::isnan(math_erf(std::nan(""))));
  EXPECT_TRUE(std::isnan(math_tanh(std::nanf(""))) && std::isnan(math_log(std::nanf(""))));
  EXPECT_EQ(math_tanh(50.0f), 1.0f);
  EXPECT_EQ(math_tanh(-kInf), -1.0);
  EXPECT_EQ(math_erf(-kInf), -1.0);
  EXPECT_EQ(math_cos(0.0), 1.0);
  EXPECT_GT(math_exp(-103.0f), 0.0f);  // denormal
}

template <class V, class T>
void compare_lanes(const char* name, V (*vector)(V), T (*scalar)(T)) {
  Rng rng(23);
  constexpr int kLanes = static_cast<int>(sizeof(V) / sizeof(T));
  for (int i = 0; i < 4000; ++i) {
    V x = {};
    for (int l = 0; l < kLanes; ++l) x[l] = argument<T>(rng, i + (i % 2 ? l : 0));
    const V y = vector(x);
    for (int l = 0; l < kLanes; ++l) {
      const T lane = y[l], one = scalar(x[l]);
      if (std::isnan(lane) && std::isnan(one)) continue;
      ASSERT_EQ(std::memcmp(&lane, &one, sizeof(T)), 0) << name << " lane " << l << " of " << kLanes << " at " << T(x[l]);
    }
  }
}

#define CAIRN_COMPARE(W)                                                             \
  compare_lanes<cairn_f32_v##W, float>("expf", cairn_expf_v##W, math_exp);           \
  compare_lanes<cairn_f32_v##W, float>("logf", cairn_logf_v##W, math_log);           \
  compare_lanes<cairn_f32_v##W, float>("tanhf", cairn_tanhf_v##W, math_tanh);        \
  compare_lanes<cairn_f32_v##W, float>("erff", cairn_erff_v##W, math_erf);           \
  compare_lanes<cairn_f32_v##W, float>("sinf", cairn_sinf_v##W, math_sin);           \
  compare_lanes<cairn_f32_v##W, float>("cosf", cairn_cosf_v##W, math_cos);
#define CAIRN_COMPARE64(W)                                                           \
  compare_lanes<cairn_f64_v##W, double>("exp", cairn_exp_v##W, math_exp);            \
  compare_lanes<cairn_f64_v##W, double>("log", cairn_log_v##W, math_log);            \
  compare_lanes<cairn_f64_v##W, double>("tanh", cairn_tanh_v##W, math_tanh);         \
  compare_lanes<cairn_f64_v##W, double>("erf", cairn_erf_v##W, math_erf);            \
  compare_lanes<cairn_f64_v##W, double>("sin", cairn_sin_v##W, math_sin);            \
  compare_lanes<cairn_f64_v##W, double>("cos", cairn_cos_v##W, math_cos);

TEST(mathlib, vectors_have_the_bits_of_scalars) {
  CAIRN_COMPARE(4)
  CAIRN_COMPARE(8)
  CAIRN_COMPARE(16)
  CAIRN_COMPARE64(2)
  CAIRN_COMPARE64(4)
  CAIRN_COMPARE64(8)
  const cairn_f32_v4 x = {2, -3, 0.5f, 7}, y = {0.5f, 3, -2, 0};
  const cairn_f32_v4 p = cairn_powf_v4(x, y);
  for (int l = 0; l < 4; ++l) EXPECT_EQ(p[l], math_pow(x[l], y[l]));
  const float nan = std::nanf("");
  const cairn_f32_v4 a = {1, nan, 3, -1}, b = {2, 1, nan, -5};
  const cairn_f32_v4 m = cairn_maxf_v4(a, b), n = cairn_minf_v4(a, b);
  EXPECT_TRUE(m[0] == 2 && std::isnan(m[1]) && std::isnan(m[2]) && m[3] == -1);
  EXPECT_TRUE(n[0] == 1 && std::isnan(n[1]) && std::isnan(n[2]) && n[3] == -5);
}

TEST(mathlib, the_text_is_the_compiled_source) {
  const std::string text(mathlib_c_source());
  EXPECT_NE(text.find("cairn_expf##S"), std::string::npos);
  EXPECT_NE(text.find("CAIRN_VECTORS_F32(_v16"), std::string::npos);
  EXPECT_NE(text.find("cairn_two_over_pi"), std::string::npos);
}

}  // namespace
}  // namespace cairn
