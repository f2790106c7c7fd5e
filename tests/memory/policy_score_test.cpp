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
    {MemoryMode::htam, 0.349985115, -0.042328320, 0.390000000, 0.913494825, 0.847741002, 0.964004122},
    {MemoryMode::no_local, 0.150000000, 0.120000000, 0.060000000, 0.713509710, 0.517741002, 0.999943907},
    {MemoryMode::no_prefix, 0.199509804, 0.012640000, 0.280000000, 0.492765265, 0.487741002, 0.562475073},
    {MemoryMode::k1, 0.344417211, -0.042328320, 0.390000000, 0.907166427, 0.847741002, 0.951259251},
    {MemoryMode::uniform_w, 0.359677968, -0.042328320, 0.390000000, 0.924511582, 0.847741002, 0.978928331},
    {MemoryMode::no_credit, 0.100078034, -0.042328320, 0.390000000, 0.456156742, 0.847741002, 0.000000003},
    {MemoryMode::no_context, 0.258839904, 0.040800000, 0.390000000, 0.727147411, 0.847741002, 0.002400489},
    {MemoryMode::no_run, 0.359683624, -0.042328320, 0.390000000, 0.923193334, 0.847741002, 0.977524919},
    {MemoryMode::no_trigger, 0.349985115, -0.042328320, 0.390000000, 0.703494825, 0.757741002, 0.062250933},
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
  EXPECT_NEAR(index.local_mean("vectorize", 0.15), 0.199510, 5e-7);
  EXPECT_NEAR(index.local_edge("tile", "vectorize", 1, 0.199509804), 0.344417, 5e-7);
  EXPECT_NEAR(index.local_edge(kStartNode, "vectorize", 2, 0.199509804), 0.374939, 5e-7);
  EXPECT_NEAR(index.direction_edge("data_reuse", "memory_access", 1, 0), 0.269494, 5e-7);
  EXPECT_NEAR(index.direction_edge(kStartNode, "memory_access", 2, 0), 0.273663, 5e-7);
  const std::vector<Scored> directions = score_directions(index, state, make_options(), kTriggers, make_parameters(), MemoryMode::htam);
  const Scored& access = find_scored(directions, "memory_access");
  const std::vector<std::pair<std::string, double>> expected{
      {"trigger", 0.21}, {"after data_reuse", 0.220331}, {"after START", 0.049923}, {"best local vectorize", 0.349985}, {"count", 0.083255}};
  ASSERT_EQ(access.terms.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_EQ(access.terms[k].name, expected[k].first);
    EXPECT_NEAR(access.terms[k].value, expected[k].second, 1e-6) << access.terms[k].name;
  }
  EXPECT_NEAR(local_count_term(index, "vectorize", state.program, {}), 0.041628, 1e-6);
  EXPECT_NEAR(local_count_term(index, "transpose", state.program, {}), 0.058871, 1e-6);
  EXPECT_NEAR(local_noise(index, "vectorize", {}), 0.3 / std::sqrt(11.0), 1e-12);
  EXPECT_NEAR(local_noise(index, "transpose", {}), 0.3 / std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(local_noise(index, "never tried", {}), 0.3, 1e-12);
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
  // Binomial: 0.964 with a standard error of 0.003.
  EXPECT_NEAR(static_cast<double>(chosen) / kDraws, 0.964004, 0.012);
}

TEST(WorkedDecision, AModelThatPicksGetsWarmerDirectionsAndNoDraw) {
  const EvidenceIndex index = make_index(MemoryMode::htam);
  DecisionState state = make_state();
  state.model_picks = true;
  const std::vector<Scored> directions = score_directions(index, state, make_options(), kTriggers, make_parameters(), MemoryMode::htam);
  EXPECT_NEAR(find_scored(directions, "memory_access").probability, 1 / (1 + std::exp((0.847741002 - 0.913494825) / 0.1)), 1e-7);
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
  EXPECT_NEAR(find_scored(score_locals(index, make_state(), options, make_parameters(), MemoryMode::htam), "vectorize").score, 0.349985115 - 0.3, kTiny);
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
