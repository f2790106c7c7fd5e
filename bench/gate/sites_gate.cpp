// Work for the instruction gate: sites_gate PROGRAM REPEATS DIRECTORY lists the sites of all strategies on
// DIRECTORY/PROGRAM.leir, as often as told; an optional fourth argument leaves all strategies but one out.
// Prints the number of listings.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/file.h"
#include "ir/text.h"
#include "strategy/strategy.h"

namespace {
using namespace cairn;

int run(const std::string& file, int repeats, std::string_view only) {
  const Result<std::string> text = read_file(file);
  const Result<Program> program = text.ok() ? parse_program(*text) : Result<Program>(text.error());
  if (!program.ok()) {
    std::fprintf(stderr, "%s\n", render(program.error()).c_str());
    return 1;
  }
  const Target target = described_target();
  std::size_t found = 0;
  for (int r = 0; r < repeats; ++r) {
    for (const Strategy* strategy : all_strategies()) {
      if (only.empty() || strategy->name == only) found += strategy->sites(*program, target).size();
    }
  }
  std::printf("%d\n", repeats);
  return found == 1 ? 2 : 0;  // keeps the work alive
}
}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::fprintf(stderr, "usage: sites_gate PROGRAM REPEATS DIRECTORY [STRATEGY]\n");
    return 2;
  }
  return run(std::string(argv[3]) + "/" + argv[1] + ".leir", std::atoi(argv[2]), argc == 5 ? argv[4] : "");
}
