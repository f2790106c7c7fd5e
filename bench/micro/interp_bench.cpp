// Equation instances a second of the reference interpreter.
#include <benchmark/benchmark.h>

#include "ir/interp.h"
#include "ir/text.h"

namespace {
using namespace cairn;

void run(benchmark::State& state, const char* text, double instances, bool in_f64, std::uint64_t rounding) {
  const Program p = *parse_program(text);
  ValueMap inputs;
  for (const Tensor& t : p.tensors()) {
    if (t.role != Role::in) continue;
    Value v = Value::zeros(t.dtype, *t.shape);
    for (std::size_t i = 0; i < v.floats.size(); ++i) v.floats[i] = static_cast<double>(i % 17) * 0.25 - 2;
    inputs.emplace(t.name, std::move(v));
  }
  InterpOptions options;
  options.in_f64 = in_f64;
  options.rounding_seed = rounding;
  for (auto _ : state) benchmark::DoNotOptimize(interpret(p, inputs, options));
  state.counters["instances/s"] = benchmark::Counter(instances, benchmark::Counter::kIsIterationInvariantRate);
}

constexpr char kMatmul[] =
    "in A^{f32}_{128,128};in C^{f32}_{128,128};out D^{f32}_{128,128};"
    "L^{128}_{i=0}L^{128}_{j=0}L^{128}_{k=0}[D_{i,j}=D_{i,j}+A_{i,k}*C_{k,j};];";
constexpr char kTiled[] =
    "in A^{f32}_{128,128};in C^{f32}_{128,128};out D^{f32}_{128,128};"
    "L^{16}_{o=0}L^{8}_{p=0}[U^{8}_{i=0}V^{16}_{j=0}[E^{f32,l}_{i,j}=0;];L^{128}_{k=0}U^{8}_{i=0}V^{16}_{j=0}"
    "[E^{f32,l}_{i,j}=E^{f32,l}_{i,j}+A_{o*8+i,k}*C_{k,p*16+j};];U^{8}_{i=0}V^{16}_{j=0}[D_{o*8+i,p*16+j}=E^{f32,l}_{i,j};];];";
constexpr char kSoftmax[] =
    "in A^{f32}_{512,1024};out D^{f32}_{512,1024};"
    "L^{512}_{i=0}L^{1024}_{j=0}[M^{f32,g}_{i}=max(M^{f32,g}_{i},A_{i,j});];"
    "L^{512}_{i=0}L^{1024}_{j=0}[E^{f32,g}_{i}=E^{f32,g}_{i}+exp(A_{i,j}-M^{f32,g}_{i});];"
    "L^{512}_{i=0}L^{1024}_{j=0}[D_{i,j}=exp(A_{i,j}-M^{f32,g}_{i})/E^{f32,g}_{i};];";

void interp_matmul(benchmark::State& s) { run(s, kMatmul, 128.0 * 128 * 128, false, 0); }
void interp_matmul_f64(benchmark::State& s) { run(s, kMatmul, 128.0 * 128 * 128, true, 0); }
void interp_matmul_random(benchmark::State& s) { run(s, kMatmul, 128.0 * 128 * 128, false, 5); }
void interp_tiled(benchmark::State& s) { run(s, kTiled, 128.0 * 128 * 128, false, 0); }
void interp_softmax(benchmark::State& s) { run(s, kSoftmax, 3.0 * 512 * 1024, false, 0); }
BENCHMARK(interp_matmul)->Unit(benchmark::kMillisecond);
BENCHMARK(interp_matmul_f64)->Unit(benchmark::kMillisecond);
BENCHMARK(interp_matmul_random)->Unit(benchmark::kMillisecond);
BENCHMARK(interp_tiled)->Unit(benchmark::kMillisecond);
BENCHMARK(interp_softmax)->Unit(benchmark::kMillisecond);
}  // namespace
