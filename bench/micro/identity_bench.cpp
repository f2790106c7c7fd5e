// The identity rung: a product in tiles, an unchanged rest around one changed nest, a normalisation moved.
#include <benchmark/benchmark.h>

#include "base/file.h"
#include "ir/text.h"
#include "verify/identity.h"

namespace {
using namespace cairn;

Program parse(const std::string& text) {
  Result<Program> p = parse_program(text);
  return p ? *std::move(p) : Program();
}

void report(benchmark::State& state, const Program& before, const Program& after) {
  IdentityResult r;
  for (auto _ : state) r = find_identity(before, after, {});
  state.counters["nodes"] = static_cast<double>(r.nodes);
  state.counters["elements"] = static_cast<double>(r.elements);
  state.SetLabel(r.held() ? std::string(exactness_name(r.claim)) : r.reason);
}

constexpr char kProduct[] =
    "in A^{f32}_{1024,1024};in C^{f32}_{1024,1024};out D^{f32}_{1024,1024};\n"
    "L^{1024}_{i=0}L^{1024}_{j=0}L^{1024}_{k=0}[D_{i,j}=D_{i,j}+A_{i,k}*C_{k,j};];";

void identity_tiled(benchmark::State& state) {
  report(state, parse(kProduct), parse("in A^{f32}_{1024,1024};in C^{f32}_{1024,1024};out D^{f32}_{1024,1024};\n"
         "L^{64}_{o=0}L^{128}_{p=0}L^{1024}_{k=0}L^{16}_{i=0}L^{8}_{j=0}[D_{o*16+i,p*8+j}=D_{o*16+i,p*8+j}+A_{o*16+i,k}*C_{k,p*8+j};];"));
}
BENCHMARK(identity_tiled)->Unit(benchmark::kMillisecond);

void identity_staged(benchmark::State& state) {
  report(state, parse(kProduct), parse(*read_file(std::string(CAIRN_SOURCE_DIR) + "/tests/verify/data/path_1024.leir")));
}
BENCHMARK(identity_staged)->Unit(benchmark::kMillisecond);

std::string attention(const std::string& scale) {
  return "in Q^{f32}_{512,64};in K^{f32}_{512,64};in V^{f32}_{512,64};out D^{f32}_{512,64};\n"
         "L^{512}_{i=0}L^{512}_{j=0}L^{64}_{d=0}[Z^{f32,g}_{i,j}=Z^{f32,g}_{i,j}+Q_{i,d}*K_{j,d};];\n" + scale +
         "L^{512}_{i=0}L^{512}_{j=0}[M^{f32,g}_{i}=max(M^{f32,g}_{i},Y^{f32,g}_{i,j});];\n"
         "L^{512}_{i=0}L^{512}_{j=0}[E^{f32,g}_{i,j}=exp(Y^{f32,g}_{i,j}-M^{f32,g}_{i});];\n"
         "L^{512}_{i=0}L^{512}_{j=0}[S^{f32,g}_{i}=S^{f32,g}_{i}+E^{f32,g}_{i,j};];\n"
         "L^{512}_{i=0}L^{512}_{j=0}[P^{f32,g}_{i,j}=E^{f32,g}_{i,j}/S^{f32,g}_{i};];\n"
         "L^{512}_{i=0}L^{64}_{d=0}L^{512}_{j=0}[D_{i,d}=D_{i,d}+P^{f32,g}_{i,j}*V_{j,d};];\n";
}

void identity_one_nest_of_attention(benchmark::State& state) {
  report(state, parse(attention("L^{512}_{i=0}L^{512}_{j=0}[Y^{f32,g}_{i,j}=Z^{f32,g}_{i,j}*0.125;];\n")),
         parse(attention("L^{512}_{j=0}L^{64}_{o=0}L^{8}_{i=0}[Y^{f32,g}_{o*8+i,j}=0.125*Z^{f32,g}_{o*8+i,j};];\n")));
}
BENCHMARK(identity_one_nest_of_attention)->Unit(benchmark::kMillisecond);
}  // namespace
