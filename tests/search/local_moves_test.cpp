#include "search/local_moves.h"

#include <gtest/gtest.h>

#include <set>

#include "analysis/cost.h"
#include "base/file.h"
#include "ir/canon.h"
#include "ir/text.h"

namespace cairn {
namespace {

Program load(const std::string& name) {
  const auto text = read_file("bench/workloads/" + name + ".leir");
  EXPECT_TRUE(text.ok()) << name;
  auto program = parse_program(*text);
  EXPECT_TRUE(program.ok()) << name;
  return program.value();
}

class LocalMovesOf : public testing::TestWithParam<const char*> {};

TEST_P(LocalMovesOf, AreSortedDistinctAndReplayWithEveryCheck) {
  SearchState state;
  state.program = load(GetParam());
  state.hash = canonical_hash(state.program);
  const Target target = described_target();
  const std::vector<LocalMoves> moves = list_local_moves(state.program, target);
  std::set<std::string> names;
  for (const LocalMoves& local : moves) {
    EXPECT_TRUE(names.insert(local.local).second) << local.local;
    EXPECT_FALSE(local.direction.empty()) << local.local;
    std::set<Digest> hashes{state.hash};
    for (std::size_t k = 0; k < local.candidates.size(); ++k) {
      const MoveCandidate& c = local.candidates[k];
      EXPECT_TRUE(hashes.insert(c.hash).second) << local.local << " repeats " << c.arguments;
      EXPECT_LE(local.candidates[k > 0 ? k - 1 : 0].seconds, c.seconds) << local.local;
    }
    const MoveCandidate& best = local.candidates.front();
    const auto proposal = propose_candidate(state, target, local, best, "test");
    ASSERT_TRUE(proposal) << local.local << " " << best.arguments;
    EXPECT_EQ(canonical_hash(proposal->after), best.hash) << local.local;
    EXPECT_DOUBLE_EQ(predict_cost(proposal->after, target).seconds, best.seconds) << local.local;
    EXPECT_EQ(proposal->template_name, composite_direction(local.local).empty() ? "" : local.local);
  }
  EXPECT_GE(names.size(), 10u);
}

INSTANTIATE_TEST_SUITE_P(Workloads, LocalMovesOf, testing::Values("matmul", "softmax", "layer_norm", "linear_bias_gelu", "max_pool", "cumulative_sum"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(LocalMoves, OffersTheCompositesWhereTheirNestsAre) {
  const auto names_of = [](const std::string& name) {
    std::set<std::string> names;
    for (const LocalMoves& local : list_local_moves(load(name), described_target())) names.insert(local.local);
    return names;
  };
  const std::set<std::string> product = names_of("matmul"), softmax = names_of("softmax");
  EXPECT_TRUE(product.count("tile"));
  EXPECT_FALSE(product.count("schedule"));   // of one nest, the tile says it all
  EXPECT_TRUE(softmax.count("schedule"));
  EXPECT_TRUE(softmax.count("sweep"));
  EXPECT_TRUE(softmax.count("restructure/inline-fuse"));
  EXPECT_FALSE(softmax.count("tile"));
}

}  // namespace
}  // namespace cairn
