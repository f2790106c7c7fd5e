// The online forms of softmax on input families and masks, and on programs as they are imported: where each fires, and
// that no family tells before from after.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/file.h"
#include "ir/text.h"
#include "strategy/compare.h"
#include "strategy/generator.h"
#include "strategy/registry.h"
#include "verify/families.h"
#include "verify/identity.h"
#include "verify/verify.h"

namespace cairn::test {
namespace {

const char* const kStrategies[] = {"normal_loop_max_to_prefix_max", "normal_loop_summation_on_exp_to_prefix_summation_on_exp", "online_softmax",
                                   "flashattention_wo_tiling"};

// What differs between two runs in f64, or nothing. Where the inputs hold NaN or infinity the online form may give a
// number where 0*inf came out before, never the other way round.
std::string difference(const Program& before, const Program& after, const ValueMap& inputs, bool finite) {
  InterpOptions options;
  options.in_f64 = true;
  const Result<ValueMap> a = interpret(before, inputs, options), b = interpret(after, inputs, options);
  if (!a || !b) return render(a ? b.error() : a.error());
  for (const auto& [name, old] : *a) {
    const Value& now = b->at(name);
    double scale = 0;
    for (const double x : old.floats) scale = std::isfinite(x) ? std::max(scale, std::fabs(x)) : scale;
    for (std::size_t i = 0; i < old.floats.size(); ++i) {
      const double x = old.floats[i], y = now.floats[i];
      if (std::isnan(x) && (std::isnan(y) || !finite)) continue;
      if (x == y || std::fabs(x - y) <= 1e-9 * std::max(scale, std::fabs(x))) continue;
      return fmt::format("{}[{}] was {:.17g}, is {:.17g}", name, i, x, y);
    }
  }
  return "";
}

// Sets elements of the float inputs to -inf: two of five at random, and the whole first row.
void mask_inputs(ValueMap* inputs, std::uint64_t seed) {
  Rng rng(seed);
  for (auto& [name, value] : *inputs) {
    if (name != "A" || value.floats.empty()) continue;
    const std::size_t row = value.shape.empty() ? 1 : static_cast<std::size_t>(value.shape.back());
    for (std::size_t i = 0; i < value.floats.size(); ++i) {
      if (i < row || rng.below(5) < 2) value.floats[i] = -std::numeric_limits<double>::infinity();
    }
  }
}

class Online : public ::testing::TestWithParam<const char*> {};

TEST_P(Online, HoldsOnEveryFamilyAndMask) {
  const Strategy& strategy = *find_strategy(GetParam());
  const Target target = described_target();
  int steps = 0, masked = 0, identities = 0;
  for (std::uint64_t round = 0; steps < 40 && round < 4000; ++round) {
    Rng rng = Rng(11).split(round);
    const std::string text = generate_softmax(&rng);
    const Result<Program> program = parse_program(text);
    ASSERT_TRUE(program.ok()) << text;
    if (!check_program(*program, target)) continue;
    for (const Args& args : strategy.sites(*program, target)) {
      const Result<Step> step = apply_action(*program, target, {std::string(strategy.name), args});
      ASSERT_TRUE(step.ok()) << render(step.error()) << text;
      ++steps;
      for (const Family family : all_families()) {
        const ValueMap inputs = make_inputs(*program, family, round);
        ASSERT_EQ(difference(*program, step->after, inputs, family != Family::nonfinite), "") << family_name(family) << "\n"
                                                                                               << text << print_program(step->after);
      }
      ValueMap inputs = make_inputs(*program, Family::normal, round);
      mask_inputs(&inputs, round);
      ASSERT_EQ(difference(*program, step->after, inputs, true), "") << "masked\n" << text << print_program(step->after);
      ++masked;
      if (step->exactness == Exactness::changes_precision) continue;
      IdentityOptions options;
      options.claim = step->exactness;
      const IdentityResult identity = check_identity(*program, step->after, options);
      // A row without a single key has no value in the algebra: absent, where a mask is data.
      ASSERT_NE(identity.verdict, IdentityResult::Verdict::failed) << identity.reason << "\n" << text << print_program(step->after);
      identities += identity.held() ? 1 : 0;
    }
  }
  EXPECT_GE(steps, 40);
  EXPECT_EQ(steps, masked);
  EXPECT_GE(identities, 15);
  fmt::print("{}: {} steps, {} with identity\n", strategy.name, steps, identities);
}

INSTANTIATE_TEST_SUITE_P(Strategies, Online, ::testing::ValuesIn(kStrategies), [](const auto& name) { return std::string(name.param); });

// Sites on programs as they come: how many each strategy finds.
struct Expected {
  const char* file;
  int prefix_max, prefix_sum, online, flash;
};
constexpr Expected kExpected[] = {
    {"tests/leir/naive/worked_c_softmax.leir", 1, 1, 1, 0},
    {"tests/leir/naive/worked_d_flash_attention.leir", 1, 1, 1, 1},
    {"tests/leir/ok/steptp_02_softmax.leir", 1, 1, 1, 0},
    {"tests/leir/ok/steptp_07_attention.leir", 1, 1, 1, 2},
    {"tests/leir/ok/steptp_09_cross_entropy.leir", 1, 1, 1, 0},
    {"bench/workloads/attention.leir", 1, 1, 1, 2},
    {"bench/workloads/attention_causal.leir", 1, 1, 1, 2},
    {"bench/workloads/attention_one_head.leir", 1, 1, 1, 2},
    {"bench/workloads/logsumexp.leir", 1, 1, 1, 0},
    {"bench/workloads/cross_entropy_soft.leir", 1, 1, 1, 0},
    {"examples/01_transformer_block/graph.leir", 1, 1, 1, 0},
    {"examples/02_attention/graph.leir", 1, 1, 1, 2},
};

TEST(OnlineForms, FireOnImportedPrograms) {
  const Target target = described_target();
  for (const Expected& one : kExpected) {
    const Result<std::string> text = read_file(std::string(CAIRN_SOURCE_DIR) + "/" + one.file);
    ASSERT_TRUE(text.ok()) << one.file;
    const Program program = read_program(*text, one.file);
    const int wanted[] = {one.prefix_max, one.prefix_sum, one.online, one.flash};
    for (std::size_t k = 0; k < 4; ++k) {
      const Strategy& strategy = *find_strategy(kStrategies[k]);
      const std::vector<Args> sites = strategy.sites(program, target);
      EXPECT_EQ(static_cast<int>(sites.size()), wanted[k]) << one.file << ": " << strategy.name;
      for (const Args& args : sites) {
        const Result<Step> step = apply_action(program, target, {std::string(strategy.name), args});
        ASSERT_TRUE(step.ok()) << one.file << ": " << strategy.name << ": " << render(step.error());
        IdentityOptions options;
        options.claim = step->exactness;
        const IdentityResult identity = check_identity(program, step->after, options);
        EXPECT_NE(identity.verdict, IdentityResult::Verdict::failed) << one.file << ": " << strategy.name << ": " << identity.reason;
        fmt::print("{}: {} ({}): identity {}, {} elements, {} nodes {}\n", one.file, strategy.name, exactness_name(step->exactness),
                   identity.held() ? "held" : "absent", identity.elements, identity.nodes, identity.reason);
      }
    }
  }
}

// A pass that forgot something must not slip through the comparison above.
TEST(OnlineForms, ComparisonSeesWhatIsForgotten) {
  const std::string head = "in A^{f32}_{4,6};out D^{f32}_{4};";
  const std::string good = "L^{4}_{i=0}[M^{f32,l}=-inf;S^{f32,l}=0;L^{6}_{k=0}[J^{f32,l}=M;M=max(M,A_{i,k});S=S*if_then_else(M==-inf,1,exp(J-M));"
                           "S=S+if_then_else(M==-inf,0,exp(A_{i,k}-M));];D_{i}=if_then_else(M==-inf,nan,S);];";
  const Program before = read_program(head + "L^{4}_{i=0}L^{6}_{k=0}[M^{f32,g}_{i}=max(M_{i},A_{i,k});];"
                                             "L^{4}_{i=0}L^{6}_{k=0}[D_{i}=D_{i}+exp(A_{i,k}-M_{i});];", "before");
  ValueMap inputs = make_inputs(before, Family::normal, 5);
  ValueMap masked = inputs;
  mask_inputs(&masked, 5);
  const auto judge = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    text.replace(at, from.size(), to);
    const Program after = read_program(head + text, "after");
    return std::pair{difference(before, after, inputs, true).empty(), difference(before, after, masked, true).empty()};
  };
  EXPECT_EQ(judge("M==-inf,nan,S", "M==-inf,nan,S"), (std::pair{true, true}));
  EXPECT_EQ(judge("S=S*if_then_else(M==-inf,1,exp(J-M));", ""), (std::pair{false, false})) << "no rescaling";
  EXPECT_EQ(judge("if_then_else(M==-inf,1,exp(J-M))", "exp(J-M)"), (std::pair{true, false})) << "a prefix of -inf";
  EXPECT_EQ(judge("if_then_else(M==-inf,0,exp(A_{i,k}-M))", "exp(A_{i,k}-M)"), (std::pair{true, false})) << "a prefix of -inf";
  EXPECT_EQ(judge("if_then_else(M==-inf,nan,S)", "S"), (std::pair{true, false})) << "a row of -inf";
}

}  // namespace
}  // namespace cairn::test
