// Seeded mutations of the LEIR files through check_parse_bytes. CAIRN_FUZZ_SEED and CAIRN_FUZZ_RUNS override.
#include <array>
#include <cstdlib>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "fuzz/parse_fuzz.h"
#include "support/leir_files.h"

namespace cairn {
namespace {

constexpr std::array<std::string_view, 44> kTokens{
    "^{", "_{", "}",  "[",  "]",  "];", ";",  ",",   "=",  "(",  ")",  "+",   "-",   "*",    "**",
    "/",  "//", "%",  "<",  "<=", "==", "!=", "&",   "|",  "!",  "0",  "1e5", "inf", "nan",  "f32",
    "T^{", "L^{4}_{i=0}", "B^{4}_{tx=0}", "M^{f32,l}", "A", "i", "if_then_else(", "max(", "sign(", "tmp ", "in ", "L i<4", "9223372036854775808", "\n"};

std::uint64_t from_environment(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

std::string mutate(std::string text, const std::vector<std::string>& seeds, Rng& rng) {
  for (std::uint64_t n = 1 + rng.below(4); n > 0; --n) {
    const std::size_t at = rng.below(text.size() + 1);
    const std::size_t length = std::min<std::size_t>(rng.below(24), text.size() - at);
    switch (rng.below(7)) {
      case 0: text.erase(at, length); break;
      case 1: text.insert(at, kTokens[rng.below(kTokens.size())]); break;
      case 2: text.replace(at, std::min<std::size_t>(length, 3), kTokens[rng.below(kTokens.size())]); break;
      case 3: text.insert(at, text.substr(rng.below(text.size() + 1), length)); break;
      case 4: {
        const std::string& other = seeds[rng.below(seeds.size())];
        text = text.substr(0, at) + other.substr(rng.below(other.size() + 1));
        break;
      }
      case 5:
        if (at < text.size()) text[at] = static_cast<char>(rng.below(256));
        break;
      default:
        if (at < text.size()) text[at] = text[rng.below(text.size())];
        break;
    }
  }
  return text;
}

TEST(ParseFuzz, MutatedProgramsNeitherCrashNorChange) {
  const std::uint64_t seed = from_environment("CAIRN_FUZZ_SEED", 20261129);
  const std::uint64_t runs = from_environment("CAIRN_FUZZ_RUNS", 6000);
  std::printf("seed %llu, %llu runs\n", static_cast<unsigned long long>(seed), static_cast<unsigned long long>(runs));
  std::vector<std::string> seeds;
  for (const char* folder : {"ok", "parse_bad"}) {
    for (const LeirFile& file : load_leir_files(folder)) seeds.push_back(file.text);
  }
  Rng rng(seed);
  for (std::uint64_t run = 0; run < runs; ++run) {
    const std::string bytes = mutate(seeds[rng.below(seeds.size())], seeds, rng);
    const std::string problem = check_parse_bytes(bytes);
    ASSERT_EQ(problem, "") << "run " << run << " of seed " << seed << "\n" << bytes;
  }
}

}  // namespace
}  // namespace cairn
