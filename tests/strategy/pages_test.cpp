// Every page of a strategy is documentation and test in one: each case is parsed, verified, applied, compared,
// verified, reparsed, interpreted before and after, and its trace serialised and replayed.
// CAIRN_UPDATE=1 rewrites the `leir after` blocks.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "strategy/cases.h"
#include "strategy/compare.h"
#include "strategy/trace.h"
#include "verify/verify.h"

namespace cairn::test {
namespace {

bool updating() {
  const char* value = std::getenv("CAIRN_UPDATE");
  return value && std::string(value) == "1";
}

std::string stem_of(const std::string& path) {
  const std::string name = basename_of(path);
  return name.substr(0, name.rfind('.'));
}

void check_refusal(const Case& one, const std::string& place) {
  const Program before = read_program(one.before, place);
  const Result<Action> action = parse_action(one.action);
  const Result<Step> step = action ? apply_action(before, described_target(), *action) : Result<Step>(action.error());
  ASSERT_FALSE(step.ok()) << place << ": was not refused; gave\n" << print_program(step->after);
  const std::string text = render(step.error());
  EXPECT_NE(text.find(one.refusal), std::string::npos) << place << ": refused otherwise:\n" << text;
  if (one.condition != 0) {
    const std::string note = fmt::format("legality condition ({})", one.condition);
    EXPECT_NE(text.find(note), std::string::npos) << place << ": refused by another condition:\n" << text;
  }
}

// Runs an applied case; returns the text of the result.
std::string check_apply(const Case& one, const std::string& place) {
  const Target target = described_target();
  const Program before = read_program(one.before, place);
  const Result<Action> action = parse_action(one.action);
  EXPECT_TRUE(action.ok()) << place << ": " << (action ? "" : render(action.error()));
  if (!action) return one.after;
  EXPECT_EQ(print_action(*parse_action(print_action(*action))), print_action(*action));
  const Result<Step> step = apply_action(before, target, *action);
  EXPECT_TRUE(step.ok()) << place << ": " << (step ? "" : render(step.error()));
  if (!step) return one.after;
  const std::string text = print_program(step->after);
  const Program again = read_program(text, place + " (after)");
  const Digest hash = canonical_hash(step->after);
  EXPECT_EQ(canonical_hash(again), hash) << place << ": the printed result reads as another program:\n" << text;
  EXPECT_EQ(print_program(again), text) << place;
  EXPECT_EQ(compare_runs(before, step->after, step->exactness, 1, step->recorded), "") << place << "\n" << text;
  const Strategy& strategy = *find_strategy(action->strategy);
  EXPECT_LE(step->exactness, strategy.weakest) << place;

  const Trace trace{canonical_hash(before), {*action}};
  const Result<Trace> read = parse_trace(print_trace(trace));
  EXPECT_TRUE(read.ok()) << place << ": " << (read ? "" : render(read.error()));
  if (read) {
    EXPECT_EQ(read->from, trace.from);
    const Result<Replay> replay = replay_trace(before, target, read->actions);
    EXPECT_TRUE(replay.ok()) << place;
    if (replay) {
      EXPECT_EQ(canonical_hash(replay->programs.back()), hash) << place;
    }
  }
  EXPECT_TRUE(evidence_of(before, target, *action, *step).replayed) << place;
  if (step->inverse) {
    const Result<Step> back = apply_action(step->after, target, *step->inverse);
    EXPECT_TRUE(back.ok()) << place << ": inverse " << print_action(*step->inverse) << " refused: " << (back ? "" : render(back.error()));
    if (back) {
      EXPECT_EQ(canonical_hash(back->after), canonical_hash(before)) << place << ": inverse " << print_action(*step->inverse) << " gives\n"
                                                                     << print_program(back->after);
    }
  }
  if (!updating()) {
    const Program wanted = read_program(one.after, place + " (golden)");
    EXPECT_EQ(canonical_hash(wanted), hash) << place << ": gave\n" << text;
    EXPECT_EQ(one.after, text) << place;
  }
  return text;
}

class Page : public ::testing::TestWithParam<std::string> {};

TEST_P(Page, HoldsWhatItSays) {
  const std::string path = GetParam();
  const std::string name = stem_of(path);
  ASSERT_NE(find_strategy(name), nullptr) << name << " is not in strategies.def";
  std::string page = *read_file(path);
  std::vector<std::string> problems;
  const std::vector<Case> cases = read_cases(page, &problems);
  for (const std::string& problem : problems) ADD_FAILURE() << path << ": " << problem;

  int applies = 0, refusals = 0;
  std::vector<bool> covered(64, false);
  std::vector<std::pair<Block, std::string>> changes;
  for (const Case& one : cases) {
    const std::string place = fmt::format("{}.md:{}", name, one.line);
    if (one.refuses) {
      ++refusals;
      check_refusal(one, place);
      if (one.condition > 0 && one.condition < 64) covered[static_cast<std::size_t>(one.condition)] = true;
      continue;
    }
    ++applies;
    const std::string text = check_apply(one, place);
    if (updating() && text != one.after) changes.emplace_back(one.after_block, text);
  }
  EXPECT_GE(applies, 2) << name;
  EXPECT_GE(refusals, 2) << name;
  const int conditions = count_conditions(*read_file(path.substr(0, path.size() - 3) + ".cpp"));
  EXPECT_GE(conditions, 1) << name << ".cpp numbers no legality conditions";
  for (int c = 1; c <= conditions; ++c) {
    EXPECT_TRUE(covered[static_cast<std::size_t>(c)]) << name << ": no refusal case for condition (" << c << ")";
  }
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    page.replace(change->first.begin, change->first.end - change->first.begin, change->second);
  }
  if (!changes.empty()) {
    ASSERT_TRUE(write_file_atomic(path, page).ok());
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, Page, ::testing::ValuesIn(list_pages()),
                         [](const auto& page) { return stem_of(page.param); });

TEST(Pages, EveryStrategyHasOne) {
  std::vector<std::string> stems;
  for (const std::string& page : list_pages()) stems.push_back(stem_of(page));
  for (const Strategy* strategy : all_strategies()) {
    EXPECT_NE(std::find(stems.begin(), stems.end(), strategy->name), stems.end()) << strategy->name;
  }
}

}  // namespace
}  // namespace cairn::test
