#include "cli/memory_bench.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "cli/memory_tasks.h"

namespace cairn {
namespace {

MemoryBenchRun run(const char* task, const char* family, const char* mode, std::uint64_t seed, std::vector<double> best) {
  MemoryBenchRun r;
  r.task = task;
  r.family = family;
  r.setting = "in-family";
  r.mode = mode;
  r.seed = seed;
  r.naive_seconds = 0.5;
  r.best = std::move(best);
  r.distinct = 2;
  r.failed = 1;
  return r;
}

const ModeResult& find(const std::vector<ModeResult>& results, const std::string& mode) {
  for (const ModeResult& r : results) {
    if (r.mode == mode) return r;
  }
  throw std::runtime_error("no mode " + mode);
}

// By hand: flat ends at 1.0 and 2.0, so e is counted to 0.98 and 1.96.
TEST(MemoryBench, CountsEvaluationsToFlatsFinalSpeedUp) {
  const std::vector<MemoryBenchRun> runs{
      run("t1", "a", "flat", 1, {0, 0.5, 0.5, 1.0}),    // e = 4
      run("t2", "b", "flat", 1, {1.97, 2.0, 2.0, 2.0}), // e = 1
      run("t3", "b", "flat", 1, {0, 0, 0, 0.005}),      // gains nothing: no say
      run("t1", "a", "htam", 1, {1.0, 1.1}),            // ended early: e = 1, final 1.1
      run("t2", "b", "htam", 1, {0, 0, 0, 1.5}),        // never: 2 * 4
      run("t3", "b", "htam", 1, {0, 0, 0, 3.0})};
  const std::vector<ModeResult> results = judge_bench(runs, 4, 1);
  ASSERT_EQ(results.size(), 2u);
  const ModeResult& htam = find(results, "htam");
  EXPECT_DOUBLE_EQ(find(results, "flat").ratio.mean, 1);
  EXPECT_DOUBLE_EQ(htam.ratio.mean, 9.0 / 5.0);
  EXPECT_DOUBLE_EQ(htam.family_ratios[0].second, 1.0 / 4.0);
  EXPECT_DOUBLE_EQ(htam.family_ratios[1].second, 8.0);
  EXPECT_NEAR(htam.final_log, (1.1 + 1.5 + 3.0) / 3, 1e-12);
  EXPECT_NEAR(htam.gain.mean, (0.1 - 0.5 + 2.995) / 3, 1e-12);
  EXPECT_LE(htam.gain.lo, htam.gain.mean);
  EXPECT_GE(htam.gain.hi, htam.gain.mean);
  // 90 % of the best of anyone: 0.99, 1.8, 2.7.
  EXPECT_NEAR(htam.to_ninety, (1 + 8 + 4) / 3.0, 1e-12);
  EXPECT_NEAR(htam.area, ((1.0 + 1.1 + 1.1 + 1.1) / 4 + 1.5 / 4 + 3.0 / 4) / 3, 1e-12);
  EXPECT_NEAR(htam.curve[0].mean, 1.0 / 3, 1e-12);
}

TEST(MemoryBench, RunsReadBackAndBadOnesAreRefused) {
  const MemoryBenchRun r = run("t", "f", "htam", 3, {0, 0.25});
  const auto again = parse_bench_run(print_bench_run(r));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(print_bench_run(*again), print_bench_run(r));
  EXPECT_FALSE(parse_bench_run("{\"task\":\"t\"}").ok());
  EXPECT_FALSE(parse_bench_run("nothing").ok());
}

TEST(MemoryTasks, TheListHasWhatTheBenchNeeds) {
  const auto tasks = load_memory_tasks("bench/memory");
  ASSERT_TRUE(tasks.ok()) << render(tasks.error());
  std::set<std::string> names, families;
  std::size_t test = 0, memory = 0;
  std::map<std::string, std::size_t> tests_of;
  for (const MemoryTask& task : *tasks) {
    EXPECT_TRUE(names.insert(task.name).second) << task.name;
    families.insert(task.family);
    (task.test ? test : memory) += 1;
    if (task.test) tests_of[task.family] += 1;
  }
  EXPECT_GE(test, 40u);
  EXPECT_GE(memory, 60u);
  EXPECT_GE(families.size(), 8u);
  for (const std::string& family : families) EXPECT_GE(tests_of[family], 3u) << family;
}

TEST(MemoryTasks, FillsTemplatesAndSaysWhatIsWrong) {
  const std::vector<std::pair<std::string, std::int64_t>> sizes{{"H", 5}, {"W", 7}};
  EXPECT_EQ(fill_template("A_{@2*H+1@,@W-2@,@H*W@}", sizes).value(), "A_{11,5,35}");
  EXPECT_FALSE(fill_template("A_{@H", sizes).ok());
  EXPECT_FALSE(fill_template("A_{@Q+1@}", sizes).ok());
}

}  // namespace
}  // namespace cairn
