// Traces that must exist: data/NAME.trace replays from data/NAME.leir with every step verified; small programs are
// interpreted after each step; the end is compared with data/NAME.end.leir. CAIRN_UPDATE=1 rewrites `% from` and the end.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "strategy/compare.h"
#include "strategy/trace.h"
#include "verify/verify.h"

namespace cairn::test {
namespace {

std::string data_path(const std::string& name) { return std::string(CAIRN_SOURCE_DIR) + "/tests/strategy/data/" + name; }

std::vector<std::string> list_traces() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(data_path(""))) {
    if (entry.path().extension() == ".trace") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool is_small(const Program& program) {
  std::int64_t elements = 0;
  for (const Tensor& tensor : program.tensors()) elements += tensor.shape ? element_count(*tensor.shape).value_or(1 << 30) : 0;
  return elements < 4096;
}

class TracePath : public ::testing::TestWithParam<std::string> {};

TEST_P(TracePath, ReplaysStepByStep) {
  const std::string name = GetParam();
  const Program start = read_program(*read_file(data_path(name + ".leir")), name + ".leir");
  Result<Trace> trace = parse_trace(*read_file(data_path(name + ".trace")), name + ".trace");
  ASSERT_TRUE(trace.ok()) << render(trace.error());
  const char* update = std::getenv("CAIRN_UPDATE");
  if (update && std::string(update) == "1") {
    trace->from = canonical_hash(start);
    ASSERT_TRUE(write_file_atomic(data_path(name + ".trace"), print_trace(*trace)).ok());
  }
  EXPECT_EQ(trace->from, canonical_hash(start)) << name;
  const Target target = described_target();
  Program now = start;
  Exactness cls = Exactness::exact;
  for (std::size_t k = 0; k < trace->actions.size(); ++k) {
    const Result<Step> step = apply_action(now, target, trace->actions[k]);
    ASSERT_TRUE(step.ok()) << name << " step " << k + 1 << ": " << print_action(trace->actions[k]) << "\n"
                           << render(step.error()) << "\n" << print_program(now);
    now = step->after;
    cls = std::max(cls, step->exactness);
    if (is_small(start)) {
      ASSERT_EQ(compare_runs(start, now, cls, 7), "") << name << " step " << k + 1 << "\n" << print_program(now);
    }
  }
  EXPECT_EQ(cls, Exactness::exact) << name;
  const std::string text = print_program(now);
  if (update && std::string(update) == "1") {
    ASSERT_TRUE(write_file_atomic(data_path(name + ".end.leir"), text).ok());
  }
  const Result<std::string> wanted = read_file(data_path(name + ".end.leir"));
  ASSERT_TRUE(wanted.ok());
  EXPECT_EQ(text, *wanted) << name;
}

INSTANTIATE_TEST_SUITE_P(Traces, TracePath, ::testing::ValuesIn(list_traces()), [](const auto& name) { return name.param; });

}  // namespace
}  // namespace cairn::test
