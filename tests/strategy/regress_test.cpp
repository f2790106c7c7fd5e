// Replays tests/regress: pairs that a judge must refuse or accept, and programs on which an action was wrong once.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "ir/text.h"
#include "strategy/compare.h"
#include "strategy/keep_failure.h"
#include "strategy/strategy.h"
#include "verify/shrink.h"

namespace cairn::test {
namespace {

Program parse_side(const std::string& text, const std::string& path) {
  ParseOptions options;
  options.file = path;
  options.reading = Reading::leir;
  const Result<Program> p = parse_program(text, options);
  EXPECT_TRUE(p.ok()) << path << ": " << (p ? "" : render(p.error()));
  return p ? *p : Program();
}

void replay(const std::string& path) {
  const Result<std::string> text = read_file(path);
  ASSERT_TRUE(text.ok());
  const Result<RegressPair> pair = parse_regress_pair(*text);
  ASSERT_TRUE(pair.ok()) << path << ": " << render(pair.error());
  EXPECT_FALSE(pair->remarks.empty()) << path << ": a remark says what it shows";
  const Target target = described_target();
  const Program before = parse_side(pair->before, path);
  CertifyOptions options;
  options.target = target;
  options.seed = pair->seed;
  if (!pair->action.empty()) {
    const Result<Action> action = parse_action(pair->action);
    ASSERT_TRUE(action.ok()) << path << ": " << render(action.error());
    const Result<Step> step = apply_action(before, target, *action);
    EXPECT_TRUE(pair->holds || !step.ok()) << path << ": the action applies";
    if (!step) return;   // refusing is always right where holding is asked
    const ActionEvidence evidence = evidence_of(before, target, *action, *step);
    const CertificateSet set = certify(before, step->after, step->exactness, &evidence, options);
    EXPECT_TRUE(set.ok()) << path << "\n" << serialize(set) << "\n" << print_program(step->after);
    EXPECT_EQ(compare_runs(before, step->after, step->exactness, pair->seed, step->recorded), "") << path;
    return;
  }
  const Program after = parse_side(pair->after, path);
  const CertificateSet set = certify(before, after, pair->claim, nullptr, options);
  EXPECT_EQ(set.ok(), pair->holds) << path << "\n" << serialize(set);
  if (pair->inputs.empty()) return;
  const Result<ValueMap> inputs = regress_inputs(*pair, before);
  ASSERT_TRUE(inputs.ok()) << path << ": " << render(inputs.error());
  EXPECT_EQ(failure_on(before, after, *inputs, pair->claim, target).has_value(), !pair->holds) << path;
}

TEST(Regress, EveryKeptFailureIsAnsweredAsItSays) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(CAIRN_SOURCE_DIR) + "/tests/regress")) {
    if (entry.path().extension() == ".leir-pair") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  EXPECT_GE(files.size(), 8u);
  for (const std::string& file : files) replay(file);
}

}  // namespace
}  // namespace cairn::test
