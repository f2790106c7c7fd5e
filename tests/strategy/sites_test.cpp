// Listings that took a place for another than it is.
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/text.h"
#include "strategy/registry.h"

namespace cairn::test {
namespace {

struct SplitCase {
  const char* name;
  const char* program;
  // "loop copies" of the cuts in halves that make copies, in the order listed.
  std::vector<std::string> with_copies;
};

const std::vector<SplitCase> kSplits = {
    {"elements_met_several_times",   // a*2+b is the same element at (0,2) and (1,0): parts would be added as often
     "in A^{f32}_{6,6};out H^{f32}_{7};L^{3}_{a=0}L^{3}_{c=0}L^{6}_{k=0}[H^{f32}_{a*2+c}=H^{f32}_{a*2+c}*(A^{f32}_{a+c,k}+2);];",
     {}},
    {"elements_met_once",
     "in A^{f32}_{6,6};out H^{f32}_{9};L^{3}_{a=0}L^{3}_{c=0}L^{6}_{k=0}[H^{f32}_{a*3+c}=H^{f32}_{a*3+c}*(A^{f32}_{a+c,k}+2);];",
     {"0.k results"}},
    {"digits_of_one_subscript",
     "in A^{f32}_{4,6,5};out H^{f32}_{24};L^{4}_{a=0}L^{6}_{c=0}L^{5}_{k=0}[H^{f32}_{a*6+c}=H^{f32}_{a*6+c}+A^{f32}_{a,c,k};];",
     {"0.k results"}},
    {"a_row_each", "in A^{f32}_{8,6};out H^{f32}_{8};L^{8}_{a=0}L^{6}_{k=0}[H^{f32}_{a}=H^{f32}_{a}+A^{f32}_{a,k};];", {"0.a all", "0.k results"}},
};

class SplitSites : public ::testing::TestWithParam<SplitCase> {};

TEST_P(SplitSites, CopiesAreListedWhereTheyApply) {
  const Target target = described_target();
  const Result<Program> program = parse_program(GetParam().program);
  ASSERT_TRUE(program.ok()) << render(program.error());
  const Strategy& strategy = *find_strategy("tensor_split_to_decouple_operators");
  std::vector<std::string> found;
  for (const Args& args : strategy.sites(*program, target)) {
    const Result<Step> step = apply_action(*program, target, {std::string(strategy.name), args});
    EXPECT_TRUE(step.ok()) << print_action({std::string(strategy.name), args}) << ": " << (step.ok() ? "" : render(step.error()));
    if (args.get("copies") != "none") found.push_back(args.get("loop") + " " + args.get("copies"));
  }
  EXPECT_EQ(found, GetParam().with_copies);
}

INSTANTIATE_TEST_SUITE_P(Cases, SplitSites, ::testing::ValuesIn(kSplits), [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace cairn::test
