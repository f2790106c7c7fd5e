#include "strategy/sequence.h"

#include <gtest/gtest.h>

#include "strategy/compare.h"

namespace cairn::test {
namespace {

constexpr const char* kProduct =
    "in A^{f32}_{10,11};\nin C^{f32}_{11,13};\nout D^{f32}_{10,13};\n"
    "L^{10}_{p=0}L^{13}_{q=0}L^{11}_{r=0}[D^{f32,g}_{p,q}=D^{f32,g}_{p,q}+A^{f32,g}_{p,r}*C^{f32,g}_{r,q};];\n";

TEST(Sequence, FillsTheNamesThatStepsCreate) {
  const Program program = read_program(kProduct, "product");
  const std::vector<std::string> lines = {
      "loop_tiling(loops=0.p+0.q+0.r, sizes=3x8x4)",
      "loop_reorder(order=0.r+0.q+0.p+0.$1.2+0.$1.0+0.$1.1)",
      "cache_read_write(tensor=D, loop=0.p, scope=l, mode=write)",
      "?loop_vectorization(loop=0.$3.2)",
      "?loop_vectorization(loop=0.r)",
      "loop_unrolling(loop=0.$1.0)",
  };
  const Result<Sequence> sequence = apply_sequence(program, described_target(), lines);
  ASSERT_TRUE(sequence.ok()) << render(sequence.error());
  EXPECT_EQ(sequence->actions.size(), 5u);
  ASSERT_EQ(sequence->skipped.size(), 1u);
  EXPECT_EQ(sequence->skipped[0].substr(0, 7), "line 5:");
  EXPECT_EQ(sequence->exactness, Exactness::exact);
  EXPECT_EQ(compare_runs(program, sequence->end, sequence->exactness, 3), "");
  EXPECT_EQ(find_loops_named(sequence->end, sequence->steps[2].created[2]).size(), 2u);
}

TEST(Sequence, StopsAtTheFirstRefusal) {
  const Program program = read_program(kProduct, "product");
  const Result<Sequence> bad = apply_sequence(program, described_target(), {"loop_split(loop=0.p, factor=5)", "loop_split(loop=0.$1.1, factor=2)"});
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.error().message.find("line 2"), std::string::npos) << bad.error().message;
  EXPECT_NE(bad.error().message.find("$1.1 names nothing: line 1 created 1 names"), std::string::npos) << bad.error().message;
  EXPECT_FALSE(apply_sequence(program, described_target(), {"?loop_splt(loop=0.p, factor=5)"}).ok());
}

}  // namespace
}  // namespace cairn::test
