// The path that must exist (cpu.md): every reordering on the way to a blocked, packed matmul, with tails.
#include <gtest/gtest.h>

#include "analysis/dependence.h"
#include "analysis/footprint.h"
#include "ir/text.h"

namespace cairn {
namespace {

// 1000x700x900, rows split for two threads, blocks of 256 along k, tiles of 12x32; one guard for all tails.
const char* const kSplit =
    "in A^{f32}_{1000,700};in C^{f32}_{700,900};out D^{f32}_{1000,900};"
    "L^{2}_{t=0}L^{42}_{a=0}L^{12}_{i=0}L^{29}_{b=0}L^{32}_{j=0}L^{3}_{c=0}L^{256}_{k=0}"
    "T^{(t*42+a)*12+i<1000&b*32+j<900&c*256+k<700}[D^{f32}_{(t*42+a)*12+i,b*32+j}="
    "D^{f32}_{(t*42+a)*12+i,b*32+j}+A^{f32}_{(t*42+a)*12+i,c*256+k}*C^{f32}_{c*256+k,b*32+j};];";

TEST(LegalityCpuPath, ReorderingKeepsTheOrderOfEachSum) {
  const auto parsed = parse_program(kSplit);
  ASSERT_TRUE(parsed.ok());
  const DependenceCounters before = dependence_counters();
  // t c b a k i j: each element still sums c, then k, in order.
  const Legality v = check_permutation(*parsed, {0}, {0, 5, 3, 1, 6, 2, 4});
  EXPECT_TRUE(v.ok) << v.reason.message;
  EXPECT_FALSE(v.reorders_reduction);
  // k outside its block sums in another order.
  const Legality swapped = check_permutation(*parsed, {0}, {0, 6, 3, 1, 5, 2, 4});
  EXPECT_TRUE(swapped.ok);
  EXPECT_TRUE(swapped.reorders_reduction);
  const DependenceCounters after = dependence_counters();
  EXPECT_EQ(after.isl, before.isl);
  EXPECT_EQ(after.unknown, before.unknown);
}

TEST(LegalityCpuPath, FootprintsOfTheStagedOperands) {
  const auto parsed = parse_program(
      "in A^{f32}_{1000,700};in C^{f32}_{700,900};out D^{f32}_{1000,900};"
      "L^{2}_{t=0}L^{3}_{c=0}L^{29}_{b=0}L^{42}_{a=0}L^{256}_{k=0}L^{12}_{i=0}L^{32}_{j=0}"
      "[D^{f32}_{(t*42+a)*12+i,b*32+j}="
      "D^{f32}_{(t*42+a)*12+i,b*32+j}+A^{f32}_{(t*42+a)*12+i,c*256+k}*C^{f32}_{c*256+k,b*32+j};];");
  ASSERT_TRUE(parsed.ok());
  const std::vector<Access> all = collect_accesses(*parsed);
  const auto box = [&](const char* tensor, const std::vector<std::string>& inner) {
    std::vector<const Access*> mine;
    for (const Access& a : all) {
      if (a.tensor == tensor) mine.push_back(&a);
    }
    const auto f = footprint_of(*parsed, mine, inner);
    std::string text;
    if (f) {
      for (const BoxDim& d : f->dims) text += print_expr(*d.origin) + ":" + std::to_string(d.extent) + " ";
      text += f->exact ? "exact" : "padded";
    }
    return text;
  };
  EXPECT_EQ(box("D", {"k", "i", "j"}), "t*504+a*12:12 b*32:32 exact");
  EXPECT_EQ(box("C", {"a", "k", "i", "j"}), "c*256:256 b*32:32 exact");
  EXPECT_EQ(box("A", {"b", "a", "k", "i", "j"}), "t*504:504 c*256:256 exact");
}

// Staged and packed: the loops that shall run in parallel or as vectors carry nothing but scratch and sums.
TEST(LegalityCpuPath, StagedNestsCarryOnlyWhatTheyMust) {
  const auto parsed = parse_program(
      "in A^{f32}_{1000,700};in C^{f32}_{700,900};out D^{f32}_{1000,900};"
      "tmp W^{f32,s}_{256,32};tmp E^{f32,l}_{12,32};"
      "L^{2}_{t=0}L^{3}_{c=0}L^{29}_{b=0}["
      "L^{256}_{k=0}L^{32}_{j=0}[W^{f32,s}_{k,j}=if_then_else(c*256+k<700&b*32+j<900,C^{f32}_{c*256+k,b*32+j},0);];"
      "L^{42}_{a=0}["
      "L^{12}_{i=0}L^{32}_{j=0}[E^{f32,l}_{i,j}=if_then_else(c>0&t*504+a*12+i<1000&b*32+j<900,D^{f32}_{t*504+a*12+i,b*32+j},0);];"
      "L^{256}_{k=0}L^{12}_{i=0}L^{32}_{j=0}[E^{f32,l}_{i,j}=E^{f32,l}_{i,j}+"
      "if_then_else(t*504+a*12+i<1000&c*256+k<700,A^{f32}_{t*504+a*12+i,c*256+k},0)*W^{f32,s}_{k,j};];"
      "L^{12}_{i=0}L^{32}_{j=0}T^{t*504+a*12+i<1000&b*32+j<900}[D^{f32}_{t*504+a*12+i,b*32+j}=E^{f32,l}_{i,j};];];];");
  ASSERT_TRUE(parsed.ok());
  const auto carriers = [&](const StmtPath& loop) {
    std::string text;
    for (const Dependence& d : carried_dependences(*parsed, loop)) {
      if (text.find(d.source.tensor) == std::string::npos) text += d.source.tensor;
    }
    return text;
  };
  EXPECT_EQ(carriers({0}), "WE");              // one copy of W and E: private to an iteration
  EXPECT_TRUE(is_scratch(*parsed, "W", {{0, 0, 0}}));
  EXPECT_TRUE(is_scratch(*parsed, "E", {{0, 0, 0, 1, 0}, {0, 0, 0, 1, 1}, {0, 0, 0, 1, 2}}) == false);
  EXPECT_TRUE(is_scratch(*parsed, "E", {{0, 0, 0, 1}}));
  EXPECT_EQ(carriers({0, 0}), "WDE");          // c: the sums go on in D
  EXPECT_EQ(carriers({0, 0, 0, 1}), "E");      // tiles of one panel
  EXPECT_EQ(carriers({0, 0, 0, 1, 0, 0}), "");
  EXPECT_EQ(carriers({0, 0, 0, 1, 1}), "E");   // k
  EXPECT_EQ(carriers({0, 0, 0, 1, 1, 0}), "");
  EXPECT_EQ(carriers({0, 0, 0, 1, 1, 0, 0}), "");
  EXPECT_EQ(carriers({0, 0, 0, 1, 2, 0}), "");
  // Blocks of k may not go outside the rows' threads' loop order of D, but t and c may swap.
  EXPECT_TRUE(check_permutation(*parsed, {0}, {1, 0, 2}).ok);
  EXPECT_TRUE(check_permutation(*parsed, {0}, {0, 2, 1}).ok);
}

}  // namespace
}  // namespace cairn
