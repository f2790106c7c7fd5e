#include "verify/budget.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/file.h"
#include "ir/text.h"
#include "verify/families.h"

namespace cairn {
namespace {

Program parse_ok(const std::string& text) {
  Result<Program> p = parse_program(text);
  EXPECT_TRUE(p.ok()) << (p ? std::string() : render(p.error()));
  return p ? *std::move(p) : Program();
}

std::string matmul(int n, const std::string& product) {
  return "in A^{f32}_{8," + std::to_string(n) + "};in C^{f32}_{" + std::to_string(n) + ",8};out D^{f32}_{8,8};\n" +
         "L^{8}_{i=0}L^{8}_{j=0}L^{" + std::to_string(n) + "}_{k=0}[D_{i,j}=D_{i,j}+" + product + ";];";
}
// The sum split over 32 partial sums, then combined in a tree.
std::string tree_matmul(int n) {
  const std::string inner = std::to_string(n / 32);
  return "in A^{f32}_{8," + std::to_string(n) + "};in C^{f32}_{" + std::to_string(n) + ",8};out D^{f32}_{8,8};\n" +
         "L^{8}_{i=0}L^{8}_{j=0}L^{32}_{s=0}L^{" + inner + "}_{k=0}[E^{f32,g}_{i,j,s}=E^{f32,g}_{i,j,s}+A_{i,s*" + inner +
         "+k}*C_{s*" + inner + "+k,j};];\n" +
         "L^{8}_{i=0}L^{8}_{j=0}L^{16}_{s=0}[F^{f32,g}_{i,j,s}=E^{f32,g}_{i,j,s}+E^{f32,g}_{i,j,s+16};];\n" +
         "L^{8}_{i=0}L^{8}_{j=0}L^{8}_{s=0}[G^{f32,g}_{i,j,s}=F^{f32,g}_{i,j,s}+F^{f32,g}_{i,j,s+8};];\n" +
         "L^{8}_{i=0}L^{8}_{j=0}L^{8}_{s=0}[D_{i,j}=D_{i,j}+G^{f32,g}_{i,j,s};];";
}

// The budget of a naive program on one family, and candidates judged by it.
class Court {
 public:
  Court(const Program& naive, Family family, std::uint64_t seed) : inputs_(make_inputs(naive, family, seed)) {
    Result<Budget> budget = make_budget(naive, inputs_, seed);
    EXPECT_TRUE(budget.ok());
    budget_ = *std::move(budget);
  }
  Comparison judge(const Program& candidate) const {
    const Result<ValueMap> got = interpret(candidate, inputs_);
    EXPECT_TRUE(got.ok());
    return compare_output(budget_.at("D"), got->at("D"));
  }

 private:
  ValueMap inputs_;
  Budget budget_;
};
Comparison judge(const Program& naive, const Program& candidate, Family family, std::uint64_t seed) {
  return Court(naive, family, seed).judge(candidate);
}

TEST(budget, a_narrower_product_is_rejected_and_any_order_of_f32_accepted) {
  for (const int n : {512, 4096}) {
    const Program naive = parse_ok(matmul(n, "A_{i,k}*C_{k,j}"));
    const Program tree = parse_ok(tree_matmul(n));
    const Program reversed = parse_ok(matmul(n, "A_{i," + std::to_string(n - 1) + "-k}*C_{" + std::to_string(n - 1) + "-k,j}"));
    for (const Family family : {Family::normal, Family::one_hot}) {
      for (const std::uint64_t seed : {1, 2}) {
        const Court court(naive, family, seed);
        for (const std::string narrow : {"tf32", "bf16", "f16"}) {
          const Program low = parse_ok(matmul(n, narrow + "(A_{i,k})*" + narrow + "(C_{k,j})"));
          const Comparison c = court.judge(low);
          EXPECT_FALSE(c.ok) << narrow << " n " << n << " family " << family_name(family) << " seed " << seed;
        }
        for (const Program* order : {&tree, &reversed, &naive}) {
          const Comparison c = court.judge(*order);
          EXPECT_TRUE(c.ok) << c.reason << " n " << n << " family " << family_name(family) << " seed " << seed;
          EXPECT_EQ(c.compared, 64);
        }
      }
    }
  }
}

// Gamma belongs to an output: what another one computes takes nothing from it, and gives it nothing.
TEST(budget, gamma_is_decided_for_each_output) {
  const std::string start = "in A^{f32}_{4,64};out D^{f32}_{4};", sum = "\nL^{4}_{i=0}L^{64}_{k=0}[D_{i}=D_{i}+A_{i,k};];\n";
  const auto budget_of = [&](const std::string& outputs, const std::string& others) {
    const Program program = parse_ok(start + outputs + sum + others);
    return make_budget(program, make_inputs(program, Family::normal, 1), 1).value();
  };
  const Budget alone = budget_of("", "");
  const Budget among = budget_of("out E^{f32}_{4};out F^{f32}_{4};out G^{i32}_{4};out H^{bool}_{4};",
                                 "L^{4}_{i=0}L^{64}_{k=0}[E_{i}=max(E_{i},A_{i,k}+1);];\n"
                                 "L^{4}_{i=0}[F_{i}=E_{i}+D_{i};];\n"        // computed from a maximum
                                 "L^{4}_{i=0}[G_{i}=i32(A_{i,0}*100);];\n"   // an integer computed from floats
                                 "L^{4}_{i=0}[H_{i}=A_{i,1}>0;];\n");
  ASSERT_EQ(alone.at("D").terms.size(), 4u);
  EXPECT_EQ(among.at("D").terms, alone.at("D").terms);
  EXPECT_EQ(among.at("D").tolerance, alone.at("D").tolerance);
  EXPECT_TRUE(among.at("E").terms.empty());
  EXPECT_TRUE(among.at("F").terms.empty());
  // A product with an integer that was computed from floats is no product of inputs; where such an integer decides what is
  // written, no output has gamma.
  const std::string integer = "L^{4}_{i=0}[G^{i32,g}_{i}=i32(A_{i,0}*100);];\n";
  const Budget scaled = budget_of("out E^{f32}_{4};", integer + "L^{4}_{i=0}[E_{i}=A_{i,1}*G^{i32,g}_{i};];\n");
  EXPECT_TRUE(scaled.at("E").terms.empty());
  EXPECT_EQ(scaled.at("D").terms, alone.at("D").terms);
  const Budget guarded = budget_of("out E^{f32}_{4};", integer + "L^{4}_{i=0}[E_{i}=0;];\nL^{4}_{i=0}T^{G^{i32,g}_{i}>0}[E_{i}=A_{i,1};];\n");
  EXPECT_TRUE(guarded.at("D").terms.empty());
}

// Without gamma the few naive runs of small sums refuse about one order in a hundred, by half a unit.
TEST(budget, sums_beside_a_maximum_may_be_taken_in_any_order) {
  const std::string text = read_file(std::string(CAIRN_SOURCE_DIR) + "/tests/leir/ok/many_to_one.leir").value();
  std::string other = text;
  const auto exchange = [&](const std::string& from, const std::string& to) {
    const std::size_t at = other.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    other.replace(at, from.size(), to);
  };
  exchange("[D^{f32,g}_{i//2}=D^{f32,g}_{i//2}+A^{f32,g}_{i,k}*C^{f32,g}_{k};]",
           "[D^{f32,g}_{(7-i)//2}=D^{f32,g}_{(7-i)//2}+A^{f32,g}_{7-i,5-k}*C^{f32,g}_{5-k};]");
  exchange("[F^{f32,g}_{i+k}=F^{f32,g}_{i+k}+A^{f32,g}_{i,k};]", "[F^{f32,g}_{12-i-k}=F^{f32,g}_{12-i-k}+A^{f32,g}_{7-i,5-k};]");
  exchange("[H^{f32,g}_{a*2+b}=H^{f32,g}_{a*2+b}*(A^{f32,g}_{a+b,k}+2);]",
           "[H^{f32,g}_{(2-a)*2+(2-b)}=H^{f32,g}_{(2-a)*2+(2-b)}*(A^{f32,g}_{4-a-b,5-k}+2);]");
  const Program naive = parse_ok(text), reordered = parse_ok(other);
  for (const Family family : {Family::nonfinite, Family::normal, Family::cancellation, Family::magnitude, Family::outliers}) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      const ValueMap inputs = make_inputs(naive, family, seed);
      const Budget budget = make_budget(naive, inputs, seed).value();
      const ValueMap got = interpret(reordered, inputs).value();
      for (const auto& [name, output] : budget) {
        const Comparison c = compare_output(output, got.at(name));
        EXPECT_TRUE(c.ok) << name << ", family " << family_name(family) << ", seed " << seed << ": " << c.reason;
      }
    }
  }
}

TEST(budget, half_accumulation_is_rejected) {
  const Program naive = parse_ok(matmul(512, "A_{i,k}*C_{k,j}"));
  std::string text = matmul(512, "A_{i,k}*C_{k,j}");
  // The sum itself kept in f16 until the end.
  const std::size_t at = text.find("[D_{i,j}=D_{i,j}+");
  text.replace(at, 17, "[E^{f16,g}_{i,j}=E^{f16,g}_{i,j}+");
  text += "\nL^{8}_{i=0}L^{8}_{j=0}[D_{i,j}=E^{f16,g}_{i,j};];";
  EXPECT_FALSE(judge(naive, parse_ok(text), Family::normal, 1).ok);
}

TEST(budget, softmax_in_half_storage_and_all_zeros_are_rejected) {
  const std::string softmax =
      "in A^{f32}_{4,64};out D^{f32}_{4,64};\n"
      "L^{4}_{i=0}L^{64}_{j=0}[M^{DT,g}_{i}=max(M^{DT,g}_{i},A_{i,j});];\n"
      "L^{4}_{i=0}L^{64}_{j=0}[E^{DT,g}_{i}=E^{DT,g}_{i}+exp(A_{i,j}-M^{DT,g}_{i});];\n"
      "L^{4}_{i=0}L^{64}_{j=0}[D_{i,j}=exp(A_{i,j}-M^{DT,g}_{i})/E^{DT,g}_{i};];";
  const auto with = [&softmax](const std::string& dtype) {
    std::string text = softmax;
    for (std::size_t at; (at = text.find("DT")) != std::string::npos;) text.replace(at, 2, dtype);
    return parse_ok(text);
  };
  const Program naive = with("f32");
  EXPECT_FALSE(judge(naive, with("f16"), Family::normal, 3).ok);
  EXPECT_FALSE(judge(naive, with("tf32"), Family::normal, 3).ok);
  EXPECT_FALSE(judge(naive, parse_ok("in A^{f32}_{4,64};out D^{f32}_{4,64};L^{4}_{i=0}L^{64}_{j=0}[D_{i,j}=0;];"),
                     Family::normal, 3).ok);
  // Online-style: without the subtraction of the maximum it is another rounding of the same reals.
  const Program direct = parse_ok(
      "in A^{f32}_{4,64};out D^{f32}_{4,64};\n"
      "L^{4}_{i=0}L^{64}_{j=0}[E^{f32,g}_{i}=E^{f32,g}_{i}+exp(A_{i,j});];\n"
      "L^{4}_{i=0}L^{64}_{j=0}[D_{i,j}=exp(A_{i,j})/E^{f32,g}_{i};];");
  EXPECT_TRUE(judge(naive, direct, Family::normal, 3).ok);
  EXPECT_FALSE(judge(naive, direct, Family::outliers, 3).ok);  // exp overflows: NaN
}

TEST(budget, nan_and_infinity_masks_come_from_the_reference) {
  OutputBudget b;
  b.reference = Value::zeros(Dtype::f32, {5});
  b.reference.floats = {1, std::nan(""), HUGE_VAL, 1e39, 2};
  b.naive = b.reference;
  b.naive.floats[3] = HUGE_VAL;
  b.tolerance = {0.5, 0, 0, 0, 0};
  b.skip = {0, 0, 0, 1, 0};
  Value c = b.reference;
  EXPECT_TRUE(compare_output(b, c).ok);
  c.floats[3] = HUGE_VAL;
  EXPECT_TRUE(compare_output(b, c).ok);
  EXPECT_EQ(compare_output(b, c).skipped, 1);
  c.floats[3] = std::nan("");
  EXPECT_FALSE(compare_output(b, c).ok);
  c = b.reference;
  c.floats[0] = std::nan("");
  EXPECT_FALSE(compare_output(b, c).ok);
  c = b.reference;
  c.floats[1] = 0;
  EXPECT_FALSE(compare_output(b, c).ok);
  c = b.reference;
  c.floats[2] = -HUGE_VAL;
  EXPECT_FALSE(compare_output(b, c).ok);
  c = b.reference;
  c.floats[0] = 1.5;
  EXPECT_TRUE(compare_output(b, c).ok);
  c.floats[0] = 1.6;
  EXPECT_EQ(compare_output(b, c).reason, "element [0]: found 1.6, expected 1, off by 0.6, tolerance 0.5");
}

TEST(budget, integers_that_rounding_decides_are_skipped) {
  // argmax over a computed row: the winner among near ties may differ, a clear winner may not.
  const Program p = parse_ok(
      "in A^{f32}_{2,12};out D^{i64}_{2};\n"
      "L^{2}_{i=0}L^{12}_{j=0}[E^{f32,g}_{i,j}=A_{i,j}/3*3;];\n"
      "L^{2}_{i=0}L^{12}_{j=0}[M^{f32,g}_{i}=max(M^{f32,g}_{i},E^{f32,g}_{i,j});];\n"
      "L^{2}_{i=0}L^{12}_{j=0}[D_{i}=min(D_{i},if_then_else(E^{f32,g}_{i,j}==M^{f32,g}_{i},j,12));];");
  Value a = Value::zeros(Dtype::f32, {2, 12});
  for (std::size_t i = 0; i < 24; ++i) a.floats[i] = static_cast<double>(i < 12 ? 1.2f : i == 13 ? 2.0f : 1.0f);
  const Result<Budget> budget = make_budget(p, {{"A", a}}, 5);
  ASSERT_TRUE(budget.ok());
  Value d = Value::zeros(Dtype::i64, {2});
  d.ints = {2, 1};
  EXPECT_TRUE(compare_output(budget->at("D"), d).ok);
  EXPECT_EQ(compare_output(budget->at("D"), d).skipped, 1);
  d.ints = {2, 0};
  EXPECT_FALSE(compare_output(budget->at("D"), d).ok);
}

TEST(budget, exact_comparison_ignores_the_sign_of_zero_only) {
  Value a = Value::zeros(Dtype::f32, {3});
  a.floats = {0.0, 1, std::nan("")};
  Value b = a;
  b.floats = {-0.0, 1, -std::nan("")};
  EXPECT_TRUE(compare_exact(a, b).ok);
  b.floats[1] = std::nextafter(1.0f, 2.0f);
  EXPECT_FALSE(compare_exact(a, b).ok);
  EXPECT_DOUBLE_EQ(compare_exact(a, b).max_ulp, 1);
}

}  // namespace
}  // namespace cairn
