// Which state greedy expands next, on hand-made times.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include <fmt/core.h>

#include "ir/canon.h"
#include "ir/text.h"
#include "search/algorithms.h"

namespace cairn {
namespace {

// A program told from the others by its name's factor; 1 is the naive one.
Program numbered(int factor) {
  return parse_program(fmt::format("in A^{{f32}}_{{8}};out B^{{f32}}_{{8}};\nL^{{8}}_{{i=0}}[B^{{f32,g}}_{{i}}=A^{{f32,g}}_{{i}}*{};];\n", factor)).value();
}

// A device on which program `k` scores scores[k].
class TableEvaluator final : public Evaluator {
 public:
  explicit TableEvaluator(const std::map<int, double>& scores) : target_(described_target()) {
    for (const auto& [factor, score] : scores) seconds_[canonical_hash(numbered(factor))] = std::exp(-score);
  }
  EvalResult evaluate(const Program& program) override {
    EvalResult result;
    const double t = seconds_.at(canonical_hash(program));
    result.time = Timing{t, t, t, t, t, 5};
    return result;
  }
  std::vector<EvalResult> remeasure(const std::vector<Program>& programs) override {
    std::vector<EvalResult> results;
    for (const Program& p : programs) results.push_back(evaluate(p));
    return results;
  }
  const Target& target() const override { return target_; }
  std::string device() const override { return "table"; }
  bool executes() const override { return false; }

 private:
  Target target_;
  std::map<Digest, double> seconds_;
};

// Proposes the listed programs at each, and notes what is expanded.
class TableProposer final : public Proposer {
 public:
  explicit TableProposer(const std::map<int, std::vector<int>>& tree) {
    for (const auto& [from, to] : tree) children_[canonical_hash(numbered(from))] = {from, to};
  }
  std::string name() const override { return "table"; }
  std::vector<Proposal> propose(const SearchState& state, const ProposeContext&) override {
    const auto& [from, to] = children_.at(state.hash);
    expanded.push_back(from);
    std::vector<Proposal> proposals;
    for (const int factor : to) {
      Proposal p;
      p.after = numbered(factor);
      p.base = state.id;
      proposals.push_back(std::move(p));
    }
    return proposals;
  }
  std::vector<int> expanded;

 private:
  std::map<Digest, std::pair<int, std::vector<int>>> children_;
};

std::vector<int> expand_greedily(const std::map<int, double>& scores, const std::map<int, std::vector<int>>& tree, std::uint64_t evaluations) {
  TableEvaluator evaluator(scores);
  TableProposer proposer(tree);
  FakeClock clock;
  SearchOptions options;
  options.budget.evaluations = evaluations;
  SearchEngine engine(numbered(1), evaluator, proposer, nullptr, Journal::in_memory(), clock, options);
  EXPECT_TRUE(engine.start().ok());
  EXPECT_TRUE(run_greedy(engine).ok());
  return proposer.expanded;
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
