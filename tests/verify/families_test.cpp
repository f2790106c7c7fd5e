#include "verify/families.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ir/text.h"

namespace cairn {
namespace {

Program parse_ok(const std::string& text) {
  Result<Program> p = parse_program(text);
  EXPECT_TRUE(p.ok()) << (p ? std::string() : render(p.error()));
  return p ? *std::move(p) : Program();
}

TEST(families, are_seeded_and_representable) {
  const Program p = parse_ok("in A^{f16}_{6,40};in C^{f8e4m3fn}_{40};in N^{i8}_{9};in Q^{bool}_{9};out D^{f32}_{6};L^{6}_{i=0}[D_{i}=A_{i,0};];");
  for (const Family family : all_families()) {
    const ValueMap a = make_inputs(p, family, 4), b = make_inputs(p, family, 4), c = make_inputs(p, family, 5);
    ASSERT_EQ(a.size(), 4u);
    for (const auto& [name, v] : a) {
      for (std::size_t i = 0; i < v.floats.size(); ++i) {
        const double x = v.floats[i];
        EXPECT_TRUE(std::isnan(x) || round_to(v.dtype, x) == x) << family_name(family) << " " << x;
        EXPECT_TRUE(std::isnan(x) ? std::isnan(b.at(name).floats[i]) : x == b.at(name).floats[i]);
      }
      for (const std::int64_t x : v.ints) EXPECT_TRUE(v.dtype == Dtype::boolean ? x == 0 || x == 1 : x >= -8 && x <= 8);
    }
    if (family != Family::zeros) {
      EXPECT_NE(a.at("A").floats, c.at("A").floats) << family_name(family);
    }
  }
}

TEST(families, each_is_what_it_says) {
  const Program p = parse_ok("in A^{f32}_{16,64};out D^{f32}_{16};L^{16}_{i=0}[D_{i}=A_{i,0};];");
  const auto values = [&p](Family f) { return make_inputs(p, f, 1).at("A").floats; };
  for (const double x : values(Family::uniform)) EXPECT_TRUE(x >= 0 && x <= 1);
  const std::vector<double> hot = values(Family::one_hot);
  EXPECT_EQ(std::count(hot.begin(), hot.end(), 1.0), 16);
  EXPECT_EQ(std::count(hot.begin(), hot.end(), 0.0), 16 * 63);
  const std::vector<double> rows = values(Family::constant_rows);
  EXPECT_EQ(rows[0], rows[63]);
  EXPECT_NE(rows[63], rows[64]);
  const std::vector<double> wide = values(Family::magnitude);
  EXPECT_TRUE(std::any_of(wide.begin(), wide.end(), [](double x) { return std::fabs(x) > 1e3; }));
  EXPECT_TRUE(std::any_of(wide.begin(), wide.end(), [](double x) { return std::fabs(x) < 1e-3; }));
  const std::vector<double> odd = values(Family::nonfinite);
  EXPECT_TRUE(std::any_of(odd.begin(), odd.end(), [](double x) { return std::isnan(x); }));
  EXPECT_TRUE(std::any_of(odd.begin(), odd.end(), [](double x) { return std::isinf(x); }));
  for (const double x : values(Family::denormals)) EXPECT_LT(std::fabs(x), 1.2e-38);
  for (const double x : values(Family::small_integers)) EXPECT_EQ(x, std::nearbyint(x));
  const std::vector<double> scaled = values(Family::scaled_rows);
  EXPECT_TRUE(std::any_of(scaled.begin(), scaled.end(), [](double x) { return x == 0; }));
  EXPECT_GT(*std::max_element(scaled.begin(), scaled.end()), 60);
  const std::vector<double> far = values(Family::outliers);
  EXPECT_TRUE(std::any_of(far.begin(), far.end(), [](double x) { return std::fabs(x) > 50; }));
}

TEST(families, indices_stay_inside_what_they_subscript) {
  // N selects rows of A directly, K through an offset, the float Z through a conversion.
  const Program p = parse_ok(
      "in A^{f32}_{10,4};in N^{i64}_{50};in K^{i32}_{50};in Z^{f32}_{50};out D^{f32}_{50};\n"
      "L^{50}_{i=0}[D_{i}=A_{N_{i},0}+A_{K_{i}*2+3,1}+A_{i64(Z_{i}),2};];");
  for (const Family family : all_families()) {
    const ValueMap in = make_inputs(p, family, 9);
    for (const std::int64_t x : in.at("N").ints) EXPECT_TRUE(x >= 0 && x < 10);
    for (const std::int64_t x : in.at("K").ints) EXPECT_TRUE(x >= 0 && x < 4);
    for (const double x : in.at("Z").floats) EXPECT_TRUE(x >= 0 && x < 10 && x == std::floor(x));
    EXPECT_TRUE(interpret(p, in).ok()) << family_name(family);
  }
  const ValueMap in = make_inputs(p, Family::normal, 9);
  EXPECT_EQ(*std::max_element(in.at("N").ints.begin(), in.at("N").ints.end()), 9);
}

}  // namespace
}  // namespace cairn
