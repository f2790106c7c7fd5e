#include <gtest/gtest.h>

#include <cmath>

#include "ir/text.h"
#include "verify/budget.h"
#include "verify/conditions.h"
#include "verify/explain.h"
#include "verify/perturb.h"

namespace cairn {
namespace {

Program parse_ok(const std::string& text) {
  Result<Program> p = parse_program(text);
  EXPECT_TRUE(p.ok()) << (p ? std::string() : render(p.error()));
  return p ? *std::move(p) : Program();
}

// The condition marked at each element of D for these values of A, "" where none is.
std::vector<std::string> conditions_of(const std::string& body, std::vector<double> a, const char* dtype = "f64") {
  const std::string n = std::to_string(a.size());
  const Program p = parse_ok("in A^{" + std::string(dtype) + "}_{" + n + "};out D^{" + dtype + "}_{" + n + "};\n" + body);
  const Result<MarkedProgram> marked = mark_program(p);
  EXPECT_TRUE(marked.ok());
  ValueMap inputs;
  inputs["A"] = Value::zeros(*parse_dtype(dtype), {static_cast<std::int64_t>(a.size())});
  inputs["A"].floats = a;
  const Result<ValueMap> run = interpret(marked->program, inputs);
  EXPECT_TRUE(run.ok()) << render(run.error()) << print_program(marked->program);
  std::vector<std::string> texts;
  for (const double id : run->at(marked->marks.at("D")).floats) {
    const auto text = marked->conditions.find(static_cast<std::int64_t>(id));
    texts.push_back(text == marked->conditions.end() ? "" : text->second);
  }
  return texts;
}
using Texts = std::vector<std::string>;
constexpr double kInf = HUGE_VAL;

TEST(conditions, name_the_operation_that_leaves_real_arithmetic) {
  EXPECT_EQ(conditions_of("L^{3}_{i=0}[D_{i}=1/A_{i};];", {2, 0, -1}), (Texts{"", "s0: A_{i} != 0", ""}));
  EXPECT_EQ(conditions_of("L^{3}_{i=0}[D_{i}=log(A_{i});];", {2, 0, -1}), (Texts{"", "s0: A_{i} > 0", "s0: A_{i} > 0"}));
  EXPECT_EQ(conditions_of("L^{2}_{i=0}[D_{i}=sqrt(A_{i});];", {0, -1}), (Texts{"", "s0: A_{i} >= 0"}));
  EXPECT_EQ(conditions_of("L^{2}_{i=0}[D_{i}=1/exp(A_{i});];", {700, 710}), (Texts{"", "s0: exp(A_{i}) is finite (its argument at most 709)"}));
  EXPECT_EQ(conditions_of("L^{2}_{i=0}[D_{i}=exp(A_{i});];", {88, 89}, "f32"), (Texts{"", "s0: exp(A_{i}) is finite (its argument at most 88)"}));
  EXPECT_EQ(conditions_of("L^{2}_{i=0}[D_{i}=A_{i}*A_{i};];", {1e150, 1e160}), (Texts{"", "s0: A_{i}*A_{i} is finite"}));
  EXPECT_EQ(conditions_of("L^{3}_{i=0}[D_{i}=A_{i}*A_{i};];", {1e-150, 1e-160, 0}), (Texts{"", "s0: A_{i}*A_{i} does not underflow", ""}));
  EXPECT_EQ(conditions_of("L^{3}_{i=0}[D_{i}=A_{i}+1;];", {1, kInf, 1e-310}), (Texts{"", "s0: A_{i} is finite", "s0: A_{i} is no denormal"}));
}

TEST(conditions, turned_comparisons_are_asked_for) {
  const Program p = parse_ok("in A^{f32}_{1};out D^{f32}_{1};L^{1}_{i=0}[D_{i}=if_then_else(A_{i}/(A_{i}+A_{i})>0.5,1,2);];");
  const ValueMap inputs{{"A", [] { Value v = Value::zeros(Dtype::f32, {1}); return v.floats[0] = 3, v; }()}};
  int kept = 0, turned = 0;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    kept += interpret(perturb_operations(p, seed), inputs)->at("D").floats[0] == 2;
    turned += interpret(perturb_operations(p, seed, true), inputs)->at("D").floats[0] == 1;
  }
  EXPECT_EQ(kept, 16);
  EXPECT_GE(turned, 2);
  EXPECT_LE(turned, 14);
}

TEST(conditions, follow_tests_on_data) {
  // D keeps its 7 where the test fails because its operand has no value; tests of indices guard the marks too.
  EXPECT_EQ(conditions_of("L^{3}_{i=0}[D_{i}=7;T^{1/A_{i}>0}[D_{i}=3;];];", {2, 0, -1}), (Texts{"", "s1: A_{i} != 0", ""}));
  EXPECT_EQ(conditions_of("L^{3}_{i=0}[E^{f64,g}_{i}=A_{i}/A_{i};D_{i}=7;];L^{4}_{i=0}T^{i<3&E^{f64,g}_{if_then_else(i<3,i,0)}>0}L^{1}_{j=0}[D_{i+j}=D_{i+j}+3;];", {2, 0, -1}),
            (Texts{"", "s0: A_{i} != 0", ""}));
  EXPECT_EQ(conditions_of("L^{3}_{i=0}[D_{i}=7;T^{i>0}[D_{i}=3;];];", {2, 0, -1}), (Texts{"", "", ""}));
}

TEST(conditions, begin_with_the_inputs_of_an_io_tensor) {
  const Program p = parse_ok("io A^{f64}_{2,2};L^{2}_{i=0}L^{2}_{j=0}[A_{i,j}=A_{i,j}+1;];L^{2}_{j=0}[A_{1,j}=2;];");
  const Result<MarkedProgram> marked = mark_program(p);
  ASSERT_TRUE(marked.ok());
  ValueMap inputs;
  inputs["A"] = Value::zeros(Dtype::f64, {2, 2});
  inputs["A"].floats = {1, kInf, 2, kInf};
  const Result<ValueMap> run = interpret(marked->program, inputs);
  ASSERT_TRUE(run.ok()) << render(run.error()) << print_program(marked->program);
  const std::vector<double>& found = run->at(marked->marks.at("A")).floats;
  EXPECT_EQ(found[0], 0);
  EXPECT_GT(found[1], 0);
  EXPECT_EQ(found[2], 0);
  EXPECT_EQ(found[3], 0);
}

TEST(conditions, follow_values_through_temporaries_reductions_and_choices) {
  // The element that is not taken may be what it likes; a mask of -inf is meant.
  EXPECT_EQ(conditions_of("L^{2}_{i=0}[D_{i}=if_then_else(A_{i}!=0,1/A_{i},0);];", {2, 0}), (Texts{"", ""}));
  EXPECT_EQ(conditions_of("L^{2}_{i=0}[D_{i}=exp(if_then_else(i<1,A_{i},-inf));];", {2, 0}), (Texts{"", ""}));
  EXPECT_EQ(conditions_of("L^{2}_{i=0}[E^{f64,g}_{i}=1/A_{i};];L^{2}_{i=0}[D_{i}=max(E^{f64,g}_{i},0);];", {2, 0}), (Texts{"", "s0: A_{i} != 0"}));
  EXPECT_EQ(conditions_of("L^{2}_{i=0}L^{2}_{j=0}[E^{f64,g}_{i}=E^{f64,g}_{i}+1/(A_{j}-i);];L^{2}_{i=0}[D_{i}=E^{f64,g}_{i};];", {2, 1}),
            (Texts{"", "s0: A_{j}-i != 0"}));
  EXPECT_EQ(conditions_of("L^{2}_{i=0}L^{2}_{j=0}[D_{i}=D_{i}+A_{j};];", {1e308, 1e308}), (Texts{"s0: the sum into D_{i} is finite", "s0: the sum into D_{i} is finite"}));
  EXPECT_EQ(conditions_of("L^{1}_{a=0}[E^{f64,g}_{a}=0;];L^{2}_{i=0}[E^{f64,g}_{0}=E^{f64,g}_{0}*2+1/A_{i};D_{i}=E^{f64,g}_{0};];", {2, 0}),
            (Texts{"", "s1: A_{i} != 0"}));
  // The division says more than the NaN that follows from it.
  EXPECT_EQ(conditions_of("L^{2}_{i=0}[D_{i}=(1/A_{i})*A_{i};];", {2, 0}), (Texts{"", "s0: A_{i} != 0"}));
}

TEST(conditions, partial_operations_forget_names_and_places) {
  const auto of = [](const char* rhs) { return partial_operations(parse_ok("in A^{f64}_{4};in C^{f64}_{4};out D^{f64}_{4};\nL^{4}_{i=0}[D_{i}=" + std::string(rhs) + ";];")); };
  EXPECT_EQ(of("exp(A_{i})"), of("exp(C_{3-i})"));
  EXPECT_EQ(of("A_{i}/2"), Texts{});
  EXPECT_NE(of("exp(A_{i})"), of("exp(A_{i}-C_{i})*exp(C_{i})"));
}

TEST(perturb, finds_the_digits_that_an_expression_loses) {
  const auto error_of = [](const char* rhs) {
    const Program p = parse_ok("in A^{f64}_{3};out D^{f64}_{3};\nL^{3}_{i=0}[D_{i}=" + std::string(rhs) + ";];");
    ValueMap inputs;
    inputs["A"] = Value::zeros(Dtype::f64, {3});
    inputs["A"].floats = {1, 3, 5};
    const auto errors = rounding_errors(p, inputs, 1);
    EXPECT_TRUE(errors.ok());
    return errors->at("D")[0];
  };
  EXPECT_LT(error_of("A_{i}*3"), 1e-14);
  EXPECT_GT(error_of("A_{i}+1e9-1e9"), 1e-8);
  EXPECT_LT(error_of("A_{i}+1e9-1e9"), 1e-5);
}

TEST(perturb, keeps_starts_and_integers) {
  const Program p = parse_ok("in A^{f32}_{3};out D^{f32};out N^{i64};\nL^{3}_{i=0}[D=D+A_{i}*2;];\nL^{3}_{i=0}[N=N+i*2;];");
  ValueMap inputs;
  inputs["A"] = Value::zeros(Dtype::f32, {3});
  inputs["A"].floats = {1, 3, 5};
  const Result<ValueMap> run = interpret(perturb_operations(p, 7), inputs);
  ASSERT_TRUE(run.ok()) << render(run.error());
  EXPECT_NEAR(run->at("D").floats[0], 18, 1e-5);
  EXPECT_EQ(run->at("N").ints[0], 6);
}

TEST(explain, precision_and_changed_sums) {
  const auto p = [](const char* rest) { return parse_ok("in A^{f32}_{4};out D^{f32}_{4};\n" + std::string(rest)); };
  const Program plain = p("L^{4}_{i=0}[D_{i}=A_{i};];");
  const Program half = p("L^{4}_{i=0}[E^{f16,g}_{i}=A_{i};];L^{4}_{i=0}[D_{i}=E_{i};];");
  EXPECT_FALSE(keeps_precision(plain, half));
  EXPECT_TRUE(keeps_precision(half, plain));
  EXPECT_FALSE(keeps_precision(plain, p("L^{4}_{i=0}[D_{i}=f16(A_{i});];")));
  EXPECT_EQ(changed_sum(plain, p("L^{4}_{i=0}[E^{f32,g}_{i}=A_{i}*2;];L^{4}_{i=0}[D_{i}=E_{i}-A_{i};];")), "s1");
  EXPECT_EQ(changed_sum(plain, plain), "");
}

}  // namespace
}  // namespace cairn
