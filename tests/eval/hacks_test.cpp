// tests/hacks: kernels that cheat or break are rejected for the reason they name; their correct twins pass.
// First line of a file: // task: NAME | reject: OUTCOME | reason: TEXT [| workspace: BYTES] [| timed]
#include <dirent.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "eval_tasks.h"

namespace cairn {
namespace {
using testing_eval::kernel_flags;

std::string hacks_directory() { return std::string(CAIRN_SOURCE_DIR) + "/tests/hacks"; }

std::vector<std::string> list_hacks() {
  std::vector<std::string> names;
  DIR* directory = ::opendir(hacks_directory().c_str());
  if (directory == nullptr) return names;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string name = entry->d_name;
    if (name.size() > 2 && name.compare(name.size() - 2, 2, ".c") == 0) names.push_back(name.substr(0, name.size() - 2));
  }
  ::closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
}

struct Hack {
  std::string code, task, outcome, reason;
  std::int64_t workspace = 0;
  bool timed = false;
};

Hack read_hack(const std::string& name) {
  Hack hack;
  hack.code = read_file(hacks_directory() + "/" + name + ".c").value();
  std::string line = hack.code.substr(3, hack.code.find('\n') - 3) + " | ";
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = line.find(" | ", at);
    const std::string field = line.substr(at, end - at);
    at = end + 3;
    const std::size_t colon = field.find(": ");
    const std::string key = field.substr(0, colon), value = colon == std::string::npos ? "" : field.substr(colon + 2);
    if (key == "task") hack.task = value;
    else if (key == "reject") hack.outcome = value;
    else if (key == "reason") hack.reason = value;
    else if (key == "workspace") hack.workspace = std::stoll(value);
    else if (key == "timed") hack.timed = true;
    else ADD_FAILURE() << name << ": unknown field " << field;
  }
  return hack;
}

// One compiler and one set of references a task for all hacks.
class Hacks : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    auto compiler = Compiler::create("", 60);
    ASSERT_TRUE(compiler.ok()) << render(compiler.error());
    compiler_ = std::move(*compiler).release();
  }
  static void TearDownTestSuite() {
    references_.clear();
    delete compiler_;
    compiler_ = nullptr;
  }
  static const References& references(const std::string& task) {
    auto& slot = references_[task];
    if (!slot) {
      ReferenceOptions options;
      options.threads = 2;
      auto made = References::create(testing_eval::read_task(task), *compiler_, make_inputs, options);
      if (!made.ok()) throw std::runtime_error(render(made.error()));
      slot = std::move(*made);
    }
    return *slot;
  }
  static EvalResult judge(const Hack& hack, bool twin) {
    const References& r = references(hack.task);
    const Judge judge(r, *compiler_, 7);
    CSource source;
    source.code = hack.code;
    source.entry = "kernel";
    source.workspace_bytes = hack.workspace;
    std::vector<std::string> flags = kernel_flags();
    if (twin) flags.push_back("-DTWIN");
    EvalResult result;
    const auto kernel = judge.build(source, flags, &result);
    if (!kernel) return result;
    EXPECT_TRUE(judge.check(*kernel, testing_eval::quick_options(), &result).ok());
    if (result.passed() && hack.timed) {
      EXPECT_TRUE(judge.time({&*kernel}, testing_eval::quick_options(), {&result}).ok());
    }
    return result;
  }
  static Compiler* compiler_;
  static std::map<std::string, std::unique_ptr<References>> references_;
};
Compiler* Hacks::compiler_ = nullptr;
std::map<std::string, std::unique_ptr<References>> Hacks::references_;

TEST_P(Hacks, IsRejectedAndItsTwinPasses) {
  const Hack hack = read_hack(GetParam());
  ASSERT_FALSE(hack.reason.empty());
  const EvalResult cheat = judge(hack, false);
  EXPECT_EQ(outcome_name(cheat.outcome), hack.outcome) << cheat.reason;
  EXPECT_NE(cheat.reason.find(hack.reason), std::string::npos) << cheat.reason;
  EXPECT_FALSE(cheat.executed.held);
  const EvalResult twin = judge(hack, true);
  EXPECT_TRUE(twin.passed()) << outcome_name(twin.outcome) << ": " << twin.reason;
  EXPECT_TRUE(twin.executed.held);
  if (hack.timed) {
    EXPECT_TRUE(twin.time.has_value());
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, Hacks, testing::ValuesIn(list_hacks()), [](const auto& p) { return p.param; });

INSTANTIATE_TEST_SUITE_P(Sample, Hacks,
                         testing::Values("stale_memory", "cached_by_state", "write_after_end", "input_mutation", "raw_file",
                                         "idle_later"),
                         [](const auto& p) { return p.param; });

TEST(HacksCorpus, IsThere) { EXPECT_GE(list_hacks().size(), 45u); }

}  // namespace
}  // namespace cairn
