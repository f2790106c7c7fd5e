// The CPU path (tiled, packed, guarded matrix products) verifies by box regions alone, in no time.
#include <gtest/gtest.h>

#include <chrono>

#include "analysis/flow.h"
#include "base/file.h"
#include "ir/text.h"
#include "verify/verify.h"

namespace cairn {
namespace {

class RulesPath : public testing::TestWithParam<const char*> {
 protected:
  Program load() const {
    const auto source = read_file(std::string(CAIRN_SOURCE_DIR) + "/tests/verify/data/" + GetParam());
    EXPECT_TRUE(source.ok());
    ParseOptions options;
    options.file = GetParam();
    Result<Program> program = parse_program(*source, options);
    EXPECT_TRUE(program.ok()) << (program.ok() ? "" : render(program.error()));
    return program.ok() ? *std::move(program) : Program();
  }
};

TEST_P(RulesPath, Verifies) {
  const Program program = load();
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto before = std::chrono::steady_clock::now();
    const Result<void> verdict = check_program(program, Target{});
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
    ASSERT_TRUE(verdict.ok()) << render(verdict.error());
  }
  EXPECT_LT(best, 0.05) << "seconds";   // well below a millisecond on an idle machine
}

TEST_P(RulesPath, BoxesDecideEveryQuestion) {
  const Program program = load();
  FlowAnalysis flow(program, FlowMode::boxes_only);
  for (const Access& a : flow.accesses()) {
    for (std::size_t d = 0; d < a.subscripts.size(); ++d) EXPECT_EQ(flow.bounds(a, d).holds, Answer::yes) << a.tensor;
    if (!a.is_write && !a.is_self) {
      EXPECT_EQ(flow.written_before(a).holds, Answer::yes) << a.tensor << " in s" << a.equation;
    }
    if (a.is_self) {
      EXPECT_EQ(flow.start(a.equation).written, Written::always) << a.tensor;
    }
    const Tensor* t = program.find(a.tensor);
    if (!a.is_write && t->scope != Scope::g) {
      EXPECT_EQ(flow.stays_inside(a).holds, Answer::yes) << a.tensor << " in s" << a.equation;
    }
  }
  EXPECT_EQ(flow.covered("D").holds, Answer::yes);
}

INSTANTIATE_TEST_SUITE_P(Programs, RulesPath, testing::Values("path_1024.leir", "path_tail.leir"),
                         [](const auto& row) { return std::string(row.param).substr(0, std::string(row.param).find('.')); });

}  // namespace
}  // namespace cairn
