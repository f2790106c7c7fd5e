#include "search/mcts.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cairn {
namespace {

TEST(Mcts, QuantilesAreLinearBetweenOrderStatistics) {
  ScoreQuantiles q;
  EXPECT_EQ(q.at(0.5), 0);
  for (const double s : {4.0, 1.0, 3.0, 2.0, 0.0}) q.add(s);
  EXPECT_DOUBLE_EQ(q.at(0), 0);
  EXPECT_DOUBLE_EQ(q.at(0.5), 2);
  EXPECT_DOUBLE_EQ(q.at(0.95), 3.8);
  EXPECT_DOUBLE_EQ(q.at(0.05), 0.2);
  EXPECT_DOUBLE_EQ(q.value(2), 1.8 / 3.6);
  EXPECT_DOUBLE_EQ(q.value(9), 1);
  EXPECT_DOUBLE_EQ(q.value(-9), 0);
}

TEST(Mcts, EqualScoresAreApartByAHundredthAtMost) {
  ScoreQuantiles q;
  q.add(1);
  q.add(1);
  EXPECT_DOUBLE_EQ(q.value(1), 0);
  EXPECT_NEAR(q.value(1.005), 0.5, 1e-9);
}

TEST(Mcts, WidensWithTheRootOfItsVisits) {
  const std::size_t expected[] = {1, 2, 2, 2, 3, 3, 3, 3, 3, 4};
  for (std::uint64_t n = 0; n < 10; ++n) EXPECT_EQ(widening_limit(n), expected[n]) << n;
  EXPECT_EQ(widening_limit(99), 10u);
}

TEST(Mcts, ScoreOfAnEdge) {
  EXPECT_DOUBLE_EQ(edge_score(0.25, 1, 1), 0.25);
  EXPECT_DOUBLE_EQ(edge_score(0.5, 8, 2), 0.5 + 0.7 * std::sqrt(std::log(8.0) / 2));
}

}  // namespace
}  // namespace cairn
