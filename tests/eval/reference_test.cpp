// The compiled references agree with the interpreter: f64 to rounding, randomised runs within their dtype.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "eval/reference.h"
#include "eval/reference_c.h"
#include "eval/inputs.h"
#include "eval_tasks.h"

namespace cairn {
namespace {
using testing_eval::parse_text;

class ReferenceC : public testing::Test {
 protected:
  static void SetUpTestSuite() { compiler_ = Compiler::create("", 60).value().release(); }
  static void TearDownTestSuite() { delete compiler_; }

  static void compare(const std::string& name, const std::string& text) {
    EvalTask task;
    task.name = name;
    task.naive = parse_text(text);
    ReferenceOptions options;
    options.families = {Family::normal, Family::outliers, Family::nonfinite, Family::small_integers};
    options.threads = 2;
    auto made = References::create(task, *compiler_, make_inputs, options);
    ASSERT_TRUE(made.ok()) << name << ": " << render(made.error());
    for (std::size_t s = 0; s < options.families.size(); ++s) {
      const CheckSet& set = (*made)->sets()[s];
      const ValueMap inputs = make_inputs(task.naive, options.families[s], task.seed);
      InterpOptions exact;
      exact.in_f64 = true;
      const auto expected = interpret(task.naive, inputs, exact);
      const auto plain = interpret(task.naive, inputs);
      ASSERT_TRUE(expected.ok() && plain.ok()) << name;
      for (const OutputReference& r : set.outputs) compare_output(name + " " + set.name, r, expected->at(r.name), plain->at(r.name));
    }
  }

  static void compare_output(const std::string& name, const OutputReference& r, const Value& exact, const Value& plain) {
    ASSERT_EQ(r.size(), exact.size()) << name;
    const std::string bytes = encode_value(plain);
    ErrorReport report;
    EXPECT_EQ(compare_candidate(r, reinterpret_cast<const unsigned char*>(bytes.data()), true, &report), "") << name;
    for (std::size_t i = 0; i < r.ints.size(); ++i) EXPECT_EQ(r.ints[i], exact.ints[i]) << name << " " << i;
    for (std::size_t i = 0; i < r.floats.size(); ++i) {
      const double a = r.floats[i], b = exact.floats[i];
      if (std::isnan(a) && std::isnan(b)) continue;
      EXPECT_TRUE(a == b || std::fabs(a - b) <= 1e-12 * std::fabs(b)) << name << " " << i << ": " << a << " and " << b;
      if (std::isfinite(b) && std::isfinite(plain.floats[i]) && r.skip[i] == 0) {
        EXPECT_LE(std::fabs(plain.floats[i] - b), 4 * static_cast<double>(r.own[i]) + 1e-5 * std::fabs(b) + 1e-44) << name << " " << i;
      }
    }
  }
  static Compiler* compiler_;
};
Compiler* ReferenceC::compiler_ = nullptr;

TEST_F(ReferenceC, AgreesOnTasks) {
  for (const char* task : {"matmul", "softmax", "loss", "update", "stride"}) {
    compare(task, read_file(std::string(CAIRN_SOURCE_DIR) + "/tests/hacks/tasks/" + task + ".leir").value());
  }
}

TEST_F(ReferenceC, AgreesOnIntegersConversionsAndStarts) {
  compare("conversions", R"(in A^{f32}_{6,40};
in K^{i32}_{40};
in M^{bool}_{40};
out C^{f16}_{6,40};
out D^{bf16}_{6};
out E^{i32}_{6};
out F^{bool}_{40};
out H^{i8}_{40};
out N^{f32}_{40};
L^{6}_{i=0}L^{40}_{j=0}[C^{f16,g}_{i,j}=A^{f32,g}_{i,j}/3+tanh(A^{f32,g}_{i,j})*0.1;];
L^{6}_{i=0}L^{40}_{j=0}[D^{bf16,g}_{i}=max(D^{bf16,g}_{i},A^{f32,g}_{i,j}*A^{f32,g}_{i,j});];
L^{6}_{i=0}L^{40}_{j=0}[E^{i32,g}_{i}=E^{i32,g}_{i}+(K^{i32,g}_{j}*7-3)//4%11+i;];
L^{40}_{j=0}[F^{bool,g}_{j}=A^{f32,g}_{2,j}>0&M^{bool,g}_{j};];
L^{40}_{j=0}[H^{i8,g}_{j}=i8(A^{f32,g}_{1,j}*100)-K^{i32,g}_{j};];
L^{40}_{j=0}[N^{f32,g}_{j}=if_then_else(j<3,0.5,sqrt(abs(A^{f32,g}_{3,j}))+floor(A^{f32,g}_{0,j})+A^{f32,g}_{4,j}**2);];
)");
  compare("two starts", R"(in A^{f32}_{30};
out C^{f32}_{2};
L^{30}_{i=0}[C^{f32,g}_{0}=max(C^{f32,g}_{0},A^{f32,g}_{i});C^{f32,g}_{1}=C^{f32,g}_{1}+A^{f32,g}_{i};];
)");
  compare("guards and products", R"(in A^{f32}_{20,33};
out C^{f32}_{33};
out D^{f32}_{20};
L^{20}_{i=0}L^{33}_{j=0}T^{i+j>9}[C^{f32,g}_{j}=C^{f32,g}_{j}+A^{f32,g}_{i,j};];
L^{33}_{j=0}L^{20}_{i=0}[D^{f32,g}_{i}=D^{f32,g}_{i}*(1+A^{f32,g}_{i,j}*0.01);];
)");
}

TEST_F(ReferenceC, NearestRunIsAmongTheNaiveOnes) {
  // Equal terms round the same way each time: random rounding alone would call this error impossible.
  EvalTask task;
  task.naive = parse_text("in A^{f32}_{2,4000};\nout C^{f32}_{2};\n"
                          "L^{2}_{i=0}L^{4000}_{j=0}[C^{f32,g}_{i}=C^{f32,g}_{i}+A^{f32,g}_{0,0};];\n");
  ReferenceOptions options;
  options.families = {Family::normal};
  auto made = References::create(task, *compiler_, make_inputs, options);
  ASSERT_TRUE(made.ok()) << render(made.error());
  const OutputReference& r = (*made)->sets()[0].outputs[0];
  const auto value = static_cast<float>(make_inputs(task.naive, Family::normal, task.seed).at("A").floats[0]);
  volatile float sum = 0;
  for (int i = 0; i < 4000; ++i) sum = sum + value;
  EXPECT_LE(std::fabs(static_cast<double>(sum) - r.floats[0]), 2 * static_cast<double>(r.own[0]));
}

TEST_F(ReferenceC, WhatKernelsAreJudgedByDependsOnCountedOperationsOnly) {
  EvalTask task;
  task.name = "layer_norm";
  task.naive = parse_text("in A^{f32}_{384,512};param C^{f32}_{512};param D^{f32}_{512};out I^{f32}_{384,512};\n"
                          "L^{384}_{i=0}L^{512}_{j=0}[E^{f32,g}_{i}=E^{f32,g}_{i}+A^{f32,g}_{i,j};];\n"
                          "L^{384}_{i=0}[F^{f32,g}_{i}=E^{f32,g}_{i}/512;];\n"
                          "L^{384}_{i=0}L^{512}_{j=0}[G^{f32,g}_{i}=G^{f32,g}_{i}+(A^{f32,g}_{i,j}-F^{f32,g}_{i})**2;];\n"
                          "L^{384}_{i=0}[H^{f32,g}_{i}=rsqrt(G^{f32,g}_{i}/512+1e-05);];\n"
                          "L^{384}_{i=0}L^{512}_{j=0}[I^{f32,g}_{i,j}=(A^{f32,g}_{i,j}-F^{f32,g}_{i})*H^{f32,g}_{i}*C^{f32,g}_{j}+D^{f32,g}_{j};];\n");
  task.seed = 1;
  const double operations = lower_reference(task.naive)->operations;
  const double elements = 384.0 * 512;
  EXPECT_GT(operations, 8 * elements);
  EXPECT_LT(operations, 32 * elements);
  // However little may be run, three families are, each by all naive runs: fewer know less of how far sums may be off.
  ReferenceOptions options;
  options.operations = 1;
  const auto made = References::create(task, *compiler_, make_inputs, options);
  ASSERT_TRUE(made.ok()) << render(made.error());
  EXPECT_EQ((*made)->families(), "normal one_hot nonfinite");
  const auto source = lower_c(task.naive, described_target());
  ASSERT_TRUE(source.ok());
  const Judge judge(**made, *compiler_, 7);
  EvalResult result;
  const auto kernel = judge.build(*source, testing_eval::kernel_flags(), &result);
  ASSERT_TRUE(kernel.has_value()) << result.reason;
  ASSERT_TRUE(judge.check(*kernel, testing_eval::quick_options(), &result).ok());
  EXPECT_TRUE(result.passed()) << result.reason;
  options.operations = 5.5 * operations;
  const auto more = References::create(task, *compiler_, make_inputs, options);
  ASSERT_TRUE(more.ok());
  EXPECT_EQ((*more)->families(), "normal one_hot nonfinite outliers small_integers");
}

TEST_F(ReferenceC, GammaIsDecidedForEachOutput) {
  EvalTask task;
  task.naive = parse_text(read_file(std::string(CAIRN_SOURCE_DIR) + "/tests/leir/ok/many_to_one.leir").value());
  const auto made = References::create(task, *compiler_, make_inputs, {});
  ASSERT_TRUE(made.ok()) << render(made.error());
  for (const OutputReference& r : (*made)->sets()[0].outputs) {
    EXPECT_EQ(r.gamma.size(), r.name == "G" ? 0u : r.floats.size()) << r.name;   // G is a maximum
  }
}

TEST_F(ReferenceC, ABrokenTaskIsRefusedAndNamed) {
  EvalTask task;
  task.naive = parse_text("in K^{i32}_{4};\nout C^{i32}_{4};\nL^{4}_{i=0}[C^{i32,g}_{i}=7//(K^{i32,g}_{i}-K^{i32,g}_{i});];\n");
  const auto made = References::create(task, *compiler_, make_inputs, {});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Code::run);
  EXPECT_NE(made.error().message.find("reference fails"), std::string::npos) << made.error().message;
}

}  // namespace
}  // namespace cairn
