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
  const auto all = parse_budget("1evals,2proposals,3compiles,4min,5device-min,6tokens,0.5usd");
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->compiles, 3u);
  EXPECT_EQ(all->device_seconds, 300);
  EXPECT_EQ(all->tokens, 6u);
  EXPECT_EQ(print_budget(*all), "1evals,2proposals,3compiles,240s,300device-s,6tokens,0.5usd");
}

TEST(Budget, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"", "200", "evals", "-3evals", "0evals", "1.5evals", "2parsecs", "10evals,,", "nanmin", "1e999s", "10evals,", ",10evals", "10 evals", "1.5tokens",
                           "10evals,20evals", "60s,1min", "1eval,1evals"}) {
    const auto b = parse_budget(text);
    ASSERT_FALSE(b.ok()) << text;
    EXPECT_EQ(b.error().code, Code::usage);
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

// Any part of the ledger may be the one that stops a run.
TEST(Budget, EveryPartOfTheLedgerCanBeLimited) {
  Ledger spent;
  spent.evaluations = spent.proposals = spent.compiles = spent.tokens = 10;
  spent.wall_seconds = spent.device_seconds = spent.dollars = 10;
  const std::pair<const char*, const char*> limits[] = {{"10evals", "evaluations"}, {"10proposals", "proposals"}, {"10compiles", "compiles"}, {"10s", "seconds"},
                                                        {"10device-s", "device seconds"}, {"10tokens", "tokens"}, {"10usd", "dollars"}};
  for (const auto& [text, reason] : limits) {
    const auto budget = parse_budget(text);
    ASSERT_TRUE(budget.ok()) << text;
    EXPECT_EQ(exhausted_limit(*budget, Ledger{}), "") << text;
    EXPECT_EQ(exhausted_limit(*budget, spent), reason);
    // Without a model nothing spends tokens or dollars.
    EXPECT_EQ(check_free_budget(*budget).ok(), std::string(reason) != "tokens" && std::string(reason) != "dollars") << text;
  }
}

}  // namespace
}  // namespace cairn
