// Scores and decisions against numbers computed by hand (docs/memory-policy.md) and by an independent script.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "memory/policy_example.h"

namespace cairn {
namespace {

using namespace example;
constexpr double kTiny = 1e-8;

struct ModeCase {
  MemoryMode mode;
  double vectorize, transpose, parallel, memory_access, parallelism, probability;   // of memory_access
};
const ModeCase kModeCases[] = {
    {MemoryMode::htam, 0.243459883, 0.219440329, 0.243750000, 0.608930837, 0.605241002, 0.545992559},
    {MemoryMode::no_local, 0.150000000, 0.120000000, 0.060000000, 0.515470955, 0.421491002, 0.990977744},
    {MemoryMode::no_prefix, 0.239613971, -0.040339506, 0.220000000, 0.392869432, 0.367741002, 0.778409469},
    {MemoryMode::k1, 0.240250545, 0.219440329, 0.243750000, 0.582425085, 0.605241002, 0.242174265},
    {MemoryMode::uniform_w, 0.249046841, 0.219440329, 0.243750000, 0.655073233, 0.605241002, 0.923551660},
    {MemoryMode::no_credit, 0.243459883, -0.040339506, 0.243750000, 0.608930837, 0.605241002, 0.545992559},
    {MemoryMode::no_context, 0.176929718, 0.239607843, 0.243750000, 0.582396162, 0.605241002, 0.241908964},
    {MemoryMode::no_run, 0.385616745, 0.145695473, 0.243750000, 0.874781622, 0.605241002, 0.999998597},
    {MemoryMode::no_trigger, 0.243459883, 0.219440329, 0.243750000, 0.538930837, 0.575241002, 0.139973722},
};

class ModeScores : public testing::TestWithParam<ModeCase> {};

TEST_P(ModeScores, AreTheHandComputedOnes) {
  const ModeCase& c = GetParam();
  const EvidenceIndex index = make_index(c.mode);
  const DecisionState state = make_state();
  const std::vector<Scored> locals = score_locals(index, state, make_options(), make_parameters(), c.mode);
  EXPECT_NEAR(find_scored(locals, "vectorize").score, c.vectorize, kTiny);
  EXPECT_NEAR(find_scored(locals, "transpose").score, c.transpose, kTiny);
  EXPECT_NEAR(find_scored(locals, "parallel").score, c.parallel, kTiny);
  const std::vector<Scored> directions = score_directions(index, state, make_options(), kTriggers, make_parameters(), c.mode);
  ASSERT_EQ(directions.size(), 2u);
  EXPECT_NEAR(find_scored(directions, "memory_access").score, c.memory_access, kTiny);
  EXPECT_NEAR(find_scored(directions, "parallelism").score, c.parallelism, kTiny);
  EXPECT_NEAR(find_scored(directions, "memory_access").probability, c.probability, 1e-7);
  for (const auto* scored : {&locals, &directions}) {
    for (const Scored& s : *scored) {
      double sum = 0;
      for (const Term& term : s.terms) sum += term.value;
      EXPECT_NEAR(sum, s.score, 1e-12) << s.name << ": the terms make up the score";
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Policy, ModeScores, testing::ValuesIn(kModeCases), [](const auto& test) {
  std::string name(memory_mode_name(test.param.mode));
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

// The page's numbers, term by term.
TEST(WorkedDecision, HasTheTermsOfThePage) {
  const EvidenceIndex index = make_index(MemoryMode::htam);
  const DecisionState state = make_state();
  EXPECT_NEAR(index.local_gain("vectorize", 0.15), 0.199510, 5e-7);
  EXPECT_NEAR(index.local_edge("tile", "vectorize", 1, 0.15), 0.240251, 5e-7);
  EXPECT_NEAR(index.local_edge(kStartNode, "vectorize", 2, 0.15), 0.257843, 5e-7);
  EXPECT_EQ(index.local_failure("vectorize"), 0);
  EXPECT_NEAR(index.local_failure("transpose"), 0.328395, 5e-7);
  EXPECT_EQ(index.enabled_by("transpose").local, "vectorize");
  EXPECT_NEAR(index.enabled_by("transpose").gain, 0.478922, 5e-7);
  EXPECT_TRUE(index.enabled_by("vectorize").local.empty());
  EXPECT_NEAR(index.direction_edge("data_reuse", "memory_access", 1, 0), 0.188919, 5e-7);
  EXPECT_NEAR(index.direction_edge(kStartNode, "memory_access", 2, 0), 0.316623, 5e-7);
  const std::vector<Scored> directions = score_directions(index, state, make_options(), kTriggers, make_parameters(), MemoryMode::htam);
  const Scored& access = find_scored(directions, "memory_access");
  const std::vector<std::pair<std::string, double>> expected{
      {"trigger", 0.07}, {"after data_reuse", 0.154455}, {"after START", 0.057760}, {"best local vectorize", 0.243460}, {"count", 0.083255}};
  ASSERT_EQ(access.terms.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_EQ(access.terms[k].name, expected[k].first);
    EXPECT_NEAR(access.terms[k].value, expected[k].second, 1e-6) << access.terms[k].name;
  }
  const std::vector<Scored> locals = score_locals(index, state, make_options(), make_parameters(), MemoryMode::htam);
  const std::vector<std::pair<std::string, double>> of_transpose{
      {"after tile", -0.006132}, {"after START", -0.001368}, {"enables vectorize", 0.383137}, {"failures", -0.156197}};
  const Scored& transpose = find_scored(locals, "transpose");
  ASSERT_EQ(transpose.terms.size(), of_transpose.size());
  for (std::size_t k = 0; k < of_transpose.size(); ++k) {
    EXPECT_EQ(transpose.terms[k].name, of_transpose[k].first);
    EXPECT_NEAR(transpose.terms[k].value, of_transpose[k].second, 1e-6) << transpose.terms[k].name;
  }
  EXPECT_NEAR(local_count_term(index, "vectorize", state.program, {}), 0.041628, 1e-6);
  EXPECT_NEAR(local_count_term(index, "transpose", state.program, {}), 0.058871, 1e-6);
  EXPECT_NEAR(local_noise(index, "vectorize", {}), 0.05 / std::sqrt(11.0), 1e-12);
  EXPECT_NEAR(local_noise(index, "transpose", {}), 0.05 / std::sqrt(6.0), 1e-12);
  EXPECT_NEAR(local_noise(index, "never tried", {}), 0.05, 1e-12);
}

TEST(WorkedDecision, DrawsTheDirectionThenTheLargestLocal) {
  const EvidenceIndex index = make_index(MemoryMode::htam);
  int chosen = 0;
  constexpr int kDraws = 4000;
  for (int k = 0; k < kDraws; ++k) {
    const Decision d = decide(index, make_state(), make_options(), kTriggers, make_parameters(), MemoryMode::htam, Rng(7).split(static_cast<std::uint64_t>(k)));
    chosen += d.direction == "memory_access";
    EXPECT_EQ(d.direction == "memory_access", d.draw < find_scored(d.directions, "memory_access").probability);
    const auto best = std::max_element(d.locals.begin(), d.locals.end(), [](const Scored& a, const Scored& b) { return a.score < b.score; });
    EXPECT_EQ(d.local, best->name);
    EXPECT_EQ(best->terms.back().name, "noise");
    const Decision again = decide(index, make_state(), make_options(), kTriggers, make_parameters(), MemoryMode::htam, Rng(7).split(static_cast<std::uint64_t>(k)));
    ASSERT_EQ(again.local, d.local) << "the same stream decides the same";
  }
  // Binomial: 0.546 with a standard error of 0.008.
  EXPECT_NEAR(static_cast<double>(chosen) / kDraws, 0.545993, 0.032);
}

TEST(WorkedDecision, AModelThatPicksGetsWarmerDirectionsAndNoDraw) {
  const EvidenceIndex index = make_index(MemoryMode::htam);
  DecisionState state = make_state();
  state.model_picks = true;
  const std::vector<Scored> directions = score_directions(index, state, make_options(), kTriggers, make_parameters(), MemoryMode::htam);
  EXPECT_NEAR(find_scored(directions, "memory_access").probability, 1 / (1 + std::exp((0.605241002 - 0.608930837) / 0.1)), 1e-7);
  const Decision d = decide(index, state, {make_options()[0], make_options()[1]}, kTriggers, make_parameters(), MemoryMode::htam, Rng(1));
  EXPECT_EQ(d.local, "vectorize");
  for (const Scored& s : d.locals) {
    for (const Term& term : s.terms) EXPECT_NE(term.name, "noise");
  }
}

TEST(Decide, LeavesOutWhatDoesNotApply) {
  const EvidenceIndex index = make_index(MemoryMode::htam);
  DecisionState state = make_state();
  state.closed = {"memory_access"};
  EXPECT_EQ(decide(index, state, make_options(), kTriggers, make_parameters(), MemoryMode::htam, Rng(1)).local, "parallel");
  state.closed.insert("parallelism");
  const Decision none = decide(index, state, make_options(), kTriggers, make_parameters(), MemoryMode::htam, Rng(1));
  EXPECT_TRUE(none.direction.empty() && none.local.empty()) << "no direction is left: the trajectory ends";
  EXPECT_TRUE(decide(index, make_state(), {}, kTriggers, make_parameters(), MemoryMode::htam, Rng(1)).local.empty());
}

TEST(Decide, CountsDecisionsHereThreefold) {
  EvidenceIndex index = make_index(MemoryMode::htam);
  const DecisionState state = make_state();
  const auto count = [&] { return find_scored(score_directions(index, state, make_options(), kTriggers, make_parameters(), MemoryMode::htam), "memory_access").terms.back().value; };
  EXPECT_NEAR(count(), 0.1 * std::sqrt(std::log(4.0) / 2), 1e-12);
  index.count_at("memory_access", "transpose", state.program);
  EXPECT_NEAR(count(), 0.1 * std::sqrt(std::log(4.0) / 5), 1e-12);
  EXPECT_NEAR(local_count_term(index, "transpose", state.program, {}), 0.05 * std::sqrt(std::log(4.0) / 4), 1e-12);
  index.set_run(make_run());
  EXPECT_NEAR(count(), 0.1 * std::sqrt(std::log(4.0) / 5), 1e-12) << "new rows leave the counts at programs";
}

TEST(Decide, ChargesAFailureOfThisRunWithTheseArguments) {
  const EvidenceIndex index = make_index(MemoryMode::htam);
  std::vector<LocalOption> options = make_options();
  options[0].failed_before = true;
  EXPECT_NEAR(find_scored(score_locals(index, make_state(), options, make_parameters(), MemoryMode::htam), "vectorize").score, 0.243459883 - 0.1, kTiny);
}

TEST(PrefixWeights, FallWithTheLagOverWhatIsThere) {
  const double near = 1 / (1 + std::exp(-1.5));
  struct Case { Prefix prefix; MemoryMode mode; std::vector<double> weights; };
  for (const Case& c : {Case{{"a", "b"}, MemoryMode::htam, {near, 1 - near}}, Case{{"a", kStartNode}, MemoryMode::htam, {near, 1 - near}},
                        Case{{kStartNode, ""}, MemoryMode::htam, {1}}, Case{{"", ""}, MemoryMode::htam, {}},
                        Case{{"a", "b"}, MemoryMode::k1, {1}}, Case{{"a", "b"}, MemoryMode::uniform_w, {0.5, 0.5}}}) {
    const std::vector<double> weights = prefix_weights(c.prefix, make_parameters(), c.mode);
    ASSERT_EQ(weights.size(), c.weights.size());
    for (std::size_t k = 0; k < weights.size(); ++k) EXPECT_NEAR(weights[k], c.weights[k], 1e-12);
  }
}

TEST(Modes, HaveNamesThatParseBack) {
  std::size_t count = 0;
  for (const char* name : {"htam", "flat", "flat+", "replay", "feedback", "vanilla", "ucb", "random", "no-hierarchy", "no-local", "no-prefix", "k1",
                           "uniform-w", "no-credit", "no-context", "no-run", "no-trigger"}) {
    const auto mode = parse_memory_mode(name);
    ASSERT_TRUE(mode) << name;
    EXPECT_EQ(static_cast<std::size_t>(*mode), count++);
    EXPECT_EQ(memory_mode_name(*mode), name);
  }
  EXPECT_FALSE(parse_memory_mode("HTAM"));
}

}  // namespace
}  // namespace cairn
