// Steps of every strategy on random programs earn the identity certificate in the class they claim.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "ir/text.h"
#include "strategy/compare.h"
#include "strategy/generator.h"
#include "strategy/registry.h"
#include "verify/identity.h"
#include "verify/verify.h"

namespace cairn::test {
namespace {

// Steps a strategy; CAIRN_STEPS raises it (nightly).
int wanted_steps() {
  const char* value = std::getenv("CAIRN_STEPS");
  return value ? std::atoi(value) : 12;
}

class IdentityOfSteps : public ::testing::TestWithParam<const Strategy*> {};

TEST_P(IdentityOfSteps, HoldInTheClassOfTheStep) {
  const Strategy& strategy = *GetParam();
  const Target target = described_target();
  const char* seed_text = std::getenv("CAIRN_SEED");
  const std::uint64_t base = seed_text ? std::strtoull(seed_text, nullptr, 10) : 20260201;
  int steps = 0, absent = 0, open = 0;
  for (std::uint64_t round = 0; steps < wanted_steps() && round < 40u * static_cast<unsigned>(wanted_steps()); ++round) {
    Rng rng = Rng(base).split(strategy.name).split(round);
    const std::string text = generate_program_for(strategy.name, &rng);
    const Result<Program> program = parse_program(text);
    if (!program || !check_program(*program, target)) continue;
    const std::vector<Args> sites = strategy.sites(*program, target);
    if (sites.empty()) continue;
    const Action action{std::string(strategy.name), sites[rng.below(sites.size())]};
    const Result<Step> step = apply_action(*program, target, action);
    if (!step || step->exactness == Exactness::changes_precision) continue;
    ++steps;
    IdentityOptions options;
    options.claim = step->exactness;
    options.seed = round + 1;
    const IdentityResult r = check_identity(*program, step->after, options);
    absent += r.verdict == IdentityResult::Verdict::absent;
    // What the field does not know (max with + and *) is no fault of a step that is only algebraic.
    const bool unknown = r.incomplete && step->exactness == Exactness::algebraic;
    open += unknown;
    EXPECT_TRUE(r.verdict != IdentityResult::Verdict::failed || unknown)
        << fmt::format("seed {} round {}: {} as {}: {}\n", base, round, print_action(action), exactness_name(step->exactness), r.reason)
        << print_program(*program) << print_program(step->after);
  }
  fmt::print("{}: {} steps, identity absent on {}, not decided on {}\n", strategy.name, steps, absent, open);
  EXPECT_LE(absent * 4, steps) << strategy.name << ": the rung is too often silent";
}

INSTANTIATE_TEST_SUITE_P(Strategies, IdentityOfSteps, ::testing::ValuesIn(all_strategies()),
                         [](const auto& strategy) { return std::string(strategy.param->name); });

}  // namespace
}  // namespace cairn::test
