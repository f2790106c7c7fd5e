// Random programs: the interpreter against compiled C, bit for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include <fmt/core.h>

#include "analysis/promise.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "lower/run_c.h"
#include "support/random_program.h"

namespace cairn::test {
namespace {

// Do all P and V loops and l tensors keep what they promise?
bool promises_hold(const Program& program, const Target& target) {
  bool good = true;
  visit_stmts(program.body(), [&](const Stmt& s, const StmtContext& context) {
    if (!good || !s.is_loop() || (s.kind != LoopKind::P && s.kind != LoopKind::V)) return;
    good = check_promise(program, context.path, s.kind, target).ok;
  });
  for (const Tensor& t : program.tensors()) {
    if (good && t.scope != Scope::g) good = check_storage(program, t.name, t.scope, target).ok();
  }
  return good;
}

// Small whole numbers, so that sums in any order are the same bits.
ValueMap whole_inputs(const Program& program, Rng rng) {
  ValueMap inputs;
  for (const Tensor& t : program.tensors()) {
    if (t.role != Role::in) continue;
    Value v = Value::zeros(t.dtype, *t.shape);
    for (double& x : v.floats) x = static_cast<double>(rng.below(9)) - 4;
    inputs[t.name] = std::move(v);
  }
  return inputs;
}

TEST(LowerRandom, agrees_with_the_interpreter) {
  const char* more = std::getenv("CAIRN_RANDOM");
  const char* from = std::getenv("CAIRN_SEED");
  const std::size_t wanted = more != nullptr ? std::strtoul(more, nullptr, 10) : 60;
  const std::uint64_t first = from != nullptr ? std::strtoull(from, nullptr, 10) : 7000;
  const Target target = described_target();
  std::vector<Case> cases;
  std::vector<ValueMap> expected;
  for (std::uint64_t seed = first; cases.size() < wanted && seed < first + 100 * wanted; ++seed) {
    Rng rng(seed);
    RandomProgramOptions options;
    options.fault = 0;
    options.max_extent = 8;
    const Program made = random_program(rng, options);
    const auto program = parse_program(print_program(made));
    ASSERT_TRUE(program.ok()) << render(program.error());
    Case c{fmt::format("seed {}", seed), *program, whole_inputs(*program, rng.split("inputs")), {}};
    const auto value = interpret(c.program, c.inputs);
    if (!value.ok() || !promises_hold(c.program, target)) continue;
    CLowerOptions lower;
    lower.entry = fmt::format("kernel_{}", cases.size());
    const auto source = lower_c(c.program, target, lower);
    ASSERT_TRUE(source.ok()) << c.name << ": " << render(source.error()) << "\n" << print_program(c.program);
    c.source = *source;
    cases.push_back(std::move(c));
    expected.push_back(*value);
  }
  ASSERT_GE(cases.size(), wanted / 2);
  std::vector<std::string> flags = c_flags(target, true);
  flags[0] = "-O1";
  flags.push_back("-fsanitize=address,undefined");
  flags.push_back("-fno-sanitize-recover=undefined");
  const auto outcomes = run_cases(cases, flags);
  ASSERT_TRUE(outcomes.ok()) << outcomes.error().message;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    ASSERT_EQ((*outcomes)[i].status, 0);
    for (const auto& [name, value] : expected[i]) {
      const Value& got = (*outcomes)[i].outputs.at(name);
      for (std::size_t k = 0; k < value.floats.size(); ++k) {
        const double a = value.floats[k], b = got.floats[k];
        ASSERT_TRUE(a == b || (std::isnan(a) && std::isnan(b)))
            << cases[i].name << ": " << name << "[" << k << "] interpreted " << a << ", compiled " << b << "\n"
            << print_program(cases[i].program) << "\n" << cases[i].source.code;
      }
    }
  }
}

}  // namespace
}  // namespace cairn::test
