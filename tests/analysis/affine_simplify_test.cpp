// Index simplification against evaluation over whole ranges.
#include <gtest/gtest.h>

#include <map>

#include "analysis/affine.h"
#include "analysis/brute_force.h"
#include "base/rng.h"
#include "ir/text.h"

namespace cairn {
namespace {

using brute::Env;
using brute::evaluate;

std::string simplified(const std::string& text, const std::vector<LoopRange>& loops) {
  const auto parsed = parse_expr(text);
  if (!parsed.ok()) return "parse: " + parsed.error().message;
  return print_expr(*simplify_index(*parsed, loops));
}

TEST(Simplify, Cases) {
  const std::vector<LoopRange> loops{{"i", 64}, {"j", 8}, {"k", 12}, {"f", 512}};
  const std::vector<std::pair<const char*, const char*>> cases{
      {"(i*8+j)//8", "i"},
      {"(i*8+j)%8", "j"},
      {"f//8*8+f%8", "f"},
      {"(f//8)//4", "f//32"},
      {"(f%64)%8", "f%8"},
      {"(i*8+j)//16", "i//2"},
      {"(i*8+j)%16", "i%2*8+j"},
      {"((f//16)*16+f%16)//4", "f//4"},
      {"i*1+0", "i"},
      {"j+i*8-j", "i*8"},
      {"(i*2+1)//2", "i"},
      {"min(i,63)", "i"},
      {"max(i,64)", "64"},
      {"i<64", "1"},
      {"i*8+j<512", "1"},
      {"i*8+j<256", "i<32"},
      {"64<=i", "0"},
      {"if_then_else(i<64,j,k)", "j"},
      {"i<64&j<4", "j<4"},
      {"i*2==7", "0"},
      {"(k*32+f%32)//32", "k"},
      {"i-1", "i-1"},
      {"f//8%4*8+f%8", "f%32"},
      {"(i-64)//64", "-1"},
      {"A_{i*1+0}+1.5", "A_{i}+1.5"},
  };
  for (const auto& [in, out] : cases) {
    const auto expected = parse_expr(out);
    ASSERT_TRUE(expected.ok()) << out;
    EXPECT_EQ(simplified(in, loops), print_expr(**expected)) << in;
  }
}

ExprPtr random_expr(Rng& rng, int depth) {
  constexpr std::int64_t kNumbers[] = {0, 1, 2, 3, 4, 5, 8, 12, -1, -3, 16};
  if (depth == 0 || rng.below(6) == 0) {
    const char* vars[] = {"i", "j", "k"};
    return rng.below(3) == 0 ? make_int(kNumbers[rng.below(std::size(kNumbers))]) : make_var(vars[rng.below(3)]);
  }
  const auto sub = [&] { return random_expr(rng, depth - 1); };
  constexpr std::int64_t kFactors[] = {2, 3, 4, 8, 12, -2, 6, 1};
  const auto number = [&] { return make_int(kFactors[rng.below(std::size(kFactors))]); };
  switch (rng.below(10)) {
    case 0: case 1: case 2: return make_expr(Op::add, {sub(), sub()});
    case 3: return make_expr(Op::sub, {sub(), sub()});
    case 4: case 5: return make_expr(Op::mul, {sub(), number()});
    case 6: return make_expr(Op::floor_div, {sub(), number()});
    case 7: return make_expr(Op::mod, {sub(), number()});
    case 8: return make_expr(rng.below(2) == 0 ? Op::min : Op::max, {sub(), sub()});
    default: {
      constexpr Op kCompare[] = {Op::lt, Op::le, Op::gt, Op::ge, Op::eq, Op::ne};
      ExprPtr cond = make_expr(kCompare[rng.below(6)], {sub(), sub()});
      if (rng.below(3) == 0) cond = make_expr(Op::logical_not, {cond});
      return make_expr(Op::select, {cond, sub(), sub()});
    }
  }
}

TEST(Simplify, KeepsEveryValue) {
  const std::uint64_t seed = 77;
  Rng rng(seed);
  const std::vector<LoopRange> loops{{"i", 5}, {"j", 8}, {"k", 3}};
  int changed = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const ExprPtr e = rng.below(4) == 0
                          ? make_expr(Op::lt, {random_expr(rng, 3), random_expr(rng, 3)})
                          : random_expr(rng, 4);
    const ExprPtr s = simplify_index(e, loops);
    changed += same_expr(s, e) ? 0 : 1;
    for (std::int64_t i = 0; i < 5; ++i) {
      for (std::int64_t j = 0; j < 8; ++j) {
        for (std::int64_t k = 0; k < 3; ++k) {
          const Env env{{"i", i}, {"j", j}, {"k", k}};
          ASSERT_EQ(evaluate(*e, env), evaluate(*s, env))
              << "seed " << seed << " trial " << trial << ": " << print_expr(*e) << " became " << print_expr(*s);
        }
      }
    }
  }
  EXPECT_GT(changed, 1000);
}

TEST(Affine, LinearForms) {
  const auto form = [](const char* text) {
    const auto e = parse_expr(text);
    const auto f = e.ok() ? linear_form(**e) : std::nullopt;
    return f ? print_expr(*linear_expr(*f)) : std::string("none");
  };
  EXPECT_EQ(form("j+i*4+1"), "i*4+j+1");
  EXPECT_EQ(form("2*(i+3)-i*2"), "6");
  EXPECT_EQ(form("(i*8+9)//8"), "i+1");
  EXPECT_EQ(form("(i*8+9)%8"), "1");
  EXPECT_EQ(form("i//2"), "none");
  EXPECT_EQ(form("i*j"), "none");
  EXPECT_EQ(form("4-j"), "4-j");
  EXPECT_EQ(form("2**3*i"), "i*8");
  EXPECT_EQ(form("A_{i}"), "none");
  EXPECT_EQ(form("9223372036854775807+1"), "none");
}

}  // namespace
}  // namespace cairn
