#include "search/site_proposer.h"

#include <gtest/gtest.h>

#include <set>

#include "ir/canon.h"
#include "ir/text.h"

namespace cairn {
namespace {

SearchState root_state() {
  SearchState state;
  state.program = *parse_program(
      "in A^{f32}_{16,24};in C^{f32}_{24,8};out D^{f32}_{16,8};"
      "L^{16}_{i=0}L^{8}_{j=0}L^{24}_{k=0}[D^{f32,g}_{i,j}=D^{f32,g}_{i,j}+A^{f32,g}_{i,k}*C^{f32,g}_{k,j};];");
  state.hash = canonical_hash(state.program);
  return state;
}

std::vector<std::string> names(const std::vector<Proposal>& proposals) {
  std::vector<std::string> out;
  for (const Proposal& p : proposals) out.push_back(print_action(p.actions[0]));
  return out;
}

TEST(SiteProposer, EnumeratesOneMoveAStrategyFirst) {
  SiteProposer proposer(described_target(), SiteOrder::enumerate);
  ProposeContext context;
  context.count = 6;
  const SearchState root = root_state();
  const std::vector<Proposal> first = proposer.propose(root, context);
  ASSERT_EQ(first.size(), 6u);
  std::set<std::string> strategies;
  for (const Proposal& p : first) strategies.insert(p.actions[0].strategy);
  EXPECT_EQ(strategies.size(), 6u);
  EXPECT_EQ(names(first), names(proposer.propose(root, context)));
}

TEST(SiteProposer, LeavesOutWhatWasSeen) {
  SiteProposer proposer(described_target(), SiteOrder::enumerate);
  ProposeContext context;
  context.count = 1000000;
  const SearchState root = root_state();
  std::set<Digest> seen;
  for (const Proposal& p : proposer.propose(root, context)) EXPECT_TRUE(seen.insert(canonical_hash(p.after)).second) << print_action(p.actions[0]);
  EXPECT_GT(seen.size(), 40u);
  context.seen = [&](const Digest& hash) { return seen.count(hash) != 0; };
  EXPECT_TRUE(proposer.propose(root, context).empty());
}

TEST(SiteProposer, RandomDependsOnTheStreamAlone) {
  SiteProposer proposer(described_target(), SiteOrder::random);
  const SearchState root = root_state();
  ProposeContext one, two;
  one.count = two.count = 8;
  one.rng = Rng(1);
  two.rng = Rng(2);
  EXPECT_EQ(names(proposer.propose(root, one)), names(proposer.propose(root, one)));
  EXPECT_NE(names(proposer.propose(root, one)), names(proposer.propose(root, two)));
}

TEST(SiteProposer, OneOrderOfMovesThatCommute) {
  // loop_unrolling and loop_parallelization commute always: after the later of the two in the catalogue, the earlier one
  // is not proposed again at a site that was there before.
  const Target target = described_target();
  SearchState root = root_state(), child;
  const Action last{"loop_parallelization", Args{{"loop", "0.i"}, {"kind", "P"}}};
  Result<Step> step = apply_action(root.program, target, last);
  ASSERT_TRUE(step.ok()) << render(step.error());
  child.id = 1;
  child.program = step->after;
  child.hash = canonical_hash(child.program);
  child.trace = {last};
  SiteProposer proposer(target, SiteOrder::enumerate);
  ProposeContext context;
  context.count = 1000000;
  context.state_of = [&](std::uint64_t) { return &root; };
  std::size_t unrollings = 0, others = 0;
  for (const Proposal& p : proposer.propose(child, context)) (p.actions[0].strategy == "loop_unrolling" ? unrollings : others) += 1;
  EXPECT_EQ(unrollings, 0u);
  EXPECT_GT(others, 20u);
}

}  // namespace
}  // namespace cairn
