// Verifying: the CPU path, a program of 50 equations, and the shadow execution's rate.
#include <benchmark/benchmark.h>

#include "analysis/concrete.h"
#include "base/file.h"
#include "ir/text.h"
#include "verify/verify.h"

namespace cairn {
namespace {

Program load(const std::string& path) {
  const auto source = read_file(std::string(CAIRN_SOURCE_DIR) + path);
  Result<Program> program = source.ok() ? parse_program(*source) : Result<Program>(source.error());
  return program.ok() ? *std::move(program) : Program();
}

void bm_verify(benchmark::State& state, const std::string& path) {
  const Program program = load(path);
  for (auto _ : state) benchmark::DoNotOptimize(verify_program(program, Target{}));
}
BENCHMARK_CAPTURE(bm_verify, path_1024, "/tests/verify/data/path_1024.leir")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_verify, path_tail, "/tests/verify/data/path_tail.leir")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_verify, flash_attention, "/tests/leir/ok/worked_d_flash_attention.leir")->Unit(benchmark::kMillisecond);

// A chain of matrix products, biases and softmaxes: 10 blocks of 5 equations. Target: under 5 ms.
void bm_verify_fifty(benchmark::State& state) {
  std::string text = "in Aa^{f32}_{256,512};param W^{f32}_{512,512};param V^{f32}_{512};out Z^{f32}_{256,512};\n";
  std::string from = "Aa";
  for (int i = 0; i < 10; ++i) {
    const auto name = [i](char c) { return std::string(1, c) + static_cast<char>('a' + i); };
    const std::string b = name('B'), c = name('C'), d = name('D'), e = name('E'), g = i == 9 ? "Z" : name('G');
    text += "P^{256}_{i=0}L^{512}_{j=0}L^{512}_{k=0}[" + b + "^{f32,g}_{i,j}=" + b + "^{f32,g}_{i,j}+" + from + "_{i,k}*W_{k,j};];\n";
    text += "P^{256}_{i=0}L^{512}_{j=0}[" + c + "^{f32,g}_{i,j}=" + b + "_{i,j}+V_{j};];\n";
    text += "P^{256}_{i=0}L^{512}_{j=0}[" + d + "^{f32,g}_{i}=max(" + d + "^{f32,g}_{i}," + c + "_{i,j});];\n";
    text += "P^{256}_{i=0}L^{512}_{j=0}[" + e + "^{f32,g}_{i}=" + e + "^{f32,g}_{i}+exp(" + c + "_{i,j}-" + d + "_{i});];\n";
    text += "P^{256}_{i=0}L^{512}_{j=0}[" + g + (i == 9 ? "" : "^{f32,g}") + "_{i,j}=exp(" + c + "_{i,j}-" + d + "_{i})/" + e + "_{i};];\n";
    from = g;
  }
  const Result<Program> program = parse_program(text);
  if (!program.ok()) return state.SkipWithError(program.error().message.c_str());
  if (!verify_program(*program, Target{}).ok()) return state.SkipWithError("refused");
  for (auto _ : state) benchmark::DoNotOptimize(verify_program(*program, Target{}));
}
BENCHMARK(bm_verify_fifty)->Unit(benchmark::kMillisecond);

void bm_shadow_execution(benchmark::State& state) {
  const Result<Program> program = parse_program(
      "in A^{f32}_{128,128};in C^{f32}_{128,128};out D^{f32}_{128,128};L^{128}_{i=0}L^{128}_{j=0}L^{128}_{k=0}[D_{i,j}=D_{i,j}+A_{i,k}*C_{k,j};];");
  for (auto _ : state) benchmark::DoNotOptimize(run_concrete(*program));
  state.SetItemsProcessed(state.iterations() * 128 * 128 * 128);
}
BENCHMARK(bm_shadow_execution)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cairn
