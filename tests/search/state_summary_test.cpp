#include "search/state_summary.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "ir/text.h"

namespace cairn {
namespace {

Program load(const std::string& name) {
  const auto text = read_file("bench/workloads/" + name + ".leir");
  EXPECT_TRUE(text.ok()) << name;
  auto program = parse_program(*text);
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : render(program.error()));
  return program.value();
}

TEST(StateSummary, NamesTheFamilyOfANaiveProgram) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"attention_causal", "attention"}, {"conv2d_padded", "convolution"},   {"linear_bias_gelu", "product"}, {"matmul_batched", "product"},
      {"softmax", "softmax"},            {"log_softmax", "softmax"},         {"rms_norm", "normalization"},   {"group_norm", "normalization"},
      {"normalise_l2", "normalization"}, {"max_pool", "pooling"},            {"cumulative_sum", "scan"},      {"scaled_sum", "reduction"},
      {"row_argmax", "reduction"},       {"gelu_tanh", "elementwise"},       {"horner", "elementwise"}};
  for (const auto& [name, family] : rows) EXPECT_EQ(family_of(load(name)), family) << name;
}

TEST(StateSummary, SharesSumToOneAndTheBottleneckIsTheLargest) {
  for (const char* name : {"attention", "softmax", "matmul", "mlp_residual"}) {
    const StateSummary s = summarize_state(load(name), described_target());
    double sum = 0;
    for (const auto& [type, share] : s.time_shares) {
      sum += share;
      EXPECT_LE(share, s.time_shares.at(s.bottleneck)) << name << " " << type;
    }
    EXPECT_NEAR(sum, 1, 1e-9) << name;
    EXPECT_GT(s.seconds, 0);
  }
}

// Four characters a token is the usual estimate for such text; the limit is 600 tokens.
TEST(StateSummary, PrintsAtMostSixHundredTokensOfOneSchema) {
  StateSummary s = summarize_state(load("attention_block"), described_target());
  for (int k = 0; k < 60; ++k) s.tensors.push_back("in Tensor f32 1024x1024x1024");
  std::vector<PathStep> path;
  for (int k = 0; k < 100; ++k) path.push_back({"normal_loop_summation_on_exp_to_prefix_summation_on_exp", "runtime_check", -0.123456});
  const std::string text = print_summary(s, path);
  EXPECT_LT(text.size(), 600u * 4);
  const auto json = parse_json(text);
  ASSERT_TRUE(json.ok());
  std::string keys;
  for (const auto& [key, value] : json->items()) keys += key + " ";
  EXPECT_EQ(keys, "version family tensors more_tensors nests flops bytes intensity predicted_ms bottleneck time_shares earlier_steps path ");
}

TEST(StateSummary, ClassesOfArgumentsForgetPlacesAndKeepRolesAndSizes) {
  const auto program = parse_program(
      "in A^{f32}_{64,96};in C^{f32}_{96,128};out D^{f32}_{64,128};\n"
      "L^{64}_{i=0}L^{128}_{j=0}L^{96}_{k=0}[D^{f32,g}_{i,j}=D^{f32,g}_{i,j}+A^{f32,g}_{i,k}*C^{f32,g}_{k,j};];\n");
  ASSERT_TRUE(program.ok());
  const auto of = [&](const char* text) {
    const auto action = parse_action(text);
    EXPECT_TRUE(action.ok()) << text;
    return argument_class(*program, *action);
  };
  EXPECT_EQ(of("loop_split(loop=0.i, factor=8, tail=guard)"), of("loop_split(loop=0.j, factor=9, tail=guard)"));
  EXPECT_EQ(of("loop_split(loop=0.k, factor=8, tail=guard)").substr(0, 19), "loop=sum,factor=3,t");
  EXPECT_NE(of("loop_split(loop=0.i, factor=8, tail=guard)"), of("loop_split(loop=0.k, factor=8, tail=guard)"));
  EXPECT_NE(of("loop_split(loop=0.i, factor=8, tail=guard)"), of("loop_split(loop=0.i, factor=16, tail=guard)"));
}

}  // namespace
}  // namespace cairn
