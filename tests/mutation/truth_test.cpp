// The measure itself: what differs, what does not, which promises runs can break.
#include "verify/mutate/truth.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/text.h"

namespace cairn {
namespace {

Program parsed(const std::string& text) {
  Result<Program> p = parse_program(text);
  EXPECT_TRUE(p.ok()) << (p ? "" : render(p.error()));
  return p ? *std::move(p) : Program();
}
Difference compare(const std::string& a, const std::string& b, std::uint64_t seed = 1) {
  TruthOptions options;
  options.seed = seed;
  Result<Truth> truth = Truth::make(parsed(a), options);
  EXPECT_TRUE(truth.ok());
  return truth->compare(parsed(b));
}

constexpr char kHead[] = "in A^{f32}_{4,16};out D^{f32}_{4};\n";

TEST(Truth, TellsBitsFromRealsFromPrecision) {
  const std::string sum = std::string(kHead) + "L^{4}_{i=0}L^{16}_{j=0}[D_{i}=D_{i}+A_{i,j}*A_{i,j};];";
  const std::string backward = std::string(kHead) + "L^{4}_{i=0}L^{16}_{j=0}[D_{i}=D_{i}+A_{i,15-j}*A_{i,15-j};];";
  const std::string other = std::string(kHead) + "L^{4}_{i=0}L^{16}_{j=0}[D_{i}=D_{i}+A_{i,j}*A_{i,15-j};];";
  const std::string coarse = std::string(kHead) + "L^{4}_{i=0}L^{16}_{j=0}[E^{f16,g}_{i,j}=A_{i,j}*A_{i,j};];L^{4}_{i=0}L^{16}_{j=0}[D_{i}=D_{i}+E^{f16,g}_{i,j};];";
  const Difference same = compare(sum, sum), order = compare(sum, backward), wrong = compare(sum, other), rounded = compare(sum, coarse);
  EXPECT_FALSE(same.bits || same.real || same.precision);
  EXPECT_TRUE(order.bits);
  EXPECT_FALSE(order.real || order.precision) << order.witness;
  EXPECT_TRUE(wrong.real);
  EXPECT_TRUE(rounded.precision);
  EXPECT_FALSE(rounded.real) << rounded.witness;
}

// Few elements, sums that cancel: another order of the terms is no loss of precision, one rounded term is.
TEST(Truth, AnotherOrderOfASumKeepsThePrecision) {
  const auto program = [](const std::string& term) {
    return "in A^{f32}_{4,6};in C^{f32}_{4};io D^{f32}_{4};\nL^{4}_{i=0}L^{6}_{k=0}[D_{i}=D_{i}+" + term + ";];L^{4}_{i=0}[D_{i}=D_{i}*C_{i};];";
  };
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Difference order = compare(program("A_{i,k}"), program("A_{i,5-k}"), seed);
    EXPECT_TRUE(order.at(Exactness::exact)) << seed;
    EXPECT_FALSE(order.at(Exactness::reassociates)) << seed << " " << order.witness;
    EXPECT_FALSE(order.at(Exactness::algebraic)) << seed << " " << order.witness;
    const Difference coarse = compare(program("A_{i,k}"), program("if_then_else(k==3,bf16(A_{i,k}),A_{i,k})"), seed);
    EXPECT_TRUE(coarse.precision && coarse.at(Exactness::algebraic)) << seed;
  }
}

TEST(Truth, WhatHasNoValueOverTheRealsDiffersInTheOtherClasses) {
  const auto program = [](int extent, const std::string& rhs) {
    return "in A^{f32}_{8};out D^{f32};\nL^{" + std::to_string(extent) + "}_{i=0}[D=" + rhs + ";];";
  };
  int shown = 0, new_nan = 0;   // by a zero in A_7 alone
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Difference shorter = compare(program(8, "D*A_{i}/A_{i}"), program(7, "D*A_{i}/A_{i}"), seed);
    shown += shorter.at(Exactness::exact) && shorter.at(Exactness::reassociates) ? 1 : 0;
    EXPECT_FALSE(shorter.at(Exactness::algebraic)) << shorter.witness;
    new_nan += compare(program(7, "D*A_{i}/A_{i}"), program(8, "D*A_{i}/A_{i}"), seed).at(Exactness::algebraic) ? 1 : 0;
  }
  EXPECT_GE(shown, 5);
  EXPECT_GE(new_nan, 5);
  // A term of the wrong element differs where both have values.
  EXPECT_TRUE(compare(program(8, "D*A_{i}/A_{i}"), program(8, "D*A_{i}/A_{7-i}*2")).at(Exactness::algebraic));
}

TEST(Truth, ANewNanIsADifference) {
  const std::string safe = std::string(kHead) + "L^{4}_{i=0}L^{16}_{j=0}[D_{i}=D_{i}+if_then_else(A_{i,j}==0,0,A_{i,j});];";
  const std::string unsafe = std::string(kHead) + "L^{4}_{i=0}L^{16}_{j=0}[D_{i}=D_{i}+A_{i,j}/A_{i,j}*A_{i,j};];";
  EXPECT_TRUE(compare(safe, unsafe).real);
}

std::optional<bool> broken(const std::string& text) { return breaks_promise(parsed(text), 5); }

TEST(BreaksPromise, RunsLoopsInOtherOrders) {
  const std::string head = "in A^{f32}_{8};out D^{f32}_{8};\n";
  EXPECT_EQ(broken(head + "P^{8}_{i=0}[D_{i}=A_{i}*2;];"), false);
  EXPECT_EQ(broken(head + "D_{0}=A_{0};P^{7}_{i=0}[D_{i+1}=D_{i}*2+A_{i};];"), true);
  // Iterations share E: backwards nothing shows, statement by statement it does.
  EXPECT_EQ(broken(head + "P^{8}_{i=0}[E^{f32,g}=A_{i};D_{i}=E^{f32,g}*E^{f32,g};];"), true);
  EXPECT_EQ(broken(head + "P^{8}_{i=0}[E^{f32,l}=A_{i};D_{i}=E^{f32,l}*E^{f32,l};];"), false);
  EXPECT_EQ(broken("in A^{f32}_{8};out D^{f32};\nP^{8}_{i=0}[D=D+A_{i};];"), false);
  EXPECT_EQ(broken("in A^{f32}_{8};out D^{f32};\nP^{8}_{i=0}[D=A_{i};];"), true);
}

TEST(BreaksPromise, GivesEveryIterationAndBlockItsOwnStorage) {
  const std::string head = "in A^{f32}_{8};out D^{f32}_{8};\n";
  EXPECT_EQ(broken(head + "P^{8}_{i=0}[E^{f32,l}_{i}=A_{i};];P^{8}_{i=0}[D_{i}=E^{f32,l}_{i};];"), true);
  EXPECT_EQ(broken(head + "P^{8}_{i=0}[E^{f32,l}_{i}=A_{i};D_{i}=E^{f32,l}_{i};];"), false);
  EXPECT_EQ(broken(head + "B^{2}_{bx=0}[B^{4}_{tx=0}[E^{f32,s}_{tx}=A_{bx*4+tx};];B^{4}_{tx=0}[D_{bx*4+tx}=E^{f32,s}_{3-tx};];];"), false);
  EXPECT_EQ(broken(head + "B^{2}_{bx=0}[B^{4}_{tx=0}[E^{f32,l}_{tx}=A_{bx*4+tx};];B^{4}_{tx=0}[D_{bx*4+tx}=E^{f32,l}_{3-tx};];];"), true);
  EXPECT_EQ(broken(head + "B^{2}_{bx=0}B^{4}_{tx=0}[E^{f32,s}_{bx*4+tx}=A_{bx*4+tx};];B^{2}_{bx=0}B^{4}_{tx=0}[D_{bx*4+tx}=E^{f32,s}_{bx*4+tx};];"), true);
  // The sum over the threads is in every thread afterwards.
  EXPECT_EQ(broken("in A^{f32}_{8};out D^{f32}_{2};\nB^{2}_{bx=0}[S^{f32,l}=0;B^{4}_{tx=0}[S=S+A_{bx*4+tx};];D_{bx}=S;];"), false);
}

}  // namespace
}  // namespace cairn
