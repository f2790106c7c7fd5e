// The numeric rung on sums in another order (docs/decisions/0004): right ones hold on every seed, wrong or narrower ones on none.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "ir/text.h"
#include "verify/numeric.h"

namespace cairn {
namespace {

Program parse_ok(const std::string& text) {
  Result<Program> p = parse_program(text);
  EXPECT_TRUE(p.ok()) << (p ? std::string() : render(p.error())) << text;
  return p ? *std::move(p) : Program();
}

// Rows of 16 summed into an accumulator of `dtype`, then used in a way that is no longer linear.
std::string in_order(const std::string& dtype) {
  return "in A^{" + dtype + "}_{6,16};out D^{" + dtype + "}_{6,16};\n"
         "L^{6}_{i=0}[E^{" + dtype + ",g}_{i}=0;L^{16}_{k=0}[E^{" + dtype + ",g}_{i}=E^{" + dtype + ",g}_{i}+A_{i,k};];];\n"
         "L^{6}_{i=0}L^{16}_{j=0}[D_{i,j}=max(A_{i,j}*2+E^{" + dtype + ",g}_{i},-3);];";
}
// The same in four partial sums, kept as `partial`, of `term`.
std::string in_parts(const std::string& dtype, const std::string& partial, const std::string& term) {
  return "in A^{" + dtype + "}_{6,16};out D^{" + dtype + "}_{6,16};\n"
         "L^{6}_{i=0}L^{4}_{p=0}[F^{" + partial + ",g}_{i,p}=0;L^{4}_{k=0}[F^{" + partial + ",g}_{i,p}=F^{" + partial + ",g}_{i,p}+" + term + ";];];\n"
         "L^{6}_{i=0}[E^{" + dtype + ",g}_{i}=0;L^{4}_{p=0}[E^{" + dtype + ",g}_{i}=E^{" + dtype + ",g}_{i}+F^{" + partial + ",g}_{i,p};];];\n"
         "L^{6}_{i=0}L^{16}_{j=0}[D_{i,j}=max(A_{i,j}*2+E^{" + dtype + ",g}_{i},-3);];";
}

struct Case {
  const char *dtype, *partial, *term;
  bool right;
};
constexpr Case kCases[] = {
    {"f32", "f32", "A_{i,k*4+p}", true},
    {"f32", "f32", "A_{i,15-p*4-k}", true},
    {"f64", "f64", "A_{i,k*4+p}", true},
    {"f16", "f16", "A_{i,k*4+p}", true},
    {"f32", "f16", "A_{i,k*4+p}", false},             // narrower in between
    {"f32", "f32", "bf16(A_{i,k*4+p})", false},
    {"f32", "f32", "A_{i,k*4+p}*1.0001", false},      // not the same numbers
    {"f64", "f64", "A_{i,k*4+p}*1.0000001", false},
    {"f16", "f16", "A_{i,min(k*4+p,14)}", false},     // one term twice, one lost
    {"f16", "f16", "A_{i,k*4+p}*16/16", true},        // overflows on extreme values
    {"f16", "f16", "f16(A_{i,k*4+p}*32000)/32000", false},   // and on ordinary ones
};

TEST(numeric_order, another_order_holds_and_another_sum_does_not) {
  for (const Case& one : kCases) {
    const Program before = parse_ok(in_order(one.dtype)), after = parse_ok(in_parts(one.dtype, one.partial, one.term));
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      NumericOptions options;
      options.claim = Exactness::reassociates;
      options.seed = seed * 977;
      options.budget = 3'000'000;
      std::string absent;
      const std::optional<Certificate> c = check_numeric(before, after, options, &absent);
      ASSERT_TRUE(c.has_value()) << absent;
      EXPECT_EQ(c->held, one.right) << fmt::format("{} {} {} seed {}: {}", one.dtype, one.partial, one.term, options.seed, c->reason);
    }
  }
}

}  // namespace
}  // namespace cairn
