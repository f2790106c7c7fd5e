// Sites of all strategies, and one apply of each, on a typical program and on a 12-equation attention program.
#include <benchmark/benchmark.h>

#include "base/check.h"
#include "base/file.h"
#include "ir/text.h"
#include "strategy/registry.h"

namespace cairn {
namespace {

const char* const kProduct =
    "in A^{f32}_{1024,1024};in C^{f32}_{1024,1024};in F^{f32}_{1024};out D^{f32}_{1024,1024};"
    "L^{1024}_{i=0}L^{1024}_{j=0}L^{1024}_{k=0}[E^{f32,g}_{i,j}=E^{f32,g}_{i,j}+A^{f32,g}_{i,k}*C^{f32,g}_{k,j};];"
    "L^{1024}_{i=0}L^{1024}_{j=0}[D^{f32,g}_{i,j}=max(E^{f32,g}_{i,j}+F^{f32,g}_{j},0);];";

const char* const kAttention =
    "in A^{f32}_{2,64,64};in C^{f32}_{64,64};in F^{f32}_{64,64};in G^{f32}_{64,64};in H^{f32}_{64,64};out D^{f32}_{2,64,64};"
    "L^{2}_{b=0}L^{64}_{i=0}L^{64}_{j=0}L^{64}_{k=0}[I^{f32,g}_{b,i,j}=I^{f32,g}_{b,i,j}+A^{f32,g}_{b,i,k}*C^{f32,g}_{k,j};];"
    "L^{2}_{b=0}L^{64}_{i=0}L^{64}_{j=0}L^{64}_{k=0}[J^{f32,g}_{b,i,j}=J^{f32,g}_{b,i,j}+A^{f32,g}_{b,i,k}*F^{f32,g}_{k,j};];"
    "L^{2}_{b=0}L^{64}_{i=0}L^{64}_{j=0}L^{64}_{k=0}[K^{f32,g}_{b,i,j}=K^{f32,g}_{b,i,j}+A^{f32,g}_{b,i,k}*G^{f32,g}_{k,j};];"
    "L^{2}_{b=0}L^{4}_{h=0}L^{64}_{i=0}L^{64}_{j=0}L^{16}_{k=0}[N^{f32,g}_{b,h,i,j}=N^{f32,g}_{b,h,i,j}+I^{f32,g}_{b,i,h*16+k}*J^{f32,g}_{b,j,h*16+k};];"
    "L^{2}_{b=0}L^{4}_{h=0}L^{64}_{i=0}L^{64}_{j=0}[O^{f32,g}_{b,h,i,j}=if_then_else(j<=i,N^{f32,g}_{b,h,i,j}*0.25,-inf);];"
    "L^{2}_{b=0}L^{4}_{h=0}L^{64}_{i=0}L^{64}_{j=0}[Q^{f32,g}_{b,h,i}=max(Q^{f32,g}_{b,h,i},O^{f32,g}_{b,h,i,j});];"
    "L^{2}_{b=0}L^{4}_{h=0}L^{64}_{i=0}L^{64}_{j=0}[R^{f32,g}_{b,h,i,j}=exp(O^{f32,g}_{b,h,i,j}-Q^{f32,g}_{b,h,i});];"
    "L^{2}_{b=0}L^{4}_{h=0}L^{64}_{i=0}L^{64}_{j=0}[S^{f32,g}_{b,h,i}=S^{f32,g}_{b,h,i}+R^{f32,g}_{b,h,i,j};];"
    "L^{2}_{b=0}L^{4}_{h=0}L^{64}_{i=0}L^{64}_{j=0}[W^{f32,g}_{b,h,i,j}=R^{f32,g}_{b,h,i,j}/S^{f32,g}_{b,h,i};];"
    "L^{2}_{b=0}L^{4}_{h=0}L^{64}_{i=0}L^{16}_{k=0}L^{64}_{j=0}[X^{f32,g}_{b,i,h*16+k}=X^{f32,g}_{b,i,h*16+k}+W^{f32,g}_{b,h,i,j}*K^{f32,g}_{b,j,h*16+k};];"
    "L^{2}_{b=0}L^{64}_{i=0}L^{64}_{j=0}L^{64}_{k=0}[Y^{f32,g}_{b,i,j}=Y^{f32,g}_{b,i,j}+X^{f32,g}_{b,i,k}*H^{f32,g}_{k,j};];"
    "L^{2}_{b=0}L^{64}_{i=0}L^{64}_{j=0}[D^{f32,g}_{b,i,j}=Y^{f32,g}_{b,i,j}+A^{f32,g}_{b,i,j};];";

Program load(const char* text) {
  auto program = parse_program(text);
  CAIRN_CHECK_MSG(program.ok(), program.ok() ? "" : program.error().message);
  return *std::move(program);
}

// Arguments: the strategy's place in the table, 0 product or 1 attention.
const Strategy& chosen_strategy(benchmark::State& state) {
  const Strategy& strategy = *all_strategies()[static_cast<std::size_t>(state.range(0))];
  state.SetLabel(std::string(strategy.name) + (state.range(1) == 0 ? " product" : " attention"));
  return strategy;
}
const char* chosen_text(const benchmark::State& state) { return state.range(1) == 0 ? kProduct : kAttention; }

void sites(benchmark::State& state) {
  const Strategy& strategy = chosen_strategy(state);
  const Program program = load(chosen_text(state));
  const Target target = described_target();
  std::size_t found = 0;
  for (auto _ : state) found = strategy.sites(program, target).size();
  state.counters["sites"] = static_cast<double>(found);
}

// The first site that applies, with (verified) or without the verifier.
void apply(benchmark::State& state, bool verified) {
  const Strategy& strategy = chosen_strategy(state);
  const Program program = load(chosen_text(state));
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

constexpr int kStrategies = 0
#define CAIRN_STRATEGY(name) +1
#include "strategy/strategies.def"
#undef CAIRN_STRATEGY
    ;

void every_strategy(benchmark::internal::Benchmark* bench) {
  for (int program = 0; program < 2; ++program) {
    for (int k = 0; k < kStrategies; ++k) bench->Args({k, program});
  }
}

BENCHMARK(sites)->Apply(every_strategy);
BENCHMARK_CAPTURE(apply, plain, false)->Apply(every_strategy);
BENCHMARK_CAPTURE(apply, verified, true)->Apply(every_strategy);

}  // namespace
}  // namespace cairn
