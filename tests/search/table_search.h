// Searches on hand-made times: which program scores what, and what is proposed at each.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include <fmt/core.h>

#include "ir/canon.h"
#include "ir/text.h"
#include "search/algorithms.h"

namespace cairn::table {

// A program told from the others by its name's factor; 1 is the naive one.
inline Program numbered(int factor) {
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

// The programs that an algorithm expands, in order.
template <class Algorithm>
std::vector<int> list_expanded(Algorithm algorithm, const std::map<int, double>& scores, const std::map<int, std::vector<int>>& tree, std::uint64_t evaluations) {
  TableEvaluator evaluator(scores);
  TableProposer proposer(tree);
  FakeClock clock;
  SearchOptions options;
  options.budget.evaluations = evaluations;
  SearchEngine engine(numbered(1), evaluator, proposer, nullptr, Journal::in_memory(), clock, options);
  EXPECT_TRUE(engine.start().ok());
  EXPECT_TRUE(algorithm(engine).ok());
  return proposer.expanded;
}

}  // namespace cairn::table
