// Every strategy on the LEIR programs of the tests: sites are deterministic, each of a few applies or refuses, results
// verify, small programs interpret alike, inverses return. Prints how many programs each strategy fires on.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/rng.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "strategy/compare.h"
#include "strategy/registry.h"
#include "support/leir_files.h"
#include "verify/verify.h"

namespace cairn::test {
namespace {

// Equation instances of a program, saturated.
std::int64_t count_instances(const Body& body) {
  std::int64_t total = 0;
  for (const StmtPtr& stmt : body) {
    const std::int64_t inner = stmt->is_equation() ? 1 : count_instances(stmt->body);
    total += std::min<std::int64_t>(inner, 1 << 30) * (stmt->is_loop() ? std::min<std::int64_t>(stmt->extent, 1 << 30) : 1);
    total = std::min<std::int64_t>(total, std::int64_t{1} << 40);
  }
  return total;
}

// Programs for matrix units take the verifier seconds; the strategies here do not touch such loops.
bool has_matrix_unit(const Body& body) {
  return std::any_of(body.begin(), body.end(), [](const StmtPtr& s) {
    return !s->is_equation() && ((s->is_loop() && s->kind == LoopKind::M) || has_matrix_unit(s->body));
  });
}

class Corpus : public ::testing::TestWithParam<const Strategy*> {};

TEST_P(Corpus, AppliesOrRefuses) {
  const Strategy& strategy = *GetParam();
  const Target target = described_target();
  Rng rng = Rng(7).split(strategy.name);
  int fires = 0, steps = 0, refused = 0, compared = 0;
  for (const LeirFile& file : load_leir_files("ok")) {
    const Result<Program> program = parse_program(file.text);
    if (!program || has_matrix_unit(program->body()) || !check_program(*program, target)) continue;
    const std::vector<Args> sites = strategy.sites(*program, target);
    const bool small = count_instances(program->body()) < 30000;
    bool fired = false;
    for (int k = 0; k < 2 && !sites.empty(); ++k) {
      const Action action{std::string(strategy.name), sites[rng.below(sites.size())]};
      const std::string place = fmt::format("{}: {}\n", file.name, print_action(action));
      const Result<Step> step = apply_action(*program, target, action);
      if (!step) {
        ++refused;
        continue;
      }
      ++steps;
      fired = true;
      const Result<Program> again = parse_program(print_program(step->after));
      ASSERT_TRUE(again.ok()) << place << print_program(step->after);
      ASSERT_EQ(canonical_hash(*again), canonical_hash(step->after)) << place << print_program(step->after);
      if (small && interpret(*program, random_inputs(*program, 3))) {
        ++compared;
        ASSERT_EQ(compare_runs(*program, step->after, step->exactness, 3, step->recorded), "") << place << print_program(step->after);
      }
      if (step->inverse) {
        const Result<Step> back = apply_action(step->after, target, *step->inverse);
        ASSERT_TRUE(back.ok()) << place << print_action(*step->inverse) << ": " << render(back.error()) << print_program(step->after);
        ASSERT_EQ(canonical_hash(back->after), canonical_hash(*program)) << place << print_action(*step->inverse) << print_program(back->after);
      }
    }
    fires += fired ? 1 : 0;
  }
  fmt::print("{}: fires on {} programs, {} steps, {} refused, {} compared\n", strategy.name, fires, steps, refused, compared);
}

INSTANTIATE_TEST_SUITE_P(Strategies, Corpus, ::testing::ValuesIn(all_strategies()),
                         [](const auto& strategy) { return std::string(strategy.param->name); });

}  // namespace
}  // namespace cairn::test
