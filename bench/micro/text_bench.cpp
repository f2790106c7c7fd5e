// Parsing, printing and hashing of LEIR, in bytes of LEIR text a second. "small" runs over the programs of
// tests/leir/ok one by one; "large" over one program of about a megabyte.
#include <benchmark/benchmark.h>

#include "ir/canon.h"
#include "ir/text.h"
#include "support/leir_files.h"

namespace cairn {
namespace {

std::vector<std::string> small_texts() {
  std::vector<std::string> out;
  for (const LeirFile& file : load_leir_files("ok")) out.push_back(print_program(*parse_program(file.text)));
  return out;
}

// The declarations of one program and its nests many times over.
std::vector<std::string> large_text() {
  std::string text;
  std::string body;
  for (const LeirFile& file : load_leir_files("ok")) {
    if (file.name != "steptp_07_attention") continue;
    const Program program = *parse_program(file.text);
    const std::string printed = print_program(program);
    const std::size_t start = printed.find("B^{");
    text = printed.substr(0, start);
    body = printed.substr(start);
  }
  while (text.size() < (1u << 20)) text += body;
  return {text};
}

std::vector<std::string> texts(const benchmark::State& state) { return state.range(0) == 0 ? small_texts() : large_text(); }

void count_bytes(benchmark::State& state, const std::vector<std::string>& all) {
  std::size_t bytes = 0;
  for (const std::string& text : all) bytes += text.size();
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * static_cast<std::int64_t>(state.iterations()));
  state.SetLabel(state.range(0) == 0 ? "small" : "large");
}

void parse_text(benchmark::State& state) {
  const std::vector<std::string> all = texts(state);
  for (auto _ : state) {
    for (const std::string& text : all) benchmark::DoNotOptimize(parse_program(text));
  }
  count_bytes(state, all);
}

void print_text(benchmark::State& state) {
  const std::vector<std::string> all = texts(state);
  std::vector<Program> programs;
  for (const std::string& text : all) programs.push_back(*parse_program(text));
  for (auto _ : state) {
    for (const Program& program : programs) benchmark::DoNotOptimize(print_program(program));
  }
  count_bytes(state, all);
}

void hash_text(benchmark::State& state) {
  const std::vector<std::string> all = texts(state);
  std::vector<Program> programs;
  for (const std::string& text : all) programs.push_back(*parse_program(text));
  for (auto _ : state) {
    for (const Program& program : programs) benchmark::DoNotOptimize(canonical_hash(program));
  }
  count_bytes(state, all);
}

BENCHMARK(parse_text)->Arg(0)->Arg(1);
BENCHMARK(print_text)->Arg(0)->Arg(1);
BENCHMARK(hash_text)->Arg(0)->Arg(1);

}  // namespace
}  // namespace cairn
