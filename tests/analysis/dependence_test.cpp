#include "analysis/dependence.h"

#include <gtest/gtest.h>

#include <set>

#include "ir/text.h"

namespace cairn {
namespace {

Program parse(const std::string& text) {
  auto p = parse_program(text);
  EXPECT_TRUE(p.ok()) << (p.ok() ? "" : render(p.error()));
  return p.ok() ? *p : Program{};
}

// "flow E s0-s1 r" for each dependence carried by the loop; r marks reductions, ? what is not certain.
std::set<std::string> carried(const Program& p, const StmtPath& loop) {
  std::set<std::string> out;
  for (const Dependence& d : carried_dependences(p, loop)) {
    const char* kinds[] = {"flow", "anti", "output"};
    out.insert(std::string(kinds[static_cast<int>(d.kind)]) + " " + d.source.tensor + " s" +
               std::to_string(d.source.equation) + "-s" + std::to_string(d.sink.equation) + (d.reduction ? " r" : "") +
               (d.certain ? "" : " ?"));
  }
  return out;
}
using Set = std::set<std::string>;

TEST(Dependence, Matmul) {
  const Program p = parse(
      "in A^{f32}_{64,32};in C^{f32}_{32,48};out D^{f32}_{64,48};"
      "L^{64}_{i=0}L^{48}_{j=0}L^{32}_{k=0}[D^{f32}_{i,j}=D^{f32}_{i,j}+A^{f32}_{i,k}*C^{f32}_{k,j};];");
  EXPECT_EQ(carried(p, {0}), Set{});
  EXPECT_EQ(carried(p, {0, 0}), Set{});
  EXPECT_EQ(carried(p, {0, 0, 0}), (Set{"anti D s0-s0 r", "flow D s0-s0 r", "output D s0-s0 r"}));
}

TEST(Dependence, TiledMatmulIsDecidedWithoutIsl) {
  set_dependence_mode(DependenceMode::fast_only);
  const DependenceCounters before = dependence_counters();
  const Program p = parse(
      "in A^{f32}_{1000,700};in C^{f32}_{700,900};out D^{f32}_{1000,900};"
      "L^{84}_{a=0}L^{29}_{b=0}L^{3}_{c=0}L^{256}_{k=0}L^{12}_{i=0}L^{32}_{j=0}"
      "T^{a*12+i<1000&b*32+j<900&c*256+k<700}[D^{f32}_{a*12+i,b*32+j}="
      "D^{f32}_{a*12+i,b*32+j}+A^{f32}_{a*12+i,c*256+k}*C^{f32}_{c*256+k,b*32+j};];");
  const Set reduction{"anti D s0-s0 r", "flow D s0-s0 r", "output D s0-s0 r"};
  StmtPath path{0};
  for (int depth = 0; depth < 6; ++depth) {
    EXPECT_EQ(carried(p, path), depth == 2 || depth == 3 ? reduction : Set{}) << depth;
    path.push_back(0);
  }
  EXPECT_EQ(dependence_counters().unknown, before.unknown);
  set_dependence_mode(DependenceMode::automatic);
}

TEST(Dependence, PackedPanelsAndWrongTiles) {
  // Packing writes each element once; with 13 columns to a tile of 12 two iterations meet.
  const Program p = parse(
      "in C^{f32}_{256,96};tmp W^{f32,g}_{8,256,16};out D^{f32}_{2000};"
      "L^{8}_{j=0}L^{256}_{c=0}L^{12}_{v=0}[W^{f32,g}_{j,c,v}=C^{f32}_{c,j*12+v};];"
      "L^{83}_{a=0}L^{13}_{b=0}[D^{f32}_{a*12+b}=1;];L^{83}_{a=0}L^{12}_{b=0}[D^{f32}_{a*12+b}=2;];");
  EXPECT_EQ(carried(p, {0}), Set{});
  EXPECT_EQ(carried(p, {1}), Set{"output D s1-s1"});
  EXPECT_EQ(carried(p, {1, 0}), Set{});
  EXPECT_EQ(carried(p, {2}), Set{});
}

TEST(Dependence, StencilsScansAndGuards) {
  const Program p = parse(
      "in A^{f32}_{10};out E^{f32}_{10};"
      "L^{10}_{i=0}[E^{f32}_{i}=if_then_else(i>0,E^{f32}_{i-1},0)+A^{f32}_{i};];"
      "L^{5}_{i=0}[E^{f32}_{i}=E^{f32}_{i+5};];L^{10}_{i=0}[T^{i>=9}[E^{f32}_{9-i}=E^{f32}_{i};];];");
  EXPECT_EQ(carried(p, {0}), Set{"flow E s0-s0"});
  EXPECT_EQ(carried(p, {1}), Set{});
  EXPECT_EQ(carried(p, {2}), Set{});   // one iteration only: the guard says so
}

TEST(Dependence, QuotientsAndDisjunctions) {
  const Program p = parse(
      "in A^{f32}_{512};out E^{f32}_{64,8};out F^{f32}_{64};out G^{f32}_{64};"
      "L^{512}_{f=0}[E^{f32}_{f//8,f%8}=A^{f32}_{f};];"
      "L^{512}_{f=0}[F^{f32}_{f//8}=A^{f32}_{f};];"
      "L^{64}_{i=0}L^{2}_{j=0}[T^{j==0&i<32|j==1&i>=32}[G^{f32}_{i}=A^{f32}_{i};];];"
      "L^{64}_{i=0}L^{2}_{j=0}[T^{j==0|i>=62}[G^{f32}_{i}=A^{f32}_{j};];];");
  EXPECT_EQ(carried(p, {0}), Set{});
  EXPECT_EQ(carried(p, {1}), Set{"output F s1-s1"});
  EXPECT_EQ(carried(p, {2, 0}), Set{});
  EXPECT_EQ(carried(p, {3, 0}), Set{"output G s3-s3"});
}

TEST(Dependence, GathersAreNeverExcludedAndNeverCertain) {
  const Program p = parse(
      "in A^{f32}_{8};in G^{i32}_{8};out C^{f32}_{8,8};"
      "L^{8}_{i=0}L^{8}_{j=0}[C^{f32}_{G^{i32}_{i},j}=A^{f32}_{i};];");
  EXPECT_EQ(carried(p, {0}), Set{"output C s0-s0 ?"});
  EXPECT_EQ(carried(p, {0, 0}), Set{});
}

TEST(Dependence, SwizzledTilesKeepTheirElementsApart) {
  const Program p = parse(
      "in A^{f32}_{32,32};tmp S^{f32,s}_{32,32};out C^{f32}_{32,32};"
      "L^{32}_{r=0}L^{32}_{c=0}[S^{f32,s}_{r,xor(c,r%8)}=A^{f32}_{r,c};];"
      "L^{32}_{r=0}L^{8}_{c=0}L^{4}_{v=0}[C^{f32}_{r,xor(c,r//4)*4+v}=A^{f32}_{r,c*4+v};];"
      "L^{32}_{r=0}L^{32}_{c=0}[S^{f32,s}_{xor(c,r%8),0}=A^{f32}_{r,c};];");
  for (const StmtPath& loop : {StmtPath{0}, {0, 0}, {1}, {1, 0}, {1, 0, 0}}) EXPECT_EQ(carried(p, loop), Set{});
  EXPECT_EQ(carried(p, {2}), Set{"output S s2-s2 ?"});
  EXPECT_EQ(carried(p, {2, 0}), Set{});
}

TEST(Dependence, OnlyOneOperatorMakesAReduction) {
  const Program p = parse(
      "in A^{f32}_{8};out E^{f32};out M^{f32};"
      "L^{8}_{i=0}[E^{f32}=E^{f32}+A^{f32}_{i};E^{f32}=E^{f32}-A^{f32}_{i};];"
      "L^{8}_{i=0}[M^{f32}=max(M^{f32},A^{f32}_{i});M^{f32}=M^{f32}*A^{f32}_{i};];");
  for (const Dependence& d : carried_dependences(p, {0})) EXPECT_TRUE(d.reduction);
  bool mixed = false;
  for (const Dependence& d : carried_dependences(p, {1})) mixed = mixed || !d.reduction;
  EXPECT_TRUE(mixed);
}

TEST(Dependence, RememberedNestsMoveWithTheirProgram) {
  const Program p = parse(
      "in A^{f32}_{8};out C^{f32}_{8};out E^{f32};"
      "L^{8}_{i=0}[C^{f32}_{i}=A^{f32}_{i};];L^{8}_{i=0}[E^{f32}=E^{f32}+A^{f32}_{i};];");
  const Set expected{"anti E s1-s1 r", "flow E s1-s1 r", "output E s1-s1 r"};
  EXPECT_EQ(carried(p, {1}), expected);
  EXPECT_EQ(carried(p, {1}), expected);
  Program moved = p;
  moved.set_body({p.body()[1], p.body()[0]});   // the same nest at another place
  EXPECT_EQ(carried(moved, {0}), (Set{"anti E s0-s0 r", "flow E s0-s0 r", "output E s0-s0 r"}));
  for (const Dependence& d : carried_dependences(moved, {0})) EXPECT_EQ(d.sink.path, (StmtPath{0, 0}));
  EXPECT_EQ(carried(moved, {1}), Set{});
}

TEST(Dependence, TouchGivesAnExample) {
  const Program p = parse("out D^{f32}_{200};L^{15}_{a=0}L^{13}_{b=0}[D^{f32}_{a*12+b}=1;];");
  const std::vector<Access> accesses = collect_accesses(p);
  ASSERT_EQ(accesses.size(), 1U);
  const Touch t = find_touch(accesses[0], accesses[0], {{"a", "a", Order::less}});
  ASSERT_EQ(t.answer, Answer::yes);
  ASSERT_EQ(t.at_a.size(), 2U);
  EXPECT_LT(t.at_a[0], t.at_b[0]);
  EXPECT_EQ(t.at_a[0] * 12 + t.at_a[1], t.at_b[0] * 12 + t.at_b[1]);
}

}  // namespace
}  // namespace cairn
