// Every memory starts with eight directions, what leads from one to another, and a card for every local strategy.
#include "memory/cards.h"

#include <gtest/gtest.h>

#include <set>

#include "base/file.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "memory/policy.h"
#include "search/cost_proposer.h"
#include "search/local_moves.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

const std::set<std::string> kDirections{"fusion", "algebra", "memory_access", "data_reuse", "parallelism", "throughput", "precision", "launch"};
const std::set<std::string> kClasses{"memory", "compute", "latency", "launch"};

const LocalCard* find_local(const std::string& name) {
  for (const LocalCard& card : built_in_cards().locals) {
    if (card.name == name) return &card;
  }
  return nullptr;
}

TEST(Cards, HoldEightDirectionsWithTriggers) {
  std::set<std::string> names;
  for (const DirectionCard& card : built_in_cards().directions) {
    names.insert(card.name);
    EXPECT_TRUE(check_card(card).ok()) << card.name;
    EXPECT_FALSE(card.intent.empty() || card.objective.empty() || card.risks.empty()) << card.name;
    EXPECT_FALSE(card.triggers.empty()) << card.name;
    for (const std::string& trigger : card.triggers) EXPECT_EQ(kClasses.count(trigger), 1u) << card.name << " " << trigger;
    EXPECT_TRUE(is_built_in(card) && card.trusted);
  }
  EXPECT_EQ(names, kDirections);
  EXPECT_EQ(list_triggers(built_in_cards().directions).at("launch"), (std::vector<std::string>{"launch", "latency"}));
}

TEST(Cards, HoldEveryStrategyFromItsPage) {
  EXPECT_GE(all_strategies().size(), 49u);
  for (const Strategy* strategy : all_strategies()) {
    const LocalCard* card = find_local(std::string(strategy->name));
    ASSERT_NE(card, nullptr) << strategy->name;
    EXPECT_EQ(card->direction, direction_name(strategy->direction)) << strategy->name;
    EXPECT_NE(card->when.find("pays"), std::string::npos) << strategy->name << ": " << card->when;
    EXPECT_GT(card->how.size(), 20u) << strategy->name << ": " << card->how;
    EXPECT_NE(card->how, card->when) << strategy->name;
    EXPECT_FALSE(card->checks.empty()) << strategy->name;
  }
  const LocalCard* split = find_local("loop_split");
  EXPECT_EQ(split->how.rfind("A loop becomes an outer and an inner loop.", 0), 0u) << split->how;
  EXPECT_EQ(split->when.rfind("It pays as preparation", 0), 0u) << split->when;
}

TEST(Cards, HoldTheSearchesComposites) {
  for (const std::string& name : composite_names()) {
    const LocalCard* card = find_local(name);
    ASSERT_NE(card, nullptr) << name;
    EXPECT_EQ(card->direction, composite_direction(name)) << name;
  }
}

// What a proposer names its proposals after is a composite, and so has a card.
TEST(Cards, HoldWhatTheCostModelNamesItsPlansAfter) {
  const Target target = described_target();
  std::set<std::string> templates;
  for (const char* workload : {"matmul", "softmax", "linear_bias_gelu", "scaled_sum"}) {
    SearchState root;
    root.program = parse_program(*read_file(std::string("bench/workloads/") + workload + ".leir")).value();
    root.hash = canonical_hash(root.program);
    ProposeContext context;
    context.count = 12;
    context.seen = [](const Digest&) { return false; };
    for (const Proposal& p : CostProposer(root.program, target).propose(root, context)) {
      if (!p.template_name.empty()) templates.insert(p.template_name);
    }
  }
  EXPECT_TRUE(templates.count("inline-fuse"));
  EXPECT_TRUE(templates.count("tile"));
  for (const std::string& name : templates) EXPECT_FALSE(composite_direction(name).empty()) << name;
  EXPECT_TRUE(composite_direction("recall").empty()) << "a recalled trace is no strategy";
}

TEST(Cards, AreCheckedDistinctAndUnderKnownDirections) {
  std::set<std::string> names;
  for (const LocalCard& card : built_in_cards().locals) {
    EXPECT_TRUE(names.insert(card.name).second) << card.name;
    EXPECT_EQ(kDirections.count(card.direction), 1u) << card.name;
    const auto checked = check_card(card);
    EXPECT_TRUE(checked.ok()) << render(checked.error());
    EXPECT_FALSE(card.when.empty() || card.how.empty() || card.checks.empty()) << card.name;
  }
  for (const char* name : {"aligned_vector_loads", "padded_tiles", "warp_shuffle", "persistent_blocks", "cp_async_pipeline", "split_k", "tensor_cores"}) {
    EXPECT_NE(find_local(name), nullptr) << name;
  }
}

TEST(Cards, EdgesCloseDirectionsWhereTheyDoNotApply) {
  for (const EdgeCard& edge : built_in_cards().edges) {
    EXPECT_EQ(kDirections.count(edge.node), 1u) << edge.node;
    EXPECT_TRUE(edge.origin == kStartNode || kDirections.count(edge.origin) == 1) << edge.origin;
    EXPECT_TRUE(check_card(edge).ok());
    for (const std::string& word : edge.applies) EXPECT_EQ(kClasses.count(word), 1u) << word;
  }
  const std::vector<EdgeCard> edges{{"fusion", "launch", "", "", {"launch", "latency"}, true}, {"fusion", "algebra", "", "", {}, true},
                                    {"algebra", "fusion", "", "", {"memory"}, true}};
  EXPECT_EQ(list_closed(edges, "fusion", "memory"), (std::set<std::string>{"launch"}));
  EXPECT_EQ(list_closed(edges, "fusion", "latency"), (std::set<std::string>{}));
  EXPECT_EQ(list_closed(edges, "algebra", "compute"), (std::set<std::string>{"fusion"}));
}

TEST(Cards, SeedNewFilesAndReplaceWhatAnOlderBuildWrote) {
  const auto scratch = ScratchDir::create("cairn-cards");
  ASSERT_TRUE(scratch.ok());
  const std::string path = join_path(scratch->path(), "memory.db");
  auto store = MemoryStore::open(path, MemoryStore::Mode::write);
  ASSERT_TRUE(store.ok()) << render(store.error());
  EXPECT_EQ(store->directions().value(), built_in_cards().directions);
  EXPECT_EQ(store->locals().value(), built_in_cards().locals);
  EXPECT_EQ(store->edges().value(), built_in_cards().edges);
  DirectionCard stale = built_in_cards().directions.front();
  stale.intent = "as it was said before";
  const LocalCard own{"my_local", "fusion", "w", "h", "c", true};
  ASSERT_TRUE(store->put_cards({stale}, {own}).ok());
  auto again = MemoryStore::open(path, MemoryStore::Mode::write);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->directions().value(), built_in_cards().directions);
  EXPECT_EQ(again->locals().value().size(), built_in_cards().locals.size() + 1);
}

}  // namespace
}  // namespace cairn
