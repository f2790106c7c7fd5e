#include <cmath>
#include <limits>

#include "ir/interp_run.h"

namespace cairn {
namespace {
using testing::floats;
using testing::ints;
using testing::run_text;
using D = std::vector<double>;
using I = std::vector<std::int64_t>;
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

TEST(interp_meaning, matmul_starts_its_sums_implicitly) {
  const auto r = run_text(
      "in A^{f32}_{2,3};in C^{f32}_{3,2};out D^{f32}_{2,2};\n"
      "L^{2}_{i=0}L^{2}_{j=0}L^{3}_{k=0}[D^{f32,g}_{i,j}=D^{f32,g}_{i,j}+A^{f32,g}_{i,k}*C^{f32,g}_{k,j};];",
      {{"A", floats(Dtype::f32, {2, 3}, {1, 2, 3, 4, 5, 6})}, {"C", floats(Dtype::f32, {3, 2}, {1, 0, 0, 1, 1, 1})}});
  EXPECT_EQ(r.refused, "");
  EXPECT_EQ(r.floats("D"), (D{4, 5, 10, 11}));
}

TEST(interp_meaning, one_instance_whatever_the_scope) {
  // A scope letter changes nothing: a running sum over all i and k.
  for (const std::string scope : {"g", "l", "s"}) {
    const auto r = run_text("in A^{f32}_{2,2};out D^{f32}_{2,2};\nL^{2}_{i=0}L^{2}_{k=0}[E^{f32," + scope + "}=E^{f32," + scope +
                                "}+A_{i,k};D^{f32,g}_{i,k}=E^{f32," + scope + "};];",
                            {{"A", floats(Dtype::f32, {2, 2}, {1, 2, 3, 4})}});
    EXPECT_EQ(r.floats("D"), (D{1, 3, 6, 10})) << r.refused;
  }
}

TEST(interp_meaning, an_explicit_start_resets) {
  const auto r = run_text("in A^{f32}_{2,2};out D^{f32}_{2};\nL^{2}_{i=0}[E^{f32,l}=0;L^{2}_{k=0}[E^{f32,l}=E^{f32,l}+A_{i,k};];D_{i}=E^{f32,l};];",
                          {{"A", floats(Dtype::f32, {2, 2}, {1, 2, 3, 4})}});
  EXPECT_EQ(r.floats("D"), (D{3, 7})) << r.refused;
}

TEST(interp_meaning, starts_are_per_element) {
  // The first half is started by an equation, the second implicitly.
  const auto r = run_text("in A^{f32}_{4};out D^{f32}_{4};\nL^{2}_{i=0}[D_{i}=10;];\nL^{4}_{i=0}[D_{i}=D_{i}-A_{i};];",
                          {{"A", floats(Dtype::f32, {4}, {1, 2, 3, 4})}});
  EXPECT_EQ(r.floats("D"), (D{9, 8, -3, -4})) << r.refused;
}

TEST(interp_meaning, neutral_elements_by_operator_and_dtype) {
  const auto r = run_text(
      "in A^{f32}_{3};in N^{i32}_{3};out D^{f32};out E^{f32};out F^{f32};out G^{i32};out H^{i8};\n"
      "L^{3}_{i=0}[D=D*A_{i};E=max(E,A_{i});F=min(A_{i},F);G=max(G,N_{i});H=min(H,N_{i});];",
      {{"A", floats(Dtype::f32, {3}, {-2, -3, -4})}, {"N", ints(Dtype::i32, {3}, {-5, -7, -6})}});
  EXPECT_EQ(r.refused, "");
  EXPECT_EQ(r.floats("D"), D{-24});
  EXPECT_EQ(r.floats("E"), D{-2});
  EXPECT_EQ(r.floats("F"), D{-4});
  EXPECT_EQ(r.ints("G"), I{-5});
  EXPECT_EQ(r.ints("H"), I{-7});
}

TEST(interp_meaning, chains_evaluate_as_written) {
  const auto r = run_text("in A^{f32}_{2};in C^{f32}_{2};out D^{f32};\nL^{2}_{i=0}[D=D+A_{i}-C_{i};];",
                          {{"A", floats(Dtype::f32, {2}, {1e8, 1})}, {"C", floats(Dtype::f32, {2}, {1, 2})}});
  // ((0+1e8)-1), then (that+1)-2, each rounded to f32, whose spacing here is 8.
  EXPECT_EQ(r.floats("D"), D{1e8}) << r.refused;
}

TEST(interp_meaning, reads_before_writes_and_bounds_are_located) {
  auto r = run_text("in A^{f32}_{4};out D^{f32}_{4};\nL^{4}_{i=0}[D_{i}=O^{f32,g}_{i}*A_{i};];\nL^{4}_{i=0}[O^{f32,g}_{i}=0;];",
                    {{"A", floats(Dtype::f32, {4}, {1, 2, 3, 4})}});
  EXPECT_EQ(r.refused, "2:O_{0} is read before any equation has written it");
  r = run_text("in A^{f32}_{4};out D^{f32}_{4};\nL^{4}_{i=0}[D_{i}=A_{i+1};];", {{"A", floats(Dtype::f32, {4}, {1, 2, 3, 4})}});
  EXPECT_EQ(r.refused, "2:a read of A is out of bounds: subscript 1 is 4, the extent 4");
  r = run_text("out D^{f32}_{4};\nL^{4}_{i=0}[D_{i-1}=0;];", {});
  EXPECT_EQ(r.refused, "2:the write of D is out of bounds: subscript 1 is -1, the extent 4");
  r = run_text("out D^{f32}_{4};\nL^{2}_{i=0}[D_{i*2}=0;];", {});
  EXPECT_EQ(r.refused, "1:D_{1} is never written; every element of an output must be");
  r = run_text("in N^{i64}_{2};out D^{i64}_{2};\nL^{2}_{i=0}[D_{i}=7//N_{i};];", {{"N", ints(Dtype::i64, {2}, {1, 0})}});
  EXPECT_EQ(r.refused, "2:integer division by zero");
  // `X_i=X_i+X_{i-1}` reads another element too: no self-update, so nothing starts it.
  r = run_text("out D^{f32}_{3};\nL^{3}_{i=0}[D_{i}=D_{i}+if_then_else(i>0,D_{i-1},0);];", {});
  EXPECT_EQ(r.refused, "2:D_{0} is read before any equation has written it");
}

TEST(interp_meaning, choices_and_logic_are_lazy) {
  const auto r = run_text(
      "in A^{f32}_{4};in N^{i64}_{4};out D^{f32}_{6};out E^{f32}_{4};out F^{bool}_{5};\n"
      "L^{6}_{i=0}[D_{i}=if_then_else(i<4,A_{i},-1);];\n"
      "L^{4}_{i=0}[E_{i}=if_then_else(N_{i}!=-100,A_{N_{i}},0);];\n"
      "L^{5}_{i=0}[F_{i}=i<4&A_{i}>2|!(i<4);];",
      {{"A", floats(Dtype::f32, {4}, {1, 2, 3, 4})}, {"N", ints(Dtype::i64, {4}, {3, -100, 0, -100})}});
  EXPECT_EQ(r.refused, "");
  EXPECT_EQ(r.floats("D"), (D{1, 2, 3, 4, -1, -1}));
  EXPECT_EQ(r.floats("E"), (D{4, 0, 1, 0}));
  EXPECT_EQ(r.ints("F"), (I{0, 0, 1, 1, 1}));
}

TEST(interp_meaning, tests_guard_once_on_entry) {
  const auto r = run_text(
      "in A^{f32}_{6};out D^{f32}_{6};io K^{f32};\n"
      "L^{6}_{i=0}[D_{i}=0;];\n"
      "L^{2}_{o=0}L^{4}_{i=0}T^{o*4+i<6}[D_{o*4+i}=A_{o*4+i};];\n"
      "T^{K<1}[K=5;L^{2}_{i=0}[K=K+1;];];",
      {{"A", floats(Dtype::f32, {6}, {1, 2, 3, 4, 5, 6})}, {"K", floats(Dtype::f32, {}, {0.5})}});
  EXPECT_EQ(r.refused, "");
  EXPECT_EQ(r.floats("D"), (D{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(r.floats("K"), D{7});
}

TEST(interp_meaning, io_has_a_value_before_and_after) {
  const auto r = run_text("io D^{f32}_{3};\nL^{3}_{i=0}[D_{i}=D_{i}*2;];L^{2}_{i=0}[D_{i}=D_{i+1}+1;];",
                          {{"D", floats(Dtype::f32, {3}, {1, 2, 3})}});
  EXPECT_EQ(r.floats("D"), (D{5, 7, 6})) << r.refused;
}

TEST(interp_meaning, argmax_takes_the_first_and_nan_wins) {
  const std::string text =
      "in A^{f32}_{4,4};out C^{i64}_{4};\n"
      "L^{4}_{b=0}L^{4}_{i=0}[M^{f32,l}_{b}=max(M^{f32,l}_{b},A_{b,i});];\n"
      "L^{4}_{b=0}L^{4}_{i=0}[C_{b}=min(C_{b},if_then_else(A_{b,i}==M^{f32,l}_{b}|isnan(A_{b,i}),i,4));];";
  const auto r = run_text(text, {{"A", floats(Dtype::f32, {4, 4}, {1, 3, 3, 2, -kInf, -kInf, -kInf, -kInf, 5, kNan, 9, kNan,
                                                                   kInf, 0, kInf, 1})}});
  EXPECT_EQ(r.ints("C"), (I{1, 0, 1, 0})) << r.refused;
}

TEST(interp_meaning, max_and_min_carry_nan_from_either_side) {
  const auto r = run_text("in A^{f32}_{3};in C^{f32}_{3};out D^{f32}_{3};out E^{f64}_{3};\nL^{3}_{i=0}[D_{i}=max(A_{i},C_{i});E_{i}=min(A_{i},C_{i});];",
                          {{"A", floats(Dtype::f32, {3}, {kNan, 1, 2})}, {"C", floats(Dtype::f32, {3}, {1, kNan, 3})}});
  EXPECT_TRUE(std::isnan(r.floats("D")[0]) && std::isnan(r.floats("D")[1]) && r.floats("D")[2] == 3);
  EXPECT_TRUE(std::isnan(r.floats("E")[0]) && std::isnan(r.floats("E")[1]) && r.floats("E")[2] == 2);
}

TEST(interp_meaning, inputs_are_checked) {
  const std::string text = "in A^{f32}_{2};out D^{f32}_{2};\nL^{2}_{i=0}[D_{i}=A_{i};];";
  EXPECT_EQ(run_text(text, {}).refused, "1:no value was given for in A");
  EXPECT_EQ(run_text(text, {{"A", floats(Dtype::f32, {3}, {1, 2, 3})}}).refused,
            "1:A needs a f32 of shape {2}, got a f32 of shape {3}");
  InterpOptions few;
  few.max_instances = 1;
  EXPECT_EQ(run_text(text, {{"A", floats(Dtype::f32, {2}, {1, 2})}}, few).refused, "2:more than 1 equations to execute");
}

}  // namespace
}  // namespace cairn
