// Wrong programs that few orders, untied values, one draw of integers or a dropped rounding do not show.
#include <gtest/gtest.h>

#include "ir/text.h"
#include "verify/identity.h"

namespace cairn {
namespace {

bool holds(const std::string& before, const std::string& after, Exactness claim) {
  const Result<Program> a = parse_program(before), b = parse_program(after);
  EXPECT_TRUE(a.ok() && b.ok());
  IdentityOptions options;
  options.claim = claim;
  return check_identity(*a, *b, options).held();
}
bool algebraic(const std::string& before, const std::string& after) { return holds(before, after, Exactness::algebraic); }

TEST(IdentityOrder, AMissingOperandOfAMaximumShowsThoughItSeldomWins) {
  const std::string head = "in A^{f32}_{2,100}; in C^{f32}_{2}; out D^{f32}_{2};";
  const auto scaled = [&](const std::string& read) {  // distributed: no exact form remains
    return head + "L^{2}_{i=0}L^{100}_{k=0}[E^{f32,g}_{i}=max(E^{f32,g}_{i}," + read + ");];L^{2}_{i=0}[D_{i}=E^{f32,g}_{i}*(C_{i}+2);];";
  };
  const std::string apart = head + "L^{2}_{i=0}L^{100}_{k=0}[E^{f32,g}_{i}=max(E^{f32,g}_{i},A_{i,99-k});];L^{2}_{i=0}[D_{i}=E^{f32,g}_{i}*C_{i}+E^{f32,g}_{i}*2;];";
  EXPECT_TRUE(algebraic(scaled("A_{i,k}"), apart));
  EXPECT_FALSE(algebraic(scaled("A_{i,min(k,98)}"), apart));
}

TEST(IdentityOrder, MinimaAndMaximaAreSetsOfTheirOwn) {
  const std::string head = "in A^{f32}_{12}; out D^{f32};";
  EXPECT_TRUE(algebraic(head + "L^{12}_{k=0}[D=max(D,min(A_{k},A_{11-k}));];", head + "L^{6}_{k=0}[D=max(D,min(A_{11-k},A_{k}));];"));
  EXPECT_FALSE(algebraic(head + "L^{12}_{k=0}[D=max(D,min(A_{k},A_{11-k}));];", head + "L^{5}_{k=0}[D=max(D,min(A_{11-k},A_{k}));];"));
}

TEST(IdentityOrder, TiesTellStrictComparisonsFromOthers) {
  const std::string head = "in A^{f32}_{8}; in C^{f32}_{8}; out D^{f32}_{8};";
  const std::string strict = head + "L^{8}_{i=0}[D_{i}=if_then_else(A_{i}<C_{i},A_{i}*2,C_{i}*3);];";
  EXPECT_TRUE(algebraic(strict, head + "L^{8}_{i=0}[D_{i}=if_then_else(C_{i}>A_{i},A_{i}+A_{i},C_{i}*3);];"));
  EXPECT_FALSE(algebraic(strict, head + "L^{8}_{i=0}[D_{i}=if_then_else(A_{i}<=C_{i},A_{i}*2,C_{i}*3);];"));
}

TEST(IdentityOrder, AnIndexFoundByEqualityWithASharedMaximumCounts) {
  const auto argmax = [](const std::string& index) {
    return "in A^{f32}_{4,5}; out C^{f32}_{4}; out D^{i64}_{4};L^{4}_{i=0}L^{5}_{k=0}[C_{i}=max(C_{i},A_{i,k});];"
           "L^{4}_{i=0}L^{5}_{k=0}[D_{i}=min(D_{i},if_then_else(A_{i,k}==C_{i}," + index + ",64));];";
  };
  EXPECT_TRUE(algebraic(argmax("k*2"), argmax("k+k")));
  EXPECT_FALSE(algebraic(argmax("k*2"), argmax("k+3")));
}

TEST(IdentityOrder, IntegerInputsMeetTheBoundsOfConditions) {
  const auto positive = [](const std::string& bound) {
    return "in A^{f32}_{4}; in C^{i64}_{4}; out D^{f32}_{4};L^{4}_{i=0}[D_{i}=if_then_else(C_{i}>" + bound + ",log(A_{i})*2,1);];";
  };
  EXPECT_FALSE(holds(positive("0"), positive("-1"), Exactness::exact));
  EXPECT_FALSE(holds(positive("0"), positive("1"), Exactness::algebraic));
  EXPECT_TRUE(holds(positive("0"), positive("0"), Exactness::exact));
}

TEST(IdentityOrder, AnAccumulatorKeepsItsLastRounding) {
  const auto sum = [](const std::string& dtype) {  // the last update adds nothing
    return "in A^{f32}_{6}; out D^{f32};S^{" + dtype + ",l}=0;L^{8}_{k=0}[S^{" + dtype + ",l}=S^{" + dtype + ",l}+if_then_else(k<6,A_{min(k,5)},0);];D=S^{" + dtype + ",l}/3;";
  };
  EXPECT_FALSE(holds(sum("f32"), sum("tf32"), Exactness::reassociates));
  EXPECT_FALSE(holds(sum("f32"), sum("tf32"), Exactness::algebraic));
  EXPECT_TRUE(holds(sum("tf32"), sum("tf32"), Exactness::exact));
}

}  // namespace
}  // namespace cairn
