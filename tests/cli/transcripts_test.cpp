// Runs each transcript of tests/e2e in a scratch directory of its own. CAIRN_UPDATE=1 writes what was found into
// the steps that differ.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/process.h"
#include "cli/transcript.h"

namespace cairn {
namespace {

const std::string kSource = std::filesystem::canonical(CAIRN_SOURCE_DIR).string();

std::vector<std::string> transcript_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kSource + "/tests/e2e")) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

ProcessSpec shell(const std::string& directory, const std::string& command) {
  ProcessSpec spec;
  spec.argv = {"bash", "-c", command};
  spec.directory = directory;
  const char* path = std::getenv("PATH");
  spec.extra_env = {{"PATH", std::filesystem::absolute(CAIRN_BINARY_DIR).string() + ":" + (path ? path : "/usr/bin:/bin")},
                    {"HOME", directory}, {"XDG_CACHE_HOME", directory + "/cache"}, {"XDG_CONFIG_HOME", directory + "/config"},
                    {"CAIRN_TARGET", "described"}, {"CAIRN_PROGRESS", "off"}, {"SOURCE", kSource}, {"LC_ALL", "C"}};
  spec.clean_env = true;
  spec.limits.wall_seconds = 120;
  return spec;
}

class Transcript : public testing::TestWithParam<std::string> {};

TEST_P(Transcript, Matches) {
  const std::string path = kSource + "/tests/e2e/" + GetParam() + ".txt";
  const auto text = read_file(path);
  ASSERT_TRUE(text.ok()) << render(text.error());
  std::vector<std::string> lines = lines_of(*text);
  std::vector<TranscriptStep> steps = parse_transcript(lines);
  ASSERT_FALSE(steps.empty()) << path << ": no commands";
  auto scratch = ScratchDir::create("cairn-e2e");
  ASSERT_TRUE(scratch.ok()) << render(scratch.error());
  std::vector<std::string> found(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const TranscriptStep& step = steps[i];
    for (const TranscriptFile& file : step.files) {
      ASSERT_TRUE(write_file_atomic(join_path(scratch->path(), file.name), file.text).ok());
    }
    const auto result = run_process(shell(scratch->path(), step.command));
    ASSERT_TRUE(result.ok()) << render(result.error());
    const int code = result->signal ? 128 + result->signal : result->exit_status;
    const bool same = code == step.code && match_lines(step.out, lines_of(result->out)) && match_lines(step.err, lines_of(result->err));
    if (!same) found[i] = show_step(result->out, result->err, code);
    if (std::getenv("CAIRN_UPDATE")) continue;
    EXPECT_TRUE(same) << path << ":" << step.line << ": $ " << step.command << "\nfound:\n" << show_step(result->out, result->err, code);
  }
  if (!std::getenv("CAIRN_UPDATE")) return;
  for (std::size_t i = steps.size(); i-- > 0;) {
    if (found[i].empty()) continue;
    const auto at = lines.begin() + static_cast<std::ptrdiff_t>(steps[i].first);
    const auto next = lines.erase(at, lines.begin() + static_cast<std::ptrdiff_t>(steps[i].last));
    const std::vector<std::string> fresh = lines_of(found[i]);
    lines.insert(next, fresh.begin(), fresh.end());
  }
  std::string updated;
  for (const std::string& line : lines) updated += line + "\n";
  ASSERT_TRUE(write_file_atomic(path, updated).ok());
}

INSTANTIATE_TEST_SUITE_P(EndToEnd, Transcript, testing::ValuesIn(transcript_names()), [](const auto& transcript) { return transcript.param; });

TEST(TranscriptFormat, MatchesWildcards) {
  EXPECT_TRUE(match_lines({"a ... c", "...", "z"}, {"a b c", "x", "y", "z"}));
  EXPECT_TRUE(match_lines({"...", "z"}, {"z"}));
  EXPECT_TRUE(match_lines({"time ... s"}, {"time 3.1 s"}));
  EXPECT_FALSE(match_lines({"a ... c"}, {"a b d"}));
  EXPECT_FALSE(match_lines({"a...a"}, {"a"}));
  EXPECT_FALSE(match_lines({"a"}, {"a", "b"}));
  EXPECT_FALSE(match_lines({}, {"a"}));
}

}  // namespace
}  // namespace cairn
