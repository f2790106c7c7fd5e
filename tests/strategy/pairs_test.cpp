#include "strategy/pairs.h"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

TEST(PairTable, ReadsWhatItPrints) {
  const std::string text = "# moves\na =~-\nb ~x=\nc -=-\n# steps\nundo a b 3/4\nundo c a 1/9\n";
  const Result<PairTable> table = PairTable::parse(text);
  ASSERT_TRUE(table.ok()) << render(table.error());
  EXPECT_EQ(table->commutes("a", "a"), Commutes::always);
  EXPECT_EQ(table->commutes("b", "a"), Commutes::sometimes);
  EXPECT_EQ(table->commutes("b", "b"), Commutes::never);
  EXPECT_EQ(table->commutes("c", "c"), Commutes::untested);
  EXPECT_EQ(table->commutes("a", "unknown"), Commutes::untested);
  EXPECT_TRUE(table->undoes("a", "b"));
  EXPECT_FALSE(table->undoes("b", "a"));
  EXPECT_FALSE(table->undoes("c", "a"));   // only once in nine
  EXPECT_EQ(PairTable::parse(table->print())->print(), table->print());
}

TEST(PairTable, RefusesOtherShapes) {
  for (const char* text : {"a ==\nb =\n", "a =x\nb ==\n", "a ?\n", "undo a b 3\n", "undo a b 3/\n", "a = b\n"}) {
    const Result<PairTable> table = PairTable::parse(text);
    EXPECT_FALSE(table.ok()) << text;
    EXPECT_TRUE(table.ok() || !table.error().message.empty()) << text;
  }
}

TEST(PairTable, ShippedKnowsInverses) {
  EXPECT_TRUE(PairTable::shipped().undoes("loop_split", "loop_fusion"));
  EXPECT_TRUE(PairTable::shipped().undoes("loop_reorder", "loop_reorder"));
  EXPECT_FALSE(PairTable::shipped().undoes("loop_split", "loop_reorder"));
}

TEST(PairTable, DerivesTheSameForAnyNumberOfJobs) {
  const Target target = described_target();
  Result<std::vector<WorkloadState>> states = load_workloads(std::string(CAIRN_SOURCE_DIR) + "/bench/workloads", target);
  ASSERT_TRUE(states.ok()) << render(states.error());
  ASSERT_GT(states->size(), 6u);
  states->resize(6);
  EXPECT_EQ(derive_pairs(*states, target, 1, 1).print(), derive_pairs(*states, target, 1, 3).print());
}

TEST(Workloads, RefusesBadStates) {
  EXPECT_FALSE(load_workloads("/no/such/directory", described_target()).ok());
}

}  // namespace
}  // namespace cairn::test
