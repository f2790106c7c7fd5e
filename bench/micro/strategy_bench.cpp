// Sites of all strategies, and one apply of each, on a typical program and on a 12-equation attention program.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include "base/check.h"
#include "base/file.h"
#include "ir/text.h"
#include "strategy/registry.h"

namespace cairn {
namespace {

Program load(const char* name) {
  auto text = read_file(join_path(CAIRN_SOURCE_DIR, fmt::format("bench/strategies/{}.leir", name)));
  CAIRN_CHECK_MSG(text.ok(), name);
  auto program = parse_program(*text);
  CAIRN_CHECK_MSG(program.ok(), program.ok() ? "" : program.error().message);
  return *std::move(program);
}

// Arguments: the strategy's place in the table, 0 product or 1 attention.
const Strategy& chosen_strategy(benchmark::State& state) {
  const Strategy& strategy = *all_strategies()[static_cast<std::size_t>(state.range(0))];
  state.SetLabel(std::string(strategy.name) + (state.range(1) == 0 ? " product" : " attention"));
  return strategy;
}
const char* chosen_name(const benchmark::State& state) { return state.range(1) == 0 ? "product" : "attention"; }

void sites(benchmark::State& state) {
  const Strategy& strategy = chosen_strategy(state);
  const Program program = load(chosen_name(state));
  const Target target = described_target();
  std::size_t found = 0;
  for (auto _ : state) found = strategy.sites(program, target).size();
  state.counters["sites"] = static_cast<double>(found);
}

// The first site that applies, with (verified) or without the verifier.
void apply(benchmark::State& state, bool verified) {
  const Strategy& strategy = chosen_strategy(state);
  const Program program = load(chosen_name(state));
  const Target target = described_target();
  const std::vector<Args> all = strategy.sites(program, target);
  const Args* chosen = nullptr;
  for (std::size_t k = 0; k < all.size() && !chosen; ++k) {
    if (apply_action(program, target, {std::string(strategy.name), all[k]})) chosen = &all[k];
  }
  if (!chosen) {
    state.SkipWithError("no site");
    return;
  }
  for (auto _ : state) {
    auto step = verified ? apply_action(program, target, {std::string(strategy.name), *chosen}) : strategy.apply(program, target, *chosen);
    benchmark::DoNotOptimize(step);
  }
}

void every_strategy(benchmark::internal::Benchmark* bench) {
  for (int program = 0; program < 2; ++program) {
    for (int k = 0; k < static_cast<int>(all_strategies().size()); ++k) bench->Args({k, program});
  }
}

BENCHMARK(sites)->Apply(every_strategy);
BENCHMARK_CAPTURE(apply, plain, false)->Apply(every_strategy);
BENCHMARK_CAPTURE(apply, verified, true)->Apply(every_strategy);

}  // namespace
}  // namespace cairn
