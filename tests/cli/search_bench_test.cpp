#include "cli/search_bench.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cairn {
namespace {

SearchBenchRow row(const char* task, double speedup, std::vector<double> best, std::string failure = {}) {
  SearchBenchRow r;
  r.task = task;
  r.algorithm = "beam";
  r.proposer = "cost-model";
  r.speedup = speedup;
  r.efficiency = 0.5;
  r.distinct = 4;
  r.best = std::move(best);
  r.failure = std::move(failure);
  return r;
}

TEST(SearchBench, StatisticsByHand) {
  const SpeedupStatistics s = speedup_statistics({8, 1, 2, 4});
  EXPECT_EQ(s.count, 4u);
  EXPECT_DOUBLE_EQ(s.mean, 3.75);
  EXPECT_DOUBLE_EQ(s.median, 3);
  EXPECT_NEAR(s.geometric_mean, std::pow(64.0, 0.25), 1e-12);
  EXPECT_DOUBLE_EQ(s.peak, 8);
  EXPECT_DOUBLE_EQ(speedup_statistics({3, 1, 9}).median, 3);
  EXPECT_EQ(speedup_statistics({}).count, 0u);
}

TEST(SearchBench, ATaskWithoutAResultCountsAsOneAndIsListed) {
  std::vector<SearchBenchRow> rows{row("a", 4, {0, 1.0, 1.386}), row("b", 1, {}, "no verified improvement within 10evals")};
  rows[0].over_torch = 0.5;
  const Json json = search_bench_json(rows);
  ASSERT_EQ(json["groups"].size(), 1u);
  const Json& group = json["groups"][0];
  EXPECT_DOUBLE_EQ(group["over_naive"]["geometric_mean"].get<double>(), 2);
  EXPECT_EQ(group["over_torch"]["tasks"], 1);
  EXPECT_EQ(group["unsolved"].size(), 1u);
  EXPECT_NEAR(group["curve"][1].get<double>(), 0.5, 1e-12);
  const std::string text = search_bench_text(rows);
  EXPECT_NE(text.find("counted as 1.0x: b: no verified"), std::string::npos) << text;
  const std::string svg = search_bench_svg(rows);
  EXPECT_NE(svg.find("<polyline"), std::string::npos);
  EXPECT_NE(svg.find("beam cost-model"), std::string::npos);
}

TEST(SearchBench, EfficiencyOfAnEnumerationIsNotReported) {
  std::vector<SearchBenchRow> rows{row("a", 4, {0})};
  rows[0].enumerates = true;
  EXPECT_TRUE(search_bench_json(rows)["groups"][0]["efficiency"].is_null());
  EXPECT_NE(search_bench_text(rows).find("n/a"), std::string::npos);
}

}  // namespace
}  // namespace cairn
