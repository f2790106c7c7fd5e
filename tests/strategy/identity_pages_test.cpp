// Every step of every page earns the identity certificate in the class that the step claims.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "ir/text.h"
#include "strategy/cases.h"
#include "strategy/compare.h"
#include "strategy/trace.h"
#include "verify/identity.h"

namespace cairn::test {
namespace {

std::string stem_of(const std::string& path) {
  const std::string name = basename_of(path);
  return name.substr(0, name.rfind('.'));
}

class IdentityOfPage : public ::testing::TestWithParam<std::string> {};

TEST_P(IdentityOfPage, HoldsInTheClassOfTheStep) {
  const std::string name = stem_of(GetParam());
  std::vector<std::string> problems;
  for (const Case& one : read_cases(*read_file(GetParam()), &problems)) {
    if (one.refuses) continue;
    const std::string place = fmt::format("{}.md:{}", name, one.line);
    const Program before = read_program(one.before, place);
    const Result<Action> action = parse_action(one.action);
    ASSERT_TRUE(action.ok()) << place;
    const Result<Step> step = apply_action(before, described_target(), *action);
    ASSERT_TRUE(step.ok()) << place << ": " << (step ? "" : render(step.error()));
    if (step->exactness == Exactness::changes_precision) continue;
    IdentityOptions options;
    options.claim = step->exactness;
    const IdentityResult r = check_identity(before, step->after, options);
    // What the field cannot know (max with + and *) a rule must show; it may never find a true difference.
    const bool shown = r.held() || (r.incomplete && step->exactness == Exactness::algebraic);
    EXPECT_TRUE(shown) << place << " as " << exactness_name(step->exactness) << ": " << r.reason << "\n" << print_program(step->after);
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, IdentityOfPage, ::testing::ValuesIn(list_pages()),
                         [](const auto& page) { return stem_of(page.param); });

}  // namespace
}  // namespace cairn::test
