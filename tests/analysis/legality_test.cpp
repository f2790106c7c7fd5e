#include <gtest/gtest.h>

#include "analysis/dependence.h"
#include "ir/text.h"

namespace cairn {
namespace {

Program parse(const std::string& text) {
  auto p = parse_program(text);
  EXPECT_TRUE(p.ok()) << (p.ok() ? "" : render(p.error()));
  return p.ok() ? *p : Program{};
}

std::string say(const Legality& v) {
  if (!v.ok) return v.reason.message;
  return v.reorders_reduction ? "reduction" : "ok";
}

TEST(Legality, PermutingMatmul) {
  const Program p = parse(
      "in A^{f32}_{64,32};in C^{f32}_{32,48};out D^{f32}_{64,48};"
      "L^{64}_{i=0}L^{48}_{j=0}L^{32}_{k=0}[D^{f32}_{i,j}=D^{f32}_{i,j}+A^{f32}_{i,k}*C^{f32}_{k,j};];");
  for (const std::vector<std::size_t>& order :
       {std::vector<std::size_t>{2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}}) {
    EXPECT_EQ(say(check_permutation(p, {0}, order)), "ok");   // each element keeps the order of k
  }
  EXPECT_EQ(say(check_permutation(p, {0}, {0, 0, 1})), "the new order of the loops is not a permutation of their positions");
  EXPECT_NE(say(check_permutation(p, {0, 0, 0}, {1, 0})).find("a perfect band of 2 loops is needed"), std::string::npos);
}

TEST(Legality, SwappingTwoReductionLoopsReassociates) {
  const Program p = parse(
      "in A^{f32}_{64,32};out E^{f32};"
      "L^{64}_{i=0}L^{32}_{k=0}[E^{f32}=E^{f32}+A^{f32}_{i,k};];");
  EXPECT_EQ(say(check_permutation(p, {0}, {1, 0})), "reduction");
  const Program quotient = parse(
      "in A^{f32}_{64,32};io E^{f32};L^{64}_{i=0}L^{32}_{k=0}[E^{f32}=E^{f32}/A^{f32}_{i,k};];");
  EXPECT_FALSE(check_permutation(quotient, {0}, {1, 0}).ok);
  // The tiles of one reduction loop swapped: other order for each element.
  const Program tiled = parse(
      "in A^{f32}_{8,32};out E^{f32}_{8};"
      "L^{8}_{i=0}L^{4}_{a=0}L^{8}_{b=0}[E^{f32}_{i}=E^{f32}_{i}+A^{f32}_{i,a*8+b};];");
  EXPECT_EQ(say(check_permutation(tiled, {0}, {1, 2, 0})), "ok");
  EXPECT_EQ(say(check_permutation(tiled, {0}, {0, 2, 1})), "reduction");
}

TEST(Legality, PermutationRefusesSkewedDependences) {
  const Program p = parse(
      "io E^{f32}_{9,9};"
      "L^{8}_{i=0}L^{8}_{j=0}[E^{f32}_{i+1,j}=E^{f32}_{i,j+1}*2;];");
  const Legality v = check_permutation(p, {0}, {1, 0});
  ASSERT_FALSE(v.ok);
  EXPECT_EQ(v.reason.message,
            "moving loop j outside loop i would reverse a flow dependence on E: s0 writes E before s0 reads it");
  ASSERT_EQ(v.reason.notes.size(), 1U);
  EXPECT_NE(v.reason.notes[0].find("for example: s0 writes E at i="), std::string::npos) << v.reason.notes[0];
  const Program straight = parse("io E^{f32}_{9,9};L^{8}_{i=0}L^{8}_{j=0}[E^{f32}_{i+1,j+1}=E^{f32}_{i,j}*2;];");
  EXPECT_EQ(say(check_permutation(straight, {0}, {1, 0})), "ok");
  // Write after read counts as well.
  const Program anti = parse("io E^{f32}_{9,9};L^{8}_{i=0}L^{8}_{j=0}[E^{f32}_{i,j+1}=E^{f32}_{i+1,j}*2;];");
  EXPECT_NE(say(check_permutation(anti, {0}, {1, 0})).find("write-after-read"), std::string::npos);
}

TEST(Legality, Fusion) {
  const Program p = parse(
      "in A^{f32}_{8,8};tmp E^{f32,g}_{8,8};out C^{f32}_{8,8};"
      "L^{8}_{i=0}L^{8}_{j=0}[E^{f32,g}_{i,j}=A^{f32}_{i,j}*2;];"
      "L^{8}_{a=0}L^{8}_{b=0}[C^{f32}_{a,b}=E^{f32,g}_{a,b}+1;];"
      "L^{8}_{a=0}L^{8}_{b=0}[C^{f32}_{a,b}=C^{f32}_{a,b}+E^{f32,g}_{7-a,b};];");
  EXPECT_EQ(say(check_fusion(p, {0}, {1}, {{"i", "a"}, {"j", "b"}})), "ok");
  EXPECT_EQ(say(check_fusion(p, {0}, {1}, {{"i", "a"}})), "ok");
  EXPECT_NE(say(check_fusion(p, {0}, {1}, {{"i", "b"}, {"j", "a"}})).find("flow dependence on E"), std::string::npos);
  // s2 reads the mirrored row; s1 stands between and writes what s2 reads.
  EXPECT_NE(say(check_fusion(p, {0}, {2}, {{"i", "a"}})).find("moving the second nest up"), std::string::npos);
  EXPECT_EQ(say(check_fusion(p, {1}, {2}, {{"a", "a"}, {"b", "b"}})), "ok");
  EXPECT_NE(say(check_fusion(p, {0}, {1}, {{"i", "a"}, {"j", "c"}})).find("have no c"), std::string::npos);
}

TEST(Legality, FusionSeesWriteAfterReadAndStarts) {
  const Program war = parse(
      "io E^{f32}_{9};out C^{f32}_{8};"
      "L^{8}_{i=0}[C^{f32}_{i}=E^{f32}_{i+1};];L^{8}_{j=0}[E^{f32}_{j}=0;];L^{8}_{j=0}[E^{f32}_{j+1}=1;];");
  EXPECT_EQ(say(check_fusion(war, {0}, {1}, {{"i", "j"}})), "ok");
  EXPECT_EQ(say(check_fusion(war, {0}, {2}, {{"i", "j"}})),
            "moving the second nest up to the first would reverse a write-after-write (output) dependence on E: s1 writes E "
            "before s2 writes it");
  const Program later = parse(
      "io E^{f32}_{9};out C^{f32}_{8};"
      "L^{8}_{i=0}[C^{f32}_{i}=E^{f32}_{i};];L^{8}_{j=0}[E^{f32}_{j+1}=1;];");
  EXPECT_EQ(say(check_fusion(later, {0}, {1}, {{"i", "j"}})),
            "fusing at loop i would reverse a write-after-read (anti) dependence on E: s0 reads E before s1 writes it");
  // The bias reaches an element after the whole sum: an element's order of updates changes, no value is lost.
  const Program bias = parse(
      "in A^{f32}_{8,8};in W^{f32}_{8};out D^{f32}_{8};"
      "L^{8}_{k=0}L^{8}_{i=0}[D^{f32}_{i}=D^{f32}_{i}+A^{f32}_{i,k};];"
      "L^{8}_{k=0}[L^{8}_{i=0}[D^{f32}_{i}=D^{f32}_{i}+W^{f32}_{k};];];");
  EXPECT_EQ(say(check_fusion(bias, {0}, {1}, {{"k", "k"}})), "reduction");
  const Program scale = parse(
      "in A^{f32}_{8,8};out D^{f32}_{8};"
      "L^{8}_{k=0}L^{8}_{i=0}[D^{f32}_{i}=D^{f32}_{i}+A^{f32}_{i,k};];"
      "L^{8}_{k=0}L^{8}_{i=0}[D^{f32}_{i}=D^{f32}_{i}*A^{f32}_{i,k};];");
  EXPECT_NE(say(check_fusion(scale, {0}, {1}, {{"k", "k"}})).find("dependence on D"), std::string::npos);
}

TEST(Legality, Fission) {
  const Program p = parse(
      "in A^{f32}_{8,8};tmp T^{f32,g};tmp E^{f32,g}_{8,8};out C^{f32}_{8,8};"
      "L^{8}_{i=0}L^{8}_{j=0}[E^{f32,g}_{i,j}=A^{f32}_{i,j}*2;T^{f32,g}=E^{f32,g}_{i,j};C^{f32}_{i,j}=T^{f32,g}+1;];");
  EXPECT_EQ(say(check_fission(p, {0}, 2, 1)), "ok");
  EXPECT_EQ(say(check_fission(p, {0}, 1, 1)), "the cut must leave statements on both sides: the body of i has 1, the cut is at 1");
  EXPECT_NE(say(check_fission(p, {0}, 2, 2)).find("dependence on T"), std::string::npos);
  EXPECT_EQ(say(check_fission(p, {0}, 2, 2, {"T"})), "ok");
  const Program back = parse(
      "io E^{f32}_{9};in A^{f32}_{8};"
      "L^{8}_{i=0}[E^{f32}_{i}=E^{f32}_{i}+A^{f32}_{i};E^{f32}_{i+1}=E^{f32}_{i}*2;];");
  EXPECT_NE(say(check_fission(back, {0}, 1, 1)).find("cutting loop i would reverse a"), std::string::npos);
}

TEST(Legality, ScratchDoesNotHoldItsIterationsTogether) {
  const Program p = parse(
      "in A^{f32}_{8,8};tmp R^{f32,l};tmp S^{f32,s}_{4};out C^{f32}_{8,8};out D^{f32}_{8,8};"
      "L^{8}_{i=0}L^{8}_{j=0}[R^{f32,l}=A^{f32}_{i,j}*2;C^{f32}_{i,j}=R^{f32,l}+1;];"
      "L^{8}_{i=0}L^{8}_{j=0}[R^{f32,l}=A^{f32}_{i,j}*3;L^{4}_{k=0}[S^{f32,s}_{k}=0;];"
      "L^{4}_{k=0}[S^{f32,s}_{k}=S^{f32,s}_{k}+R^{f32,l};];D^{f32}_{i,j}=S^{f32,s}_{0};];");
  EXPECT_EQ(say(check_permutation(p, {0}, {1, 0})), "ok");
  EXPECT_EQ(say(check_permutation(p, {1}, {1, 0})), "ok");
  EXPECT_EQ(say(check_fusion(p, {0}, {1}, {{"i", "i"}, {"j", "j"}})), "ok");
  EXPECT_EQ(say(check_swap(p, {0}, {1})), "ok");
  EXPECT_TRUE(is_scratch(p, "R", {{0, 0}, {1, 0}}));
  // The last value is read after the nest; the box of the start is too small; a guard leaves elements out.
  const Program after = parse(
      "in A^{f32}_{8,8};tmp R^{f32,l};out C^{f32}_{8,8};out D^{f32};"
      "L^{8}_{i=0}L^{8}_{j=0}[R^{f32,l}=A^{f32}_{i,j}*2;C^{f32}_{i,j}=R^{f32,l}+1;];D^{f32}=R^{f32,l};");
  EXPECT_NE(say(check_permutation(after, {0}, {1, 0})).find("dependence on R"), std::string::npos);
  const Program small = parse(
      "in A^{f32}_{8,8};tmp S^{f32,s}_{4};out D^{f32}_{8,8};"
      "L^{8}_{i=0}L^{8}_{j=0}[L^{3}_{k=0}[S^{f32,s}_{k}=A^{f32}_{i,j};];L^{4}_{k=0}[D^{f32}_{i,k}=S^{f32,s}_{k};];];");
  EXPECT_FALSE(check_permutation(small, {0}, {1, 0}).ok);
  const Program guarded = parse(
      "in A^{f32}_{8,8};tmp R^{f32,l};out D^{f32}_{8,8};"
      "L^{8}_{i=0}L^{8}_{j=0}[T^{i<j}[R^{f32,l}=A^{f32}_{i,j};];D^{f32}_{i,j}=R^{f32,l};];");
  EXPECT_FALSE(check_permutation(guarded, {0}, {1, 0}).ok);
}

TEST(Legality, Swap) {
  const Program p = parse(
      "in A^{f32}_{8};out C^{f32}_{8};out D^{f32}_{8};out E^{f32};"
      "L^{8}_{i=0}[C^{f32}_{i}=A^{f32}_{i};D^{f32}_{i}=A^{f32}_{i}*2;E^{f32}=E^{f32}+C^{f32}_{i};E^{f32}=E^{f32}+D^{f32}_{i};];");
  EXPECT_EQ(say(check_swap(p, {0, 0}, {0, 1})), "ok");
  EXPECT_EQ(say(check_swap(p, {0, 2}, {0, 3})), "reduction");
  EXPECT_EQ(say(check_swap(p, {0, 0}, {0, 2})),
            "swapping the statements would reverse a flow dependence on C: s0 writes C before s2 reads it");
  EXPECT_NE(say(check_swap(p, {0, 0}, {0, 3})).find("moving the first statement down would reverse"), std::string::npos);
  EXPECT_FALSE(check_swap(p, {0, 1}, {0, 0}).ok);
}

}  // namespace
}  // namespace cairn
