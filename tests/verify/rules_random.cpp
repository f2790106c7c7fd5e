// Random programs: what verifies runs in the interpreter, and what the interpreter refuses does not verify.
#include <gtest/gtest.h>

#include <iostream>
#include <map>

#include "base/rng.h"
#include "ir/interp.h"
#include "ir/text.h"
#include "support/random_program.h"
#include "verify/verify.h"

namespace cairn {
namespace {

constexpr std::uint64_t kSeed = 77;

TEST(RulesRandom, VerdictsAgreeWithTheInterpreter) {
  Rng rng(kSeed);
  ValueMap inputs;
  inputs["A"] = Value::zeros(Dtype::f64, {8});
  inputs["C"] = Value::zeros(Dtype::f64, {5, 6});
  for (auto& [name, value] : inputs) {
    for (double& x : value.floats) x = static_cast<double>(rng.below(7)) - 3;
  }
  RandomProgramOptions options;
  options.fault = 0.05;
  std::map<int, int> by_rule;
  int verified = 0;
  for (int i = 0; i < 700; ++i) {
    const Program program = random_program(rng, options);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", program " + std::to_string(i) + ":\n" + print_program(program));
    const VerifyReport report = verify_program(program, Target{});
    const Result<ValueMap> run = interpret(program, inputs);
    bool values = false;   // bounds, outputs or reads
    for (const Finding& f : report.findings) {
      values |= f.rule == 7 || f.rule == 8 || f.rule == 9;
      ++by_rule[f.rule];
    }
    verified += report.ok() ? 1 : 0;
    if (!report.ok() && report.first_refusal()->rule < 7) continue;   // a temporary that nothing writes
    EXPECT_EQ(run.ok(), !values) << (run.ok() ? render(report.first_refusal()->error) : render(run.error()));
  }
  std::cout << verified << " verified";
  for (const auto& [rule, count] : by_rule) std::cout << ", rule " << rule << ": " << count;
  std::cout << "\n";
  EXPECT_GT(verified, 30);
}

}  // namespace
}  // namespace cairn
