#include "search/budget.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(Budget, ReadsEveryUnitAndPrintsBack) {
  const auto b = parse_budget("200evals,10min,2usd");
  ASSERT_TRUE(b.ok());
  EXPECT_EQ(b->evaluations, 200u);
  EXPECT_EQ(b->seconds, 600);
  EXPECT_EQ(b->dollars, 2);
  const auto again = parse_budget(print_budget(b.value()));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->evaluations, 200u);
  EXPECT_EQ(again->seconds, 600);
  EXPECT_EQ(parse_budget("1.5h")->seconds, 5400);
  EXPECT_EQ(parse_budget("7proposals")->proposals, 7u);
  EXPECT_EQ(parse_budget("30s")->evaluations, 0u) << "what is not named is unlimited";
}

TEST(Budget, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"", "200", "evals", "-3evals", "0evals", "1.5evals", "2parsecs", "10evals,,", "nanmin", "1e999s"}) {
    const auto b = parse_budget(text);
    ASSERT_FALSE(b.ok()) << text;
    EXPECT_EQ(b.error().code, Code::usage);
    EXPECT_FALSE(b.error().notes.empty());
  }
}

TEST(Budget, NamesTheLimitThatIsSpent) {
  Budget budget;
  budget.evaluations = 10;
  budget.seconds = 5;
  Ledger ledger;
  EXPECT_EQ(exhausted_limit(budget, ledger), "");
  ledger.wall_seconds = 5;
  EXPECT_EQ(exhausted_limit(budget, ledger), "seconds");
  ledger.evaluations = 10;
  EXPECT_EQ(exhausted_limit(budget, ledger), "evaluations");
}

}  // namespace
}  // namespace cairn
