// The interpreter against compiled C, bit for bit with contraction off, at -O0, -O3 and under sanitizers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include <fmt/core.h>

#include "base/file.h"
#include "ir/text.h"
#include "lower/files.h"
#include "lower/run_c.h"
#include "support/leir_files.h"

namespace cairn::test {
namespace {

bool reassociates(const std::string& code) {
  for (const char* sign : {"chunk", "cairn_sum_v", "cairn_prod_v"}) {
    if (code.find(sign) != std::string::npos) return true;
  }
  return false;
}

void expect_same(const Value& expected, const Value& got, bool exact) {
  ASSERT_EQ(expected.size(), got.size());
  int shown = 0;
  double scale = 0;
  for (const double x : expected.floats) scale = std::isfinite(x) ? std::max(scale, std::fabs(x)) : scale;
  for (std::size_t i = 0; i < expected.floats.size() && shown < 3; ++i) {
    const double a = expected.floats[i], b = got.floats[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!exact && std::fabs(a - b) <= 1e-4 * scale) continue;
    ADD_FAILURE() << fmt::format("element {}: interpreted {:.9g}, compiled {:.9g}", i, a, b);
    ++shown;
  }
  for (std::size_t i = 0; i < expected.ints.size() && shown < 3; ++i) {
    if (expected.ints[i] == got.ints[i]) continue;
    ADD_FAILURE() << fmt::format("element {}: interpreted {}, compiled {}", i, expected.ints[i], got.ints[i]);
    ++shown;
  }
}

struct Expected {
  bool fails = false;    // the interpreter refuses (index out of bounds, division by zero)
  ValueMap outputs;
};

class Batch {
 public:
  void add(const std::string& name, const std::string& text, std::uint64_t seed, const Target& target) {
    const auto program = parse_program(text, {.file = name, .limits = {}, .known = {}, .const_digests = {}});
    ASSERT_TRUE(program.ok()) << name << ": " << render(program.error());
    Case c{name, *program, random_inputs(*program, seed), {}};
    InterpOptions options;
    options.max_instances = 100'000;
    const auto value = interpret(c.program, c.inputs, options);
    if (!value.ok() && value.error().code == Code::timeout) return;
    ASSERT_TRUE(value.ok() || value.error().code == Code::run) << name << ": " << render(value.error());
    CLowerOptions lower;
    lower.entry = fmt::format("kernel_{}", cases.size());
    const auto source = lower_c(c.program, target, lower);
    ASSERT_TRUE(source.ok()) << name << ": " << render(source.error());
    c.source = *source;
    cases.push_back(std::move(c));
    expected.push_back({!value.ok(), value.ok() ? *value : ValueMap{}});
  }
  void check(const std::vector<std::string>& flags) const {
    const auto outcomes = run_cases(cases, flags);
    ASSERT_TRUE(outcomes.ok()) << outcomes.error().message;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      SCOPED_TRACE(cases[i].name);
      const Outcome& got = (*outcomes)[i];
      EXPECT_EQ(got.status != 0, expected[i].fails) << "status " << got.status;
      if (got.status != 0 || expected[i].fails) continue;
      for (const auto& [name, value] : expected[i].outputs) {
        SCOPED_TRACE(name);
        expect_same(value, got.outputs.at(name), !reassociates(cases[i].source.code));
      }
      if (HasFailure() && std::getenv("CAIRN_SHOW") != nullptr) fmt::print("{}\n", cases[i].source.code);
    }
  }
  std::vector<Case> cases;
  std::vector<Expected> expected;

 private:
  static bool HasFailure() { return testing::Test::HasFailure(); }
};

std::vector<std::string> exact_flags(const Target& target, const std::string& level) {
  std::vector<std::string> flags = c_flags(target, true);
  flags[0] = level;
  return flags;
}

// With the shared test programs too, or only those of this folder.
Batch load_all(bool shared) {
  Batch batch;
  Target narrow = described_target();
  narrow.vector_bytes = {16, 32};
  narrow.cores = 3;
  std::uint64_t seed = 1;
  const std::string directory = std::string(CAIRN_SOURCE_DIR) + "/tests/lower/run";
  for (const std::string& name : leir_files(directory)) {
    const auto text = read_file(directory + "/" + name + ".leir");
    batch.add(name, *text, seed++, described_target());
    // Half of them on a narrower machine too; the functions take long to compile.
    if (seed % 2 == 0 && name.find("functions") == std::string::npos) batch.add(name + " narrow", *text, seed, narrow);
  }
  if (!shared) return batch;
  for (const LeirFile& file : load_leir_files("ok")) batch.add(file.name, file.text, seed++, described_target());
  return batch;
}

TEST(LowerDifferential, optimised) {
  const Batch batch = load_all(true);
  ASSERT_GE(batch.cases.size(), 20u);
  batch.check(exact_flags(described_target(), "-O3"));
}

TEST(LowerDifferential, sanitized) {
  const Batch batch = load_all(false);
  std::vector<std::string> flags = exact_flags(described_target(), "-O0");
  for (const char* f : {"-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"}) flags.push_back(f);
  batch.check(flags);
}

}  // namespace
}  // namespace cairn::test
