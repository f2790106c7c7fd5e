// How far a trajectory goes and where the next one begins, on hand-made times.
#include "search/table_search.h"

#include <algorithm>
#include <set>

namespace cairn {
namespace {

// A chain 1 - 2 - 3 - ... of the given scores; at the root there is also 100, whose children are 101 to 130.
struct Chain {
  std::map<int, double> scores{{1, 0}, {100, -9}};
  std::map<int, std::vector<int>> tree{{1, {2, 100}}, {100, {}}};
  explicit Chain(const std::vector<double>& along) {
    for (int k = 0; k < static_cast<int>(along.size()); ++k) {
      scores[k + 2] = along[static_cast<std::size_t>(k)];
      tree[k + 2] = k + 1 < static_cast<int>(along.size()) ? std::vector<int>{k + 3} : std::vector<int>{};
    }
    for (int k = 101; k <= 130; ++k) scores[k] = -9, tree[100].push_back(k), tree[k] = {};
  }
  // How many of the chain are expanded one after the other from the root before anything else is.
  int length(std::uint64_t evaluations) const {
    const std::vector<int> expanded = table::list_expanded(run_trajectory, scores, tree, evaluations);
    int n = 0;
    while (n < static_cast<int>(expanded.size()) && expanded[static_cast<std::size_t>(n)] == n + 1) ++n;
    return n;
  }
};

TEST(Trajectory, GoesOnFromWhateverPassesWhileItGetsBetter) {
  // 0.1, -0.2, -0.1, 0.3: the fourth step comes in time, the third after the first best.
  EXPECT_EQ(Chain({0.1, -0.2, -0.1, 0.3, 0.2, 0.25, 0.4, 0.5}).length(8), 8);
  // Three steps below the best of the trajectory end it, though the next one would have been better.
  EXPECT_EQ(Chain({0.1, -0.2, -0.1, 0.05, 0.5, 0.6}).length(9), 4);
  // From the root down: what loses three times ends too.
  EXPECT_EQ(Chain({-0.1, -0.2, -0.3, 0.9}).length(9), 3);
}

TEST(Trajectory, EndsAfterTwentySteps) {
  std::vector<double> rising;
  for (int k = 1; k <= 26; ++k) rising.push_back(0.1 * k);
  const std::vector<int> expanded = table::list_expanded(run_trajectory, Chain(rising).scores, Chain(rising).tree, 24);
  ASSERT_GE(expanded.size(), 21u);
  for (int k = 0; k < 20; ++k) EXPECT_EQ(expanded[static_cast<std::size_t>(k)], k + 1);
  // The next begins at the best (21), on the way there, or at the root.
  EXPECT_LE(expanded[20], 21);
}

// Over many starts: the best state about half of the time, states on its path and the root a quarter each.
TEST(Trajectory, BeginsAtTheBestOnItsPathOrAtTheRoot) {
  std::map<int, double> scores{{1, 0}, {2, 1}, {3, 2}, {4, 3}};
  std::map<int, std::vector<int>> tree{{1, {2}}, {2, {3}}, {3, {4}}, {4, {}}};
  // Every state has losing children enough for three steps that fail to improve, whose own are none.
  int next = 5;
  for (int from = 1; from <= 4; ++from) {
    for (int k = 0; k < 60; ++k, ++next) scores[next] = -5, tree[from].push_back(next), tree[next] = {};
  }
  const std::vector<int> expanded = table::list_expanded(run_trajectory, scores, tree, 130);
  std::map<int, int> starts;
  for (std::size_t k = 4; k < expanded.size(); ++k) {
    if (expanded[k] <= 4) starts[expanded[k]] += 1;
  }
  const int all = starts[1] + starts[2] + starts[3] + starts[4];
  ASSERT_GT(all, 40);
  EXPECT_GT(starts[4], all * 4 / 10) << "the best, and as one on its path";
  for (int from = 1; from <= 3; ++from) EXPECT_GT(starts[from], 0) << from;
}

}  // namespace
}  // namespace cairn
