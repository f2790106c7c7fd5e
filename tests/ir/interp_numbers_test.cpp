// Number formats: rounding on store, conversions, wrap-around, division, randomised rounding, pure f64.
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/file.h"
#include "ir/interp_run.h"
#include "ir/numbers.h"

namespace cairn {
namespace {
using testing::floats;
using testing::ints;
using testing::run_text;
using D = std::vector<double>;
using I = std::vector<std::int64_t>;
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(interp_numbers, rounding_table) {
  const Result<std::string> text = read_file(std::string(CAIRN_SOURCE_DIR) + "/tests/ir/data/rounding.txt");
  ASSERT_TRUE(text.ok());
  int rows = 0;
  for (std::size_t begin = 0, end = 0; begin < text->size(); begin = end + 1) {
    end = std::min(text->find('\n', begin), text->size());
    const std::string line = text->substr(begin, end - begin);
    if (line.starts_with("%")) continue;
    const std::size_t a = line.find(' '), b = line.find(' ', a + 1);
    const Dtype dtype = *parse_dtype(line.substr(0, a));
    const double x = std::strtod(line.substr(a + 1, b - a - 1).c_str(), nullptr);
    const double expected = std::strtod(line.substr(b + 1).c_str(), nullptr);
    const double got = round_to(dtype, x);
    if (std::isnan(expected)) EXPECT_TRUE(std::isnan(got)) << line;
    else EXPECT_EQ(got, expected) << line;
    EXPECT_EQ(std::signbit(got) && got == 0, std::signbit(expected) && expected == 0) << line;
    ++rows;
  }
  EXPECT_GE(rows, 300);
}

TEST(interp_numbers, tf32_keeps_ten_bits_and_the_range_of_f32) {
  EXPECT_EQ(round_to(Dtype::tf32, 1 + 0x1p-10), 1 + 0x1p-10);
  EXPECT_EQ(round_to(Dtype::tf32, 1 + 0x1p-11), 1.0);
  EXPECT_EQ(round_to(Dtype::tf32, 1 + 3 * 0x1p-11), 1 + 0x1p-9);
  EXPECT_EQ(round_to(Dtype::tf32, 0x1p-136), 0x1p-136);
  EXPECT_EQ(round_to(Dtype::tf32, 0x1p-138), 0.0);
  EXPECT_EQ(round_to(Dtype::tf32, 0x1.fffffep127), kInf);
}

TEST(interp_numbers, directed_rounding_brackets_the_value) {
  for (const Dtype d : {Dtype::f32, Dtype::tf32, Dtype::f16, Dtype::bf16, Dtype::f8e4m3fn, Dtype::f8e5m2}) {
    for (const double x : {1.1, -1.1, 3.14159, 0.3, -200.7, 1e-5, 0x1p-149 * 1.5}) {
      const double down = round_directed(d, x, false), up = round_directed(d, x, true), near = round_to(d, x);
      EXPECT_LT(down, x);
      EXPECT_GT(up, x);
      EXPECT_TRUE(near == down || near == up);
      EXPECT_EQ(round_to(d, up), up);
      EXPECT_EQ(round_to(d, down), down);
    }
    EXPECT_EQ(round_directed(d, 2.5, true), 2.5);
  }
}

TEST(interp_numbers, conversions_to_integers_saturate_and_integers_wrap) {
  EXPECT_EQ(to_integer(Dtype::i64, 1e30), INT64_MAX);
  EXPECT_EQ(to_integer(Dtype::i64, -1e30), INT64_MIN);
  EXPECT_EQ(to_integer(Dtype::i8, -129.5), -128);
  EXPECT_EQ(to_integer(Dtype::i8, 127.9), 127);
  EXPECT_EQ(to_integer(Dtype::u8, -3.5), 0);
  EXPECT_EQ(to_integer(Dtype::u8, 255.9), 255);
  EXPECT_EQ(to_integer(Dtype::i4, 9), 7);
  EXPECT_EQ(to_integer(Dtype::i32, std::nan("")), 0);
  EXPECT_EQ(to_integer(Dtype::i32, -2.9), -2);
  EXPECT_EQ(wrap_integer(Dtype::i8, 128), -128);
  EXPECT_EQ(wrap_integer(Dtype::u8, -1), 255);
  EXPECT_EQ(wrap_integer(Dtype::i4, 8), -8);
  EXPECT_EQ(wrap_integer(Dtype::u4, 16), 0);
  EXPECT_EQ(wrap_integer(Dtype::i32, 1LL << 31), INT32_MIN);
  const auto r = run_text(
      "in A^{f32}_{5};out C^{i8}_{5};out D^{i64}_{5};out E^{u8}_{5};out F^{bool}_{5};\n"
      "L^{5}_{i=0}[C_{i}=i8(A_{i});D_{i}=i64(A_{i});E_{i}=i64(A_{i})+250;F_{i}=bool(A_{i});];",
      {{"A", floats(Dtype::f32, {5}, {-1.75, 300, std::nan(""), kInf, 0})}});
  EXPECT_EQ(r.refused, "");
  EXPECT_EQ(r.ints("C"), (I{-1, 127, 0, 127, 0}));
  EXPECT_EQ(r.ints("D"), (I{-1, 300, 0, INT64_MAX, 0}));
  EXPECT_EQ(r.ints("E"), (I{249, 38, 250, 249, 250}));
  EXPECT_EQ(r.ints("F"), (I{1, 1, 1, 1, 0}));
}

TEST(interp_numbers, integer_arithmetic_floors_and_wraps) {
  const auto r = run_text(
      "in N^{i64}_{6};in K^{i64}_{6};out C^{i64}_{6};out D^{i64}_{6};out E^{i64}_{6};out F^{i64}_{6};\n"
      "L^{6}_{i=0}[C_{i}=N_{i}//K_{i};D_{i}=N_{i}%K_{i};E_{i}=N_{i}*K_{i};F_{i}=abs(N_{i})-sign(K_{i})+2**3;];",
      {{"N", ints(Dtype::i64, {6}, {7, -7, 7, -7, INT64_MIN, INT64_MAX})}, {"K", ints(Dtype::i64, {6}, {2, 2, -2, -2, -1, 2})}});
  EXPECT_EQ(r.refused, "");
  EXPECT_EQ(r.ints("C"), (I{3, -4, -4, 3, INT64_MIN, INT64_MAX / 2}));
  EXPECT_EQ(r.ints("D"), (I{1, 1, -1, -1, 0, 1}));
  EXPECT_EQ(r.ints("E")[4], INT64_MIN);
  EXPECT_EQ(r.ints("E")[5], -2);
  EXPECT_EQ(r.ints("F")[1], 14);
}

TEST(interp_numbers, float_division_floors_as_python_does) {
  const auto r = run_text("in A^{f32}_{6};in C^{f32}_{6};out D^{f32}_{6};out E^{f32}_{6};\nL^{6}_{i=0}[D_{i}=A_{i}//C_{i};E_{i}=A_{i}%C_{i};];",
                          {{"A", floats(Dtype::f32, {6}, {7.5, -7.5, 7.5, 1, -1, 6})}, {"C", floats(Dtype::f32, {6}, {2, 2, -2, 0, 0, round_to(Dtype::f32, 0.1)})}});
  const D d = r.floats("D"), e = r.floats("E");
  EXPECT_EQ(d[0], 3);
  EXPECT_EQ(d[1], -4);
  EXPECT_EQ(d[2], -4);
  EXPECT_EQ(d[3], kInf);
  EXPECT_EQ(d[4], -kInf);
  EXPECT_EQ(d[5], 59);  // 6 is a little less than 60 times the f32 nearest 0.1, though 6/0.1f rounds to 60
  EXPECT_EQ(e[0], 1.5);
  EXPECT_EQ(e[1], 0.5);
  EXPECT_EQ(e[2], -0.5);
  EXPECT_TRUE(std::isnan(e[3]));
}

TEST(interp_numbers, narrow_floats_are_computed_in_f32_and_rounded_once) {
  // 2049 is no f16; 2048+1 in f16 steps stays 2048, in an f32 sum it does not.
  const auto r = run_text(
      "in A^{f16}_{3};out D^{f16};out E^{f16};out G^{f32}_{3};\nL^{3}_{i=0}[D=D+A_{i};F^{f32,g}=F^{f32,g}+A_{i};G_{i}=f16(A_{i}*A_{i}+0.0001);];E=F^{f32,g};",
      {{"A", floats(Dtype::f16, {3}, {2048, 1, 1})}});
  EXPECT_EQ(r.refused, "");
  EXPECT_EQ(r.floats("D"), D{2048});
  EXPECT_EQ(r.floats("E"), D{2050});
  EXPECT_EQ(r.floats("G"), (D{kInf, 1, 1}));
}

TEST(interp_numbers, rounding_functions_and_sign) {
  const auto r = run_text("in A^{f32}_{6};out C^{f32}_{6};out D^{f32}_{6};out E^{f32}_{6};out F^{f32}_{6};\nL^{6}_{i=0}[C_{i}=round(A_{i});D_{i}=floor(A_{i});E_{i}=ceil(A_{i});F_{i}=sign(A_{i});];",
                          {{"A", floats(Dtype::f32, {6}, {0.5, 1.5, -0.5, -2.5, 2.25, std::nan("")})}});
  const auto head = [&r](const char* name) {
    D values = r.floats(name);
    values.resize(5);
    return values;
  };
  EXPECT_EQ(head("C"), (D{0, 2, 0, -2, 2}));
  EXPECT_EQ(head("D"), (D{0, 1, -1, -3, 2}));
  EXPECT_EQ(head("E"), (D{1, 2, 0, -2, 3}));
  EXPECT_EQ(r.floats("F"), (D{1, 1, -1, -1, 1, 0}));
}

constexpr char kSum[] = "in A^{f32}_{1000};out D^{f32};\nL^{1000}_{i=0}[D=D+A_{i}*0.1;];";

TEST(interp_numbers, randomised_rounding_is_seeded_and_brackets_the_sum) {
  Value a = Value::zeros(Dtype::f32, {1000});
  for (std::size_t i = 0; i < 1000; ++i) a.floats[i] = round_to(Dtype::f32, 1.0 + 0.37 * static_cast<double>(i % 7));
  InterpOptions options;
  options.in_f64 = true;
  const double exact = run_text(kSum, {{"A", a}}, options).floats("D")[0];
  options.in_f64 = false;
  D seen;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    options.rounding_seed = seed;
    const double x = run_text(kSum, {{"A", a}}, options).floats("D")[0];
    EXPECT_EQ(x, run_text(kSum, {{"A", a}}, options).floats("D")[0]);
    EXPECT_EQ(x, round_to(Dtype::f32, x));
    EXPECT_NEAR(x, exact, 1000 * exact * 0x1p-24);
    seen.push_back(x);
  }
  EXPECT_NE(seen[0], seen[1]);
  // What is exact stays exact: integers, products by powers of two, maxima.
  options.rounding_seed = 3;
  const auto r = run_text("in A^{f32}_{4};out D^{f32}_{4};\nL^{4}_{i=0}[D_{i}=max(A_{i}*4+1,A_{i}-3)/2;];",
                          {{"A", floats(Dtype::f32, {4}, {1, -2, 3, 100})}}, options);
  EXPECT_EQ(r.floats("D"), (D{2.5, -2.5, 6.5, 200.5}));
}

TEST(interp_numbers, pure_f64_has_no_roundings) {
  InterpOptions options;
  options.in_f64 = true;
  const auto r = run_text("in A^{f32};out D^{f32};out E^{f16};out N^{i64};\nD=A+0.1;E=f16(A)+bf16(0.3);N=i64(A*10);", {{"A", floats(Dtype::f32, {}, {1.0 / 3})}}, options);
  EXPECT_EQ(r.floats("D"), D{1.0 / 3 + 0.1}) << r.refused;
  EXPECT_EQ(r.floats("E"), D{1.0 / 3 + 0.3});
  EXPECT_EQ(r.ints("N"), I{3});
}

}  // namespace
}  // namespace cairn
