// Work for the instruction gate: text_gate parse|print|hash REPEATS DIRECTORY over the *.leir files there.
// Prints the bytes of LEIR text handled.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "ir/canon.h"
#include "ir/text.h"

namespace {
using namespace cairn;

int run(const std::string& mode, int repeats, const std::string& directory) {
  std::vector<std::string> texts;
  std::vector<Program> programs;
  std::size_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != ".leir") continue;
    const Result<std::string> text = read_file(entry.path().string());
    Result<Program> program = text.ok() ? parse_program(*text) : Result<Program>(text.error());
    if (!program.ok()) {
      std::fprintf(stderr, "%s\n", render(program.error()).c_str());
      return 1;
    }
    texts.push_back(print_program(*program));
    bytes += texts.back().size();
    programs.push_back(*std::move(program));
  }
  std::size_t checksum = 0;
  for (int r = 0; r < repeats; ++r) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (mode == "parse") checksum += parse_program(texts[i])->body().size();
      if (mode == "print") checksum += print_program(programs[i]).size();
      if (mode == "hash") checksum += canonical_hash(programs[i]).lo;
    }
  }
  std::printf("%zu\n", bytes * static_cast<std::size_t>(repeats));
  return checksum == 1 ? 2 : 0;  // keeps the work alive
}
}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: text_gate parse|print|hash REPEATS DIRECTORY\n");
    return 2;
  }
  return run(argv[1], std::atoi(argv[2]), argv[3]);
}
