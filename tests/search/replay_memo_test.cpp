// The memo of verified sequences gives what replaying from the root gives, and applies no prefix twice.
#include "search/replay_memo.h"

#include <gtest/gtest.h>

#include "ir/text.h"

namespace cairn {
namespace {

Program matmul() {
  return parse_program("in A^{f32}_{64,96};in C^{f32}_{96,128};out D^{f32}_{64,128};\n"
                       "L^{64}_{i=0}L^{128}_{j=0}L^{96}_{k=0}[D^{f32,g}_{i,j}=D^{f32,g}_{i,j}+A^{f32,g}_{i,k}*C^{f32,g}_{k,j};];\n").value();
}

std::vector<Action> actions(const std::vector<std::string>& texts) {
  std::vector<Action> list;
  for (const std::string& text : texts) list.push_back(parse_action(text).value());
  return list;
}

const std::string kSplit = "loop_split(loop=0.i, factor=8, tail=guard)", kOther = "loop_split(loop=0.j, factor=16, tail=guard)",
                  kUnroll = "loop_unrolling(loop=0.k, factor=4, kind=U)", kRefused = "loop_split(loop=0.zz, factor=8, tail=guard)";

TEST(ReplayMemo, GivesWhatReplayingGives) {
  const Program root = matmul();
  const Target target = described_target();
  ReplayMemo memo(root, target);
  const std::vector<std::vector<std::string>> sequences = {
      {}, {kSplit}, {kSplit, kOther}, {kSplit, kUnroll}, {kOther, kSplit}, {kSplit, kOther, kUnroll}, {kSplit, kRefused, kOther}, {kRefused}};
  for (int round = 0; round < 2; ++round) {
    for (const auto& texts : sequences) {
      const Result<Replay> wanted = replay_trace(root, target, actions(texts));
      const Result<std::vector<Step>> got = memo.replay(actions(texts));
      ASSERT_EQ(got.ok(), wanted.ok());
      if (!wanted) {
        EXPECT_EQ(render(got.error()), render(wanted.error()));
        continue;
      }
      ASSERT_EQ(got->size(), wanted->steps.size());
      for (std::size_t i = 0; i < got->size(); ++i) {
        EXPECT_EQ(print_program((*got)[i].after), print_program(wanted->steps[i].after));
        EXPECT_EQ((*got)[i].proved, wanted->steps[i].proved);
        EXPECT_EQ((*got)[i].exactness, wanted->steps[i].exactness);
      }
    }
  }
}

TEST(ReplayMemo, AppliesNoPrefixTwice) {
  ReplayMemo memo(matmul(), described_target());
  EXPECT_TRUE(memo.replay(actions({kSplit, kOther})).ok());
  EXPECT_EQ(memo.applied(), 2u);
  EXPECT_TRUE(memo.replay(actions({kSplit, kOther, kUnroll})).ok());
  EXPECT_EQ(memo.applied(), 3u);
  EXPECT_EQ(memo.reused(), 2u);
  EXPECT_FALSE(memo.replay(actions({kSplit, kRefused})).ok());
  EXPECT_FALSE(memo.replay(actions({kSplit, kRefused})).ok());
  EXPECT_EQ(memo.applied(), 4u);   // a refusal is remembered too
  EXPECT_TRUE(memo.replay(actions({kOther, kSplit})).ok());   // another order is another path
  EXPECT_EQ(memo.applied(), 6u);
}

TEST(ReplayMemo, ARefusedActionLeavesThePlace) {
  ReplayMemo memo(matmul(), described_target());
  ReplayMemo::Place place = memo.root();
  EXPECT_FALSE(memo.apply(&place, parse_action(kRefused).value()).ok());
  EXPECT_EQ(print_program(place.program), print_program(matmul()));
  EXPECT_TRUE(memo.apply(&place, parse_action(kSplit).value()).ok());
  EXPECT_NE(print_program(place.program), print_program(matmul()));
}

}  // namespace
}  // namespace cairn
