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
constexpr int kMaxFaults = 8;   // shown of one run

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

// What is wrong with one step of a walk; empty if nothing is.
std::string check_step(const Walk& walk, const Program& start, const Program& before, const Step& step, const Action& action, Exactness weakest, bool conditional, const Target& target) {
  const std::string text = print_program(step.after);
  const Result<Program> again = parse_program(text);
  if (!again.ok()) return "the program after does not parse: " + render(again.error());
  if (canonical_hash(*again) != canonical_hash(step.after)) return "the text of the program after has another hash";
  if (const std::string d = compare_runs(before, step.after, step.exactness, walk.round, step.recorded); !d.empty()) return "the step: " + d;
  // A recorded condition speaks of the program it was recorded at, so the start is compared until there is one.
  if (!conditional) {
    if (const std::string d = compare_runs(start, step.after, weakest, walk.round + 1); !d.empty()) return "the walk: " + d;
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
  if (reasons.empty() && !set.ok()) return "no certificate beside wellformed";
  return reasons;
}

TEST(Walks, TenStepsKeepMeaning) {
  const Target target = described_target();
  const char* seed_text = std::getenv("CAIRN_SEED");
  const std::uint64_t seed = seed_text ? std::strtoull(seed_text, nullptr, 10) : 20260202;
  const auto& strategies = all_strategies();
  std::map<std::string_view, int> used;
  int steps = 0, faults = 0;
  const char* round_text = std::getenv("CAIRN_ROUND");   // of a failure: this walk alone
  const std::uint64_t only = round_text ? std::strtoull(round_text, nullptr, 10) : 0;
  for (std::uint64_t round = only; round < (round_text ? only + 1 : wanted_walks()); ++round) {
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
      const std::string fault = check_step(walk, *start, now, *step, action, weakest, conditional, target);
      if (!fault.empty()) {
        std::string recorded;
        for (const SideCondition& c : step->recorded) recorded += fmt::format("  {}{}\n", c.text, c.proved ? " (proved)" : "");
        ADD_FAILURE() << fault << "\nclass " << exactness_name(step->exactness) << "\n" << walk.describe() << recorded << print_program(now) << "=>\n" << print_program(step->after);
        if (++faults == kMaxFaults) return;
        break;
      }
      now = std::move(step->after);
      ++used[strategy.name];
      ++made;
      ++steps;
    }
  }
  fmt::print("seed {}: {} steps of {} strategies in {} walks\n", seed, steps, used.size(), wanted_walks());
  if (round_text) return;
  EXPECT_GE(steps, static_cast<int>(wanted_walks()) * kSteps / 2) << "most walks end early";
}

}  // namespace
}  // namespace cairn::test
