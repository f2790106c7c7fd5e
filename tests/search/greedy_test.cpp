// Which state greedy expands next, on hand-made times.
#include "search/table_search.h"

namespace cairn {
namespace {

std::vector<int> expand_greedily(const std::map<int, double>& scores, const std::map<int, std::vector<int>>& tree, std::uint64_t evaluations) {
  return table::list_expanded(run_greedy, scores, tree, evaluations);
}

// 2 gains 0.5; its child 4 gains 0.005 more, which is no move: the next start is 3, and 4 only after that.
TEST(Greedy, DoesNotRestartFromTheChildThatItDeclined) {
  const std::map<int, double> scores{{1, 0}, {2, 0.5}, {3, 0.4}, {4, 0.505}, {5, 0.2}, {6, 0.1}, {7, 0.3}};
  const std::map<int, std::vector<int>> tree{{1, {2, 3}}, {2, {4, 5}}, {3, {6}}, {4, {7}}};
  EXPECT_EQ(expand_greedily(scores, tree, 6), (std::vector<int>{1, 2, 3, 4}));
}

// The state just expanded is the best: the next start is the best of those that are left, not the second of them.
TEST(Greedy, RestartsFromTheNextAfterTheTopOfItsClimb) {
  const std::map<int, double> scores{{1, 0}, {2, 0.5}, {3, 0.4}, {4, 0.35}, {5, 0.2}, {6, 0.39}, {7, 0.1}};
  const std::map<int, std::vector<int>> tree{{1, {2, 3}}, {2, {4, 5}}, {3, {6}}, {6, {7}}};
  EXPECT_EQ(expand_greedily(scores, tree, 6), (std::vector<int>{1, 2, 3, 6}));
}

// Nothing but the declined child is left: the root gets further proposals, and has none.
TEST(Greedy, RestartsFromTheRootWhereOnlyTheDeclinedChildIsLeft) {
  const std::map<int, double> scores{{1, 0}, {2, 0.005}, {3, -0.1}};
  const std::map<int, std::vector<int>> tree{{1, {2}}, {2, {3}}, {3, {}}};
  EXPECT_EQ(expand_greedily(scores, tree, 2), (std::vector<int>{1, 1, 2}));
}

}  // namespace
}  // namespace cairn
