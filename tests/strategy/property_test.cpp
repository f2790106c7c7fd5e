// Random programs, random earlier steps, random sites: every site applies or refuses, the result verifies, both programs
// interpret alike at the claimed class, and a declared inverse returns the canonical hash.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "ir/canon.h"
#include "ir/text.h"
#include "strategy/compare.h"
#include "strategy/generator.h"
#include "strategy/keep_failure.h"
#include "strategy/registry.h"
#include "strategy/sequence.h"
#include "verify/verify.h"

namespace cairn::test {
namespace {

// Steps a strategy; CAIRN_STEPS raises it (nightly).
int wanted_steps() {
  const char* value = std::getenv("CAIRN_STEPS");
  return value ? std::atoi(value) : 50;
}

Args pick(Rng* rng, const std::vector<Args>& sites) { return sites[rng->below(sites.size())]; }

// A generated program, changed by up to three random steps of other strategies.
std::optional<Program> make_program(std::string_view strategy_name, Rng* rng, const Target& target) {
  const std::string text = generate_program_for(strategy_name, rng);
  Result<Program> program = parse_program(text);
  EXPECT_TRUE(program.ok()) << render(program.error()) << text;
  if (!program || !check_program(*program, target)) return std::nullopt;
  Program now = *std::move(program);
  const std::uint64_t steps = rng->below(4);
  for (std::uint64_t k = 0; k < steps; ++k) {
    const Strategy* strategy = all_strategies()[rng->below(all_strategies().size())];
    const std::vector<Args> sites = strategy->sites(now, target);
    if (sites.empty()) continue;
    Result<Step> step = apply_action(now, target, {std::string(strategy->name), pick(rng, sites)});
    if (step) now = std::move(step->after);
  }
  return now;
}

// pad_to_tile asks for a staged, guarded tile: a product of random extents, tiled and staged.
std::optional<Program> make_padded(Rng* rng, const Target& target) {
  const auto extent = [rng] { return 5 + rng->below(9); };
  const std::uint64_t m = extent(), n = extent(), k = extent();
  const std::string text = fmt::format("in A^{{f32}}_{{{0},{2}}};in C^{{f32}}_{{{2},{1}}};out D^{{f32}}_{{{0},{1}}};"
                                       "L^{{{0}}}_{{i=0}}L^{{{1}}}_{{j=0}}L^{{{2}}}_{{k=0}}[D^{{f32,g}}_{{i,j}}=D^{{f32,g}}_{{i,j}}+A^{{f32,g}}_{{i,k}}*C^{{f32,g}}_{{k,j}};];",
                                       m, n, k);
  const auto size = [rng] { return 2 + rng->below(3); };
  const std::vector<std::string> lines = {fmt::format("loop_tiling(loops=0.i+0.j+0.k, sizes={}x{}x{})", size(), size(), size()),
                                          "loop_reorder(order=0.i+0.k+0.j+0.$1.2+0.$1.0+0.$1.1)",
                                          "cache_read_write(tensor=D, loop=0.j, scope=l, mode=write)",
                                          rng->below(2) ? "?cache_read_write(tensor=A, loop=0.k, scope=s)" : "?cache_read_write(tensor=A, loop=0.j, scope=s)",
                                          "?cache_read_write(tensor=C, loop=0.k, scope=s)"};
  Result<Sequence> sequence = apply_sequence(*parse_program(text), target, lines);
  EXPECT_TRUE(sequence.ok()) << render(sequence.error()) << text;
  if (!sequence) return std::nullopt;
  return std::move(sequence->end);
}

class Property : public ::testing::TestWithParam<const Strategy*> {};

TEST_P(Property, StepsKeepMeaning) {
  const Strategy& strategy = *GetParam();
  const Target target = described_target();
  const char* seed_text = std::getenv("CAIRN_SEED");
  const std::uint64_t base = seed_text ? std::strtoull(seed_text, nullptr, 10) : 20260101;
  int steps = 0, refused = 0, programs = 0, inverses = 0;
  for (std::uint64_t round = 0; steps < wanted_steps() && round < 400u * static_cast<unsigned>(wanted_steps()); ++round) {
    Rng rng = Rng(base).split(strategy.name).split(round);
    const bool padded = strategy.name == "pad_to_tile";
    const std::optional<Program> program = padded ? make_padded(&rng, target) : make_program(strategy.name, &rng, target);
    if (!program) continue;
    ++programs;
    const std::vector<Args> sites = strategy.sites(*program, target);
    ASSERT_EQ(sites, strategy.sites(*program, target)) << "sites are not deterministic";
    for (int pick_count = 0; !sites.empty() && pick_count < 2; ++pick_count) {
      const Action action{std::string(strategy.name), pick(&rng, sites)};
      const std::string place = fmt::format("seed {} round {}: {}\n{}", base, round, print_action(action), print_program(*program));
      ASSERT_TRUE(parse_action(print_action(action)).ok()) << place;
      const Result<Step> step = apply_action(*program, target, action);
      if (!step) {
        ++refused;
        ASSERT_FALSE(step.error().message.empty()) << place;
        continue;
      }
      ++steps;
      ASSERT_LE(step->exactness, strategy.weakest) << place;
      const Result<Program> again = parse_program(print_program(step->after));
      ASSERT_TRUE(again.ok()) << place << print_program(step->after);
      ASSERT_EQ(canonical_hash(*again), canonical_hash(step->after)) << place << print_program(step->after);
      const std::string difference = compare_runs(*program, step->after, step->exactness, round, step->recorded);
      if (!difference.empty()) FAIL() << difference << "\n" << place << print_program(step->after) << keep_failure(*program, target, action, round);
      if (!step->inverse) continue;
      ++inverses;
      const Result<Step> back = apply_action(step->after, target, *step->inverse);
      ASSERT_TRUE(back.ok()) << place << print_program(step->after) << print_action(*step->inverse) << ": " << render(back.error());
      ASSERT_EQ(canonical_hash(back->after), canonical_hash(*program)) << place << print_program(step->after) << print_action(*step->inverse) << "\n"
                                                                        << print_program(back->after);
    }
  }
  fmt::print("{}: seed {}, {} steps, {} refused, {} inverses, {} programs\n", strategy.name, base, steps, refused, inverses, programs);
  EXPECT_GE(steps, wanted_steps()) << strategy.name << " fires too rarely on random programs";
  EXPECT_LE(refused, 3 * steps + 20) << strategy.name << " lists sites that it then refuses";
}

INSTANTIATE_TEST_SUITE_P(Strategies, Property, ::testing::ValuesIn(all_strategies()),
                         [](const auto& strategy) { return std::string(strategy.param->name); });

}  // namespace
}  // namespace cairn::test
