// The prover of side conditions: what it proves, refutes and leaves open.
#include <gtest/gtest.h>

#include "analysis/algebra/prove.h"
#include "ir/text.h"
#include "ir/walk.h"

namespace cairn::algebra {
namespace {

// A condition asked at the last equation of the program.
struct ProofCase {
  const char* program;
  const char* condition;
  Truth truth;
};

Truth ask(const ProofCase& one) {
  const Result<Program> program = parse_program(one.program);
  EXPECT_TRUE(program.ok()) << one.program;
  const Result<ExprPtr> condition = parse_expr(one.condition);
  EXPECT_TRUE(condition.ok()) << one.condition;
  Prover prover(*program);
  return prover.prove(*condition, place_of(*program, collect_equations(program->body()).back().path));
}

constexpr const char* kPlain = "in A^{f32}_{8};in C^{f32}_{8};in U^{u8}_{8};out D^{f32}_{8};L^{8}_{i=0}[D_{i}=A_{i}+C_{i};];";
constexpr const char* kGuarded = "in A^{f32}_{8};out D^{f32}_{8};L^{8}_{i=0}[D_{i}=0;T^{A_{i}>0&i<5}[D_{i}=A_{i};];];";
constexpr const char* kSoftmax =
    "in A^{f32}_{4,8};out D^{f32}_{4,8};L^{4}_{i=0}L^{8}_{k=0}[M^{f32,g}_{i}=max(M_{i},A_{i,k});];"
    "L^{4}_{i=0}L^{8}_{k=0}[S^{f32,g}_{i}=S_{i}+exp(A_{i,k}-M_{i});];"
    "L^{4}_{i=0}L^{8}_{j=0}[D_{i,j}=exp(A_{i,j}-M_{i})/S_{i};];";
constexpr const char* kRunning =
    "in A^{f32}_{8};out D^{f32}_{8};L^{8}_{k=0}[M^{f32,g}=max(M,A_{k});D_{k}=A_{k}-M;];";

TEST(AlgebraProver, Verdicts) {
  const ProofCase cases[] = {
      {kPlain, "exp(A_{i})>0", Truth::yes},
      {kPlain, "exp(A_{i})!=0", Truth::unknown},        // it underflows
      {kPlain, "exp(max(A_{i},-50))!=0", Truth::yes},
      {kPlain, "A_{i}>0", Truth::unknown},
      {kPlain, "A_{i}*A_{i}>=0", Truth::yes},
      {kPlain, "A_{i}*C_{i}>=0", Truth::unknown},
      {kPlain, "A_{i}**2>0", Truth::unknown},           // 0 squared
      {kPlain, "A_{i}**2+1>0", Truth::yes},
      {kPlain, "abs(A_{i})+exp(C_{i})>0", Truth::yes},
      {kPlain, "sqrt(A_{i})>=0", Truth::yes},
      {kPlain, "-abs(A_{i})>0", Truth::no},
      {kPlain, "1/(1+exp(-A_{i}))>0", Truth::yes},
      {kPlain, "1/(1+exp(-A_{i}))<=1", Truth::yes},
      {kPlain, "i>=0", Truth::yes},
      {kPlain, "i+1>0", Truth::yes},
      {kPlain, "i>0", Truth::unknown},
      {kPlain, "i<8&U_{i}<=255", Truth::yes},
      {kPlain, "U_{i}+1!=0", Truth::yes},
      {kPlain, "abs(A_{i})<inf", Truth::unknown},
      {kPlain, "abs(U_{i})<inf", Truth::yes},
      {kPlain, "abs(tanh(A_{i}))<=1", Truth::yes},
      {kPlain, "floor(3)==3", Truth::yes},
      {kPlain, "floor(0.5)==0.5", Truth::no},
      {kPlain, "floor(0.5)==0.5|exp(A_{i})>0", Truth::yes},
      {kPlain, "A_{i}+2-(A_{i}+1)!=0", Truth::yes},
      {kPlain, "max(A_{i},C_{i})>=A_{i}", Truth::yes},
      {kPlain, "0>0", Truth::no},
      {kPlain, "A_{i}-A_{7-i}<=0", Truth::unknown},
      {kPlain, "A_{i}/A_{i}>0", Truth::unknown},
      {kGuarded, "A_{i}>0", Truth::yes},
      {kGuarded, "A_{i}*2>0", Truth::yes},
      {kGuarded, "i<=4", Truth::yes},
      {kGuarded, "A_{7-i}>0", Truth::unknown},
      {kSoftmax, "A_{i,j}-M_{i}<=80", Truth::yes},
      {kSoftmax, "A_{i,7-j}-M_{i}<=0", Truth::yes},
      {kSoftmax, "A_{3-i,j}-M_{i}<=80", Truth::unknown},
      {kSoftmax, "M_{i}-A_{i,j}<=80", Truth::unknown},
      {kSoftmax, "S_{i}>0", Truth::yes},
      {kSoftmax, "S_{i}!=0", Truth::unknown},
      {kRunning, "A_{k}-M<=0", Truth::yes},
      {kRunning, "A_{7-k}-M<=0", Truth::unknown},
  };
  for (const ProofCase& one : cases) EXPECT_EQ(ask(one), one.truth) << one.condition << "\n" << one.program;
}

TEST(AlgebraProver, MaximaOfRewrittenOperandsProveNothing) {
  const ProofCase rewritten{
      "io A^{f32}_{8};out D^{f32}_{8};L^{8}_{k=0}[M^{f32,g}=max(M,A_{k});];L^{8}_{k=0}[A_{k}=A_{k}*2;];L^{8}_{k=0}[D_{k}=A_{k}-M;];", "A_{k}-M<=0",
      Truth::unknown};
  EXPECT_EQ(ask(rewritten), rewritten.truth);
  const ProofCase guarded{"in A^{f32}_{8};out D^{f32}_{8};L^{8}_{k=0}T^{k<4}[M^{f32,g}=max(M,A_{k});];L^{8}_{k=0}[D_{k}=A_{k}-M;];", "A_{k}-M<=0",
                          Truth::unknown};
  EXPECT_EQ(ask(guarded), guarded.truth);
  const ProofCase restarted{
      "in A^{f32}_{8};out D^{f32}_{8};L^{8}_{k=0}[M^{f32,g}=max(M,A_{k});];M=0;L^{8}_{k=0}[D_{k}=A_{k}-M;];", "A_{k}-M<=0", Truth::unknown};
  EXPECT_EQ(ask(restarted), restarted.truth);
  const ProofCase partial{"in A^{f32}_{8};out D^{f32}_{8};L^{4}_{k=0}[M^{f32,g}=max(M,A_{k});];L^{8}_{k=0}[D_{k}=A_{k}-M;];", "A_{k}-M<=0",
                          Truth::unknown};
  EXPECT_EQ(ask(partial), partial.truth);
}

TEST(AlgebraProver, TensorsKeepTheSignsOfTheirDefinitions) {
  const ProofCase relu{"in A^{f32}_{8};out D^{f32}_{8};L^{8}_{i=0}[E^{f32,g}_{i}=max(A_{i},0);];L^{8}_{i=0}[D_{i}=E_{i};];", "E_{i}>=0", Truth::yes};
  EXPECT_EQ(ask(relu), relu.truth);
  const ProofCase variance{
      "in A^{f32}_{8};out D^{f32};L^{8}_{i=0}[E^{f32,g}=E+A_{i}**2;];D=E;", "E+1e-05>0", Truth::yes};
  EXPECT_EQ(ask(variance), variance.truth);
  const ProofCase scaled{
      "in A^{f32}_{8};out D^{f32};E^{f32,g}=-1;L^{8}_{i=0}[E=E*exp(A_{i});];D=E;", "E>=0", Truth::unknown};
  EXPECT_EQ(ask(scaled), scaled.truth);
  const ProofCase mixed{"in A^{f32}_{8};out D^{f32}_{8};L^{8}_{i=0}[E^{f32,g}_{i}=max(A_{i},0);];L^{8}_{i=0}[E_{i}=E_{i}-1;];L^{8}_{i=0}[D_{i}=E_{i};];",
                        "E_{i}>=0", Truth::unknown};
  EXPECT_EQ(ask(mixed), mixed.truth);
}

}  // namespace
}  // namespace cairn::algebra
