// Three `cairn optimize` runs of one operator family on one memory file, on the simulated device: nothing depends on the time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <fmt/core.h>

#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "cli/memory_tasks.h"

namespace cairn {
namespace {

constexpr int kEvaluations = 60;
constexpr std::int64_t kSizes[][2] = {{64, 96}, {48, 128}, {80, 64}};   // rows, columns of each task

// A scratch directory with a memory file that is empty: no prior says what a softmax needs.
class Remember : public testing::Test {
 protected:
  void SetUp() override {
    auto scratch = ScratchDir::create("cairn-remember");
    ASSERT_TRUE(scratch.ok()) << render(scratch.error());
    scratch_.emplace(std::move(*scratch));
    ASSERT_TRUE(write_file_atomic(path("empty.jsonl"), "{\"cairn_memory\": 1}\n").ok());
    ASSERT_EQ(run({"memory", "import", "empty.jsonl", "--memory", "memory.db"}).exit_status, 0);
    const auto text = read_file(CAIRN_SOURCE_DIR "/bench/memory/templates/softmax.leir");
    ASSERT_TRUE(text.ok());
    for (const auto& [rows, columns] : kSizes) {
      const auto program = fill_template(*text, {{"M", rows}, {"N", columns}});
      ASSERT_TRUE(program.ok());
      ASSERT_TRUE(write_file_atomic(path(name_of(rows, columns) + ".leir"), *program).ok());
    }
  }

  static std::string name_of(std::int64_t rows, std::int64_t columns) { return fmt::format("softmax-{}x{}", rows, columns); }
  std::string path(const std::string& name) const { return join_path(scratch_->path(), name); }

  ProcessResult run(std::vector<std::string> words) {
    ProcessSpec spec;
    words.insert(words.begin(), std::filesystem::absolute(CAIRN_BINARY_DIR "/cairn").string());
    spec.argv = std::move(words);
    spec.directory = scratch_->path();
    spec.clean_env = true;
    spec.extra_env = {{"PATH", "/usr/bin:/bin"}, {"HOME", scratch_->path()}, {"CAIRN_TARGET", "described"}, {"CAIRN_PROGRESS", "off"}};
    spec.limits.wall_seconds = 120;
    const auto result = run_process(spec);
    EXPECT_TRUE(result.ok()) << render(result.error());
    EXPECT_EQ(result->exit_status, 0) << result->err;
    return *result;
  }

  // Best log speed-up after each evaluation of the search for one of the tasks.
  std::vector<double> optimize(const std::string& task, const std::string& memory, const std::string& out) {
    const ProcessResult done = run({"optimize", task + ".leir", "--device", "simulated", "--budget", fmt::format("{}evals", kEvaluations), "--memory", memory,
                                    "--out", out, "--certify-seconds", "0", "--timed-steps", "0", "--json=lines"});
    const auto json = parse_json(done.out);
    EXPECT_TRUE(json.ok()) << done.out;
    std::vector<double> best(kEvaluations + 1, 0);
    const Json& search = (*json)["search"];
    const double naive = (*json)["search"]["curve"][0]["seconds"].get<double>();
    for (const Json& point : search["curve"]) {
      const double score = std::log(naive / point["seconds"].get<double>());
      for (std::size_t k = point["evaluation"].get<std::size_t>(); k < best.size(); ++k) best[k] = std::max(best[k], score);
    }
    return best;
  }

  std::optional<ScratchDir> scratch_;
};

// The first evaluation that reaches a score; one more than there are if none does.
std::size_t evaluations_to(const std::vector<double>& best, double score) {
  return static_cast<std::size_t>(std::find_if(best.begin(), best.end(), [&](double b) { return b >= score; }) - best.begin());
}

TEST_F(Remember, EachRunOfAFamilyNeedsNoMoreEvaluationsThanTheOneBefore) {
  std::vector<std::size_t> remembering, forgetting;   // evaluations to 90 % of the best log speed-up that either found
  for (const auto& [rows, columns] : kSizes) {
    const std::string task = name_of(rows, columns);
    const std::vector<double> with = optimize(task, "memory.db", task + "-with"), without = optimize(task, "off", task + "-without");
    const double best = std::max(with.back(), without.back());
    ASSERT_GT(best, 0.5) << task << ": a family on which there is something to learn";
    remembering.push_back(evaluations_to(with, 0.9 * best));
    forgetting.push_back(evaluations_to(without, 0.9 * best));
  }
  EXPECT_EQ(remembering[0], forgetting[0]) << "an empty memory changes nothing";
  EXPECT_LE(remembering[1], remembering[0]);
  EXPECT_LE(remembering[2], remembering[1]);
  EXPECT_LT(remembering[2], remembering[0]);
  // Not because the later tasks are easier.
  EXPECT_LT(remembering[1], forgetting[1]);
  EXPECT_LT(remembering[2], forgetting[2]);
}

TEST_F(Remember, ARepeatedTaskStartsWhereItsLastRunEnded) {
  const std::string task = name_of(kSizes[0][0], kSizes[0][1]);
  const std::vector<double> first = optimize(task, "memory.db", "first"), second = optimize(task, "memory.db", "second");
  EXPECT_GE(second[1], first.back()) << "the first evaluation is the recalled trace";
  EXPECT_LT(first[1], first.back()) << "which the first run had to find";
}

TEST_F(Remember, ARunDependsOnWhatTheMemoryHoldsAndOnNothingElse) {
  const std::string task = name_of(kSizes[1][0], kSizes[1][1]);
  optimize(name_of(kSizes[0][0], kSizes[0][1]), "memory.db", "taught");
  std::filesystem::copy_file(path("memory.db"), path("same.db"));
  EXPECT_EQ(optimize(task, "memory.db", "one"), optimize(task, "same.db", "two"));
  const auto one = read_file(path("one/journal.jsonl")), two = read_file(path("two/journal.jsonl"));
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(*one, *two) << "byte for byte";
}

}  // namespace
}  // namespace cairn
