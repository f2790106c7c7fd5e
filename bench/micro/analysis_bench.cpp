// Dependence analysis of typical nests: all carried dependences of every loop, permutations, a fusion.
#include <benchmark/benchmark.h>

#include "analysis/dependence.h"
#include "analysis/footprint.h"
#include "base/check.h"
#include "ir/text.h"

namespace cairn {
namespace {

const char* const kTiledMatmul =
    "in A^{f32}_{1000,700};in C^{f32}_{700,900};out D^{f32}_{1000,900};"
    "L^{84}_{a=0}L^{29}_{b=0}L^{3}_{c=0}L^{256}_{k=0}L^{12}_{i=0}L^{32}_{j=0}"
    "T^{a*12+i<1000&b*32+j<900&c*256+k<700}[D^{f32}_{a*12+i,b*32+j}="
    "D^{f32}_{a*12+i,b*32+j}+A^{f32}_{a*12+i,c*256+k}*C^{f32}_{c*256+k,b*32+j};];";
const char* const kSoftmax =
    "in A^{f32}_{512,1024};out C^{f32}_{512,1024};"
    "L^{512}_{i=0}L^{1024}_{j=0}[D^{f32,g}_{i}=max(D^{f32,g}_{i},A^{f32}_{i,j});];"
    "L^{512}_{i=0}L^{1024}_{j=0}[E^{f32,g}_{i}=E^{f32,g}_{i}+exp(A^{f32}_{i,j}-D^{f32,g}_{i});];"
    "L^{512}_{i=0}L^{1024}_{j=0}[C^{f32}_{i,j}=exp(A^{f32}_{i,j}-D^{f32,g}_{i})/E^{f32,g}_{i};];";
const char* const kConvolution =
    "in A^{f32}_{8,64,56,56};in W^{f32}_{64,64,3,3};out D^{f32}_{8,64,28,28};"
    "L^{8}_{n=0}L^{64}_{o=0}L^{28}_{y=0}L^{28}_{x=0}L^{64}_{c=0}L^{3}_{r=0}L^{3}_{s=0}[D^{f32}_{n,o,y,x}="
    "D^{f32}_{n,o,y,x}+if_then_else(0<=y*2+r-1&y*2+r-1<56&0<=x*2+s-1&x*2+s-1<56,"
    "A^{f32}_{n,c,y*2+r-1,x*2+s-1},0)*W^{f32}_{o,c,r,s};];";
const char* const kPacked =
    "in A^{f32}_{1024,1024};in C^{f32}_{1024,1024};out D^{f32}_{1024,1024};"
    "L^{4}_{k=0}L^{32}_{b=0}[L^{256}_{c=0}L^{32}_{v=0}[W^{f32,s}_{c,v}=C^{f32}_{k*256+c,b*32+v};];"
    "L^{86}_{a=0}[L^{12}_{i=0}L^{32}_{v=0}[E^{f32,l}_{i,v}=if_then_else(k>0&a*12+i<1024,D^{f32}_{a*12+i,b*32+v},0);];"
    "L^{256}_{c=0}L^{12}_{i=0}L^{32}_{v=0}[E^{f32,l}_{i,v}=E^{f32,l}_{i,v}+A^{f32}_{a*12+i,k*256+c}*W^{f32,s}_{c,v};];"
    "L^{12}_{i=0}L^{32}_{v=0}T^{a*12+i<1024}[D^{f32}_{a*12+i,b*32+v}=E^{f32,l}_{i,v};];];];";

Program load(const char* text) {
  auto p = parse_program(text);
  CAIRN_CHECK_MSG(p.ok(), p.ok() ? "" : p.error().message);
  return *std::move(p);
}

void every_loop(const Program& p, const Body& body, StmtPath& path, std::size_t* found) {
  for (std::uint32_t i = 0; i < body.size(); ++i) {
    path.push_back(i);
    if (body[i]->is_loop()) *found += carried_dependences(p, path).size();
    every_loop(p, body[i]->body, path, found);
    path.pop_back();
  }
}

void carried(benchmark::State& state, const char* text) {
  Program p = load(text);
  const DependenceCounters before = dependence_counters();
  std::size_t found = 0;
  for (auto _ : state) {
    Body fresh;   // new nests, so that nothing is remembered
    for (const StmtPtr& nest : p.body()) fresh.push_back(with_body(*nest, nest->body));
    p.set_body(std::move(fresh));
    StmtPath path;
    every_loop(p, p.body(), path, &found);
  }
  benchmark::DoNotOptimize(found);
  const DependenceCounters after = dependence_counters();
  const auto each = benchmark::Counter::kAvgIterations;
  state.counters["queries"] = benchmark::Counter(static_cast<double>(after.fast - before.fast), each);
  state.counters["isl"] = benchmark::Counter(static_cast<double>(after.isl - before.isl), each);
}
BENCHMARK_CAPTURE(carried, tiled_matmul, kTiledMatmul)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(carried, softmax, kSoftmax)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(carried, convolution, kConvolution)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(carried, packed_matmul, kPacked)->Unit(benchmark::kMicrosecond);

void carried_again(benchmark::State& state) {
  const Program p = load(kPacked);
  std::size_t found = 0;
  for (auto _ : state) {
    StmtPath path;
    every_loop(p, p.body(), path, &found);
  }
  benchmark::DoNotOptimize(found);
}
BENCHMARK(carried_again)->Unit(benchmark::kMicrosecond);

void permute_convolution(benchmark::State& state) {
  const Program p = load(kConvolution);
  for (auto _ : state) benchmark::DoNotOptimize(check_permutation(p, {0}, {0, 1, 4, 5, 6, 2, 3}).ok);
}
BENCHMARK(permute_convolution)->Unit(benchmark::kMicrosecond);

void permute_tiled_matmul(benchmark::State& state) {
  const Program p = load(kTiledMatmul);
  for (auto _ : state) benchmark::DoNotOptimize(check_permutation(p, {0}, {2, 1, 0, 5, 4, 3}).ok);
}
BENCHMARK(permute_tiled_matmul)->Unit(benchmark::kMicrosecond);

void fuse_softmax(benchmark::State& state) {
  const Program p = load(kSoftmax);
  for (auto _ : state) benchmark::DoNotOptimize(check_fusion(p, {0}, {1}, {{"i", "i"}}).ok);
}
BENCHMARK(fuse_softmax)->Unit(benchmark::kMicrosecond);

void collect(benchmark::State& state, const char* text) {
  const Program p = load(text);
  for (auto _ : state) benchmark::DoNotOptimize(collect_accesses(p).size());
}
BENCHMARK_CAPTURE(collect, tiled_matmul, kTiledMatmul)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(collect, convolution, kConvolution)->Unit(benchmark::kMicrosecond);

void simplify(benchmark::State& state) {
  const ExprPtr e = *parse_expr("((a*12+i)//8*8+(a*12+i)%8)*64+(f//32*32+f%32)//4");
  const std::vector<LoopRange> loops{{"a", 84}, {"i", 12}, {"f", 512}};
  for (auto _ : state) benchmark::DoNotOptimize(simplify_index(e, loops).get());
}
BENCHMARK(simplify)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cairn
