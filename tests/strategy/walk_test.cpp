// Random walks of ten steps over all strategies, with every oracle at each step: the text round-trips, the step's certificates
// hold at the class it claims, and the interpreter agrees with the program before and with the start.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "ir/canon.h"
#include "ir/text.h"
#include "strategy/compare.h"
#include "strategy/generator.h"
#include "strategy/registry.h"
#include "verify/verify.h"

namespace cairn::test {
namespace {

constexpr int kSteps = 10;

// Walks; CAIRN_STEPS (steps a strategy in the nightly run) makes a tenth of it walks a strategy.
std::uint64_t wanted_walks() {
  const char* value = std::getenv("CAIRN_STEPS");
  return value ? static_cast<std::uint64_t>(std::atoi(value)) / 10 * all_strategies().size() : 24;
}

// What a walk stands on when it fails: the seed, the moves, and the program before the last of them.
struct Walk {
  std::uint64_t seed = 0, round = 0;
  std::string start;
  std::vector<std::string> actions;
  std::string describe() const {
    std::string text = fmt::format("seed {} round {}\n{}", seed, round, start);
    for (const std::string& action : actions) text += "  " + action + "\n";
    return text;
  }
};

// Checks one step of a walk.
void check_step(const Walk& walk, const Program& start, const Program& before, const Step& step, const Action& action, Exactness weakest, bool conditional, const Target& target) {
  const Result<Program> again = parse_program(print_program(step.after));
  ASSERT_TRUE(again.ok()) << walk.describe() << print_program(step.after);
  ASSERT_EQ(canonical_hash(*again), canonical_hash(step.after)) << walk.describe() << print_program(step.after);
  ASSERT_EQ(compare_runs(before, step.after, step.exactness, walk.round, step.recorded), "") << walk.describe() << print_program(step.after);
  // A recorded condition speaks of the program it was recorded at, so the start is compared until there is one.
  if (!conditional) {
    ASSERT_EQ(compare_runs(start, step.after, weakest, walk.round + 1), "") << walk.describe() << print_program(step.after);
  }
  CertifyOptions options;
  options.target = target;
  options.seed = walk.round + 1;
  options.numeric_seconds = 0.05;
  const ActionEvidence evidence = evidence_of(before, target, action, step);
  const CertificateSet set = certify(before, step.after, step.exactness, &evidence, options);
  std::string reasons;
  for (const Certificate& c : set.certificates) {
    if (!c.held) reasons += fmt::format("{}: {}\n", rung_name(c.rung), c.reason);
  }
  ASSERT_EQ(reasons, "") << walk.describe() << print_program(before) << "=>\n" << print_program(step.after);
  ASSERT_TRUE(set.ok()) << "no certificate beside wellformed\n" << walk.describe() << print_program(step.after);
}

TEST(Walks, TenStepsKeepMeaning) {
  const Target target = described_target();
  const char* seed_text = std::getenv("CAIRN_SEED");
  const std::uint64_t seed = seed_text ? std::strtoull(seed_text, nullptr, 10) : 20260202;
  const auto& strategies = all_strategies();
  std::map<std::string_view, int> used;
  int steps = 0;
  for (std::uint64_t round = 0; round < wanted_walks(); ++round) {
    Rng rng = Rng(seed).split(round);
    Walk walk{seed, round, generate_program_for(strategies[round % strategies.size()]->name, &rng), {}};
    Result<Program> start = parse_program(walk.start);
    ASSERT_TRUE(start.ok()) << walk.describe();
    if (!check_program(*start, target)) continue;
    Program now = *start;
    Exactness weakest = Exactness::exact;
    bool conditional = false;
    for (int attempts = 0, made = 0; made < kSteps && attempts < 8 * kSteps; ++attempts) {
      const Strategy& strategy = *strategies[rng.below(strategies.size())];
      const std::vector<Args> sites = strategy.sites(now, target);
      if (sites.empty()) continue;
      const Action action{std::string(strategy.name), sites[rng.below(sites.size())]};
      Result<Step> step = apply_action(now, target, action);
      if (!step) continue;
      walk.actions.push_back(print_action(action));
      weakest = std::max(weakest, step->exactness);
      conditional |= std::any_of(step->recorded.begin(), step->recorded.end(), [](const SideCondition& c) { return !c.proved; });
      check_step(walk, *start, now, *step, action, weakest, conditional, target);
      if (HasFatalFailure()) return;
      now = std::move(step->after);
      ++used[strategy.name];
      ++made;
      ++steps;
    }
  }
  fmt::print("seed {}: {} steps of {} strategies in {} walks\n", seed, steps, used.size(), wanted_walks());
  EXPECT_GE(steps, static_cast<int>(wanted_walks()) * kSteps / 2) << "most walks end early";
}

}  // namespace
}  // namespace cairn::test
