// Damaged programs: whatever still parses gets a verdict, never a crash, and refusals say where.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/rng.h"
#include "ir/text.h"
#include "verify/verify.h"

namespace cairn {
namespace {

constexpr std::uint64_t kSeed = 31;

// Swaps digits, letters and operators for others of their kind; now and then a huge number.
std::string damage(std::string text, Rng& rng) {
  const std::size_t edits = 1 + rng.below(3);
  for (std::size_t i = 0; i < edits; ++i) {
    const std::size_t at = rng.below(text.size());
    char& c = text[at];
    if (c >= '0' && c <= '9') {
      c = static_cast<char>('0' + rng.below(10));
      if (rng.below(6) == 0) text.insert(at, "4000000000000000000");
    } else if (c >= 'a' && c <= 'z') {
      c = static_cast<char>('a' + rng.below(26));
    } else if (c == '+' || c == '-' || c == '*') {
      c = "+-*%"[rng.below(4)];
    } else if (c == 'L' || c == 'P' || c == 'V' || c == 'U' || c == 'B' || c == 'M') {
      c = "LPVUBM"[rng.below(6)];
    }
  }
  return text;
}

TEST(RulesDamage, EveryParsedProgramGetsAVerdict) {
  Rng rng(kSeed);
  int parsed = 0;
  int refused = 0;
  for (const char* folder : {"ok", "bad"}) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(CAIRN_SOURCE_DIR) / "tests/leir" / folder)) {
      if (entry.path().extension() == ".leir") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& path : files) {
      const auto source = read_file(path.string());
      ASSERT_TRUE(source.ok());
      for (int i = 0; i < 6; ++i) {
        const std::string text = damage(*source, rng);
        SCOPED_TRACE("seed " + std::to_string(kSeed) + ": " + path.filename().string() + "\n" + text);
        const Result<Program> program = parse_program(text);
        if (!program.ok()) continue;
        ++parsed;
        const VerifyReport report = verify_program(*program, Target{});
        const Finding* refusal = report.first_refusal();
        if (refusal == nullptr) continue;
        ++refused;
        EXPECT_FALSE(refusal->error.message.empty());
        EXPECT_GT(refusal->error.where.line, 0u) << refusal->error.message;
      }
    }
  }
  EXPECT_GT(parsed, 200);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace cairn
