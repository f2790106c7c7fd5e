// Credit, weights, means with back-off, flat retrieval, and how the other modes decide.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "memory/policy_example.h"

namespace cairn {
namespace {

using namespace example;

TEST(Credit, IsTheBestSumFromTheStepOn) {
  struct Case { std::vector<double> gains, credits; };
  for (const Case& c : {Case{{}, {}}, Case{{0.3}, {0.3}}, Case{{-0.3}, {-0.3}}, Case{{-0.1, 0.5}, {0.4, 0.5}}, Case{{-0.5, 0.1}, {-0.5, 0.1}},
                        Case{{0.2, -0.1, 0.3, -0.4}, {0.4, 0.2, 0.3, -0.4}}, Case{{0.1, -0.2, 0.15}, {0.1, -0.2, 0.15}}, Case{{0, 0}, {0, 0}}}) {
    const std::vector<double> credits = credit_path(c.gains);
    ASSERT_EQ(credits.size(), c.credits.size());
    for (std::size_t k = 0; k < credits.size(); ++k) EXPECT_NEAR(credits[k], c.credits[k], 1e-12) << k;
  }
}

TEST(Credit, OfATreeIsTheBestDescendants) {
  //        0 (-0.1)
  //      1 (0.2)   2 (-0.05)    3 fails
  //                4 (0.6)
  const std::vector<double> credits = credit_tree({-0.1, 0.2, -0.05, 9, 0.6}, {-1, 0, 0, 0, 2}, {false, false, false, true, false});
  const std::vector<double> expected{0.45, 0.2, 0.55, 0, 0.6};
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(credits[k], expected[k], 1e-12) << k;
  // A chain is a tree.
  EXPECT_EQ(credit_tree({0.2, -0.1, 0.3}, {-1, 0, 1}, {false, false, false}), credit_path({0.2, -0.1, 0.3}));
}

// One row in the store; m over the prior 0 with kappa 1 is w v / (w + 1).
double weight_seen(const std::function<void(Evidence*)>& change, double value = 1) {
  PolicyParameters p = make_parameters();
  p.kappa = 1;
  Evidence row = make_store()[0];
  row.credit = value;
  row.gain = value;
  change(&row);
  const EvidenceIndex index({row}, make_state(), p, MemoryMode::no_context);
  const double m = index.local_mean("vectorize", 0);
  return m / (value - m);   // w
}

TEST(Weights, AreCertificateTimesAgeTimesDevice) {
  struct Case { const char* what; std::function<void(Evidence*)> change; double weight; };
  const std::int64_t day = 86400;
  const Case cases[] = {
      {"executed today here", [](Evidence*) {}, 1},
      {"numeric", [](Evidence* e) { e->certificate = "numeric"; }, 0.5},
      {"rule", [](Evidence* e) { e->certificate = "rule"; }, 0.25},
      {"none", [](Evidence* e) { e->certificate = ""; }, 0.25},
      {"180 days", [&](Evidence* e) { e->date -= 180 * day; }, 0.5},
      {"90 days", [&](Evidence* e) { e->date -= 90 * day; }, std::sqrt(0.5)},
      {"from the future", [&](Evidence* e) { e->date += 90 * day; }, 1},
      {"same architecture", [](Evidence* e) { e->device.fingerprint = "other"; }, 0.7},
      {"same kind", [](Evidence* e) { e->device = {"other", "other", "cpu"}; }, 0.4},
      {"another kind", [](Evidence* e) { e->device = {"other", "other", "gpu"}; }, 0.15},
      {"all three", [&](Evidence* e) { e->certificate = "numeric", e->date -= 360 * day, e->device.fingerprint = "other"; }, 0.5 * 0.25 * 0.7},
  };
  for (const Case& c : cases) EXPECT_NEAR(weight_seen(c.change), c.weight, 1e-9) << c.what;
}

TEST(Weights, OfFailuresHaveNoCertificate) {
  PolicyParameters p = make_parameters();
  p.kappa = 1;
  Evidence row = make_store().back();   // a failure
  row.device.fingerprint = "other";
  row.date -= 180 * 86400;
  const EvidenceIndex index({row}, make_state(), p, MemoryMode::no_context);
  EXPECT_NEAR(index.local_mean("transpose", 0), -0.1 * 0.35 / 1.35, 1e-12);
}

TEST(Means, ChargeFailuresAndRegress) {
  PolicyParameters p = make_parameters();
  p.kappa = 1;
  struct Case { double credit, gain; double value; };
  for (const Case& c : {Case{0.5, 0.1, 0.1}, Case{-0.02, -0.02, -0.02}, Case{-0.03, -0.03, -0.08}, Case{0.3, -0.4, -0.4}, Case{-0.03, 0.1, 0.05}}) {
    Evidence row = make_store()[0];
    row.credit = c.credit;
    row.gain = c.gain;
    const EvidenceIndex index({row}, make_state(), p, MemoryMode::no_context);
    EXPECT_NEAR(index.local_mean("vectorize", 0), c.value / 2, 1e-12) << "regress is judged on the credit";
  }
}

TEST(Means, HoldNoRowsOfTheMachinesFaultAndNoInnerRows) {
  for (const EvidenceKind kind : {EvidenceKind::host, EvidenceKind::inner}) {
    Evidence row = make_store()[0];
    row.kind = kind;
    EvidenceIndex index({row}, make_state(), make_parameters(), MemoryMode::htam);
    index.set_run({row});
    EXPECT_EQ(index.local_mean("vectorize", 0.25), 0.25);
    EXPECT_EQ(index.tasks() + index.all_rows("vectorize") + index.run_rows("vectorize") + index.run_decisions(), 0u);
  }
}

TEST(Means, PoolFailuresOverOneKindAndGainsOverAll) {
  PolicyParameters p = make_parameters();
  p.kappa = 1;
  const auto row_of = [](const char* implementer, bool fails, double credit) {
    Evidence row = make_store()[0];
    row.implementer = implementer;
    row.kind = fails ? EvidenceKind::failed : EvidenceKind::passed;
    row.certificate = fails ? "" : "executed";
    row.credit = row.gain = fails ? 0 : credit;
    return row;
  };
  // Ours: one of two fails. Models: two pass with other gains, three fail, which says nothing of strategies.
  const std::vector<Evidence> rows{row_of("strategy@1", false, 0.2), row_of("strategy@2", true, 0), row_of("model@a", false, 0.5),
                                   row_of("model@b", false, 0.5),    row_of("model@a", true, 0),    row_of("model@a", true, 0), row_of("model@b", true, 0)};
  DecisionState state = make_state();
  // Gains of the three correct rows: 1.2 / 4; our failures: 1 of 2, (1 + 0) / 3.
  EXPECT_NEAR(EvidenceIndex(rows, state, p, MemoryMode::no_context).local_mean("vectorize", 0), 2.0 / 3 * 0.3 - 0.1 / 3, 1e-12);
  // A model's: 3 of 5, (3 + 0) / 6.
  state.implementer = "model";
  EXPECT_NEAR(EvidenceIndex(rows, state, p, MemoryMode::no_context).local_mean("vectorize", 0), 0.5 * 0.3 - 0.05, 1e-12);
  // Ours alone: 0.2 / 2.
  state.implementer = "strategy";
  EXPECT_NEAR(EvidenceIndex({rows[0], rows[1]}, state, p, MemoryMode::no_context).local_mean("vectorize", 0), 2.0 / 3 * 0.1 - 0.1 / 3, 1e-12);
}

TEST(Means, OfADirectionPoolFailuresWithGains) {
  PolicyParameters p = make_parameters();
  p.kappa = 1;
  std::vector<Evidence> rows(2, make_store()[0]);
  rows[0].credit = rows[0].gain = 0.2;
  rows[1].kind = EvidenceKind::failed;
  EXPECT_NEAR(EvidenceIndex(rows, make_state(), p, MemoryMode::no_context).direction_mean("memory_access", 0), (0.2 - 0.1) / 3, 1e-12);
}

// A local that failed here is likely to fail again: 1 failure, and the store's rate counted once.
TEST(Means, TakeThisRunsFailuresAtAnyBottleneck) {
  const auto rate = [](const char* bottleneck, int failures, int passes, MemoryMode mode = MemoryMode::htam) {
    EvidenceIndex index(make_store(), make_state(), make_parameters(), mode);
    std::vector<Evidence> run;
    for (int k = 0; k < failures + passes; ++k) {
      Evidence row = make_row({"mine", "product", bottleneck, "memory_access", "transpose", {kStartNode, ""}, {kStartNode, ""}, 0.1, 0.1}, "run", run.size() + 1);
      if (k < failures) row.kind = EvidenceKind::failed;
      run.push_back(row);
    }
    index.set_run(run);
    return index.local_failure("transpose");
  };
  const double stored = (1 + 4 * (1 + 4 * (1.0 / 9)) / 9) / 5;
  EXPECT_NEAR(rate("memory", 0, 0), stored, 1e-12);
  EXPECT_NEAR(rate("compute", 1, 0), (1 + stored) / 2, 1e-12);
  EXPECT_NEAR(rate("memory", 3, 0), (3 + stored) / 4, 1e-12);
  EXPECT_NEAR(rate("memory", 1, 2), (1 + stored) / 4, 1e-12);
  EXPECT_NEAR(rate("memory", 3, 0, MemoryMode::no_run), stored, 1e-12);
}

TEST(Means, BackOffFromThisRunToThePrior) {
  const std::vector<Evidence> store = make_store();
  const auto mean = [&](const char* family, const char* bottleneck, bool run) {
    DecisionState state = make_state();
    state.task.family = family;
    EvidenceIndex index(store, state, make_parameters(), MemoryMode::htam);
    index.set_place(bottleneck, {});
    if (run) index.set_run(make_run());
    return index.local_mean("vectorize", 0.15);
  };
  EXPECT_NEAR(mean("pooling", "launch", false), 0.25, 1e-12) << "all";
  EXPECT_NEAR(mean("pooling", "memory", false), 3.4 / 12, 1e-12) << "bottleneck";
  EXPECT_NEAR(mean("product", "memory", false), (1.6 + 4 * 3.4 / 12) / 8, 1e-12) << "family";
  EXPECT_NEAR(mean("product", "compute", false), 0.25, 1e-12) << "the family's rows at that bottleneck only";
  EXPECT_NEAR(mean("product", "memory", true), (0.1 + 0.7 * (1.6 + 4 * 3.4 / 12) / 8) / 1.7, 1e-12) << "this run at that bottleneck";
  EXPECT_NEAR(mean("pooling", "launch", true), 0.25, 1e-12) << "and at no other";
  EXPECT_EQ(EvidenceIndex({}, make_state(), make_parameters(), MemoryMode::htam).local_mean("vectorize", 0), 0) << "no evidence";
}

Evidence task_row(const std::string& task, const char* family, std::vector<double> features, const char* local, double credit, bool fails = false) {
  Evidence row = make_row({"", "", "memory", "fusion", local, {kStartNode, ""}, {kStartNode, ""}, credit, credit}, task, 1);
  row.task = {task, family, std::move(features)};
  row.kind = fails ? EvidenceKind::failed : EvidenceKind::passed;
  return row;
}

TEST(Flat, IsTheMeanOverTheNearestTasks) {
  PolicyParameters p = make_parameters();
  p.flat_tasks = 2;
  p.flat_family_distance = 2;
  DecisionState state = make_state();
  state.task.features = {1, 1};
  // Distances: a 1, b 2 (the family), c 3, d sqrt(1 + 4).
  const std::vector<Evidence> store{task_row("a", "product", {1, 2}, "x", 0.6), task_row("b", "softmax", {1, 1}, "x", 0, true),
                                    task_row("c", "product", {4, 1}, "x", 9), task_row("d", "softmax", {1, 2}, "y", 9)};
  const EvidenceIndex index(store, state, p, MemoryMode::flat);
  EXPECT_EQ(index.nearest_mean("x"), 0.3) << "a failure counts as nothing gained";
  EXPECT_EQ(index.nearest_mean("y"), std::nullopt);
  const std::vector<Scored> scored = score_locals(index, state, {{"fusion", "x", 5, false}, {"fusion", "y", 0.5, false}}, p, MemoryMode::flat);
  EXPECT_NEAR(find_scored(scored, "x").score, 0.3, 1e-12);
  EXPECT_NEAR(find_scored(scored, "y").score, p.flat_predicted * 0.5, 1e-12) << "untried nearby: the cost model";
}

TEST(Flat, WithAnEmptyMemoryIsTheCostModel) {
  for (const MemoryMode mode : {MemoryMode::flat, MemoryMode::vanilla}) {
    const PolicyParameters p = make_parameters();
    const EvidenceIndex index(mode == MemoryMode::vanilla ? make_store() : std::vector<Evidence>(), make_state(), p, mode);
    const Decision d = decide(index, make_state(), make_options(), kTriggers, p, mode, Rng(3));
    double total = 0;
    for (const LocalOption& o : make_options()) total += std::exp(p.flat_predicted * o.predicted_gain / p.flat_temperature);
    for (const LocalOption& o : make_options()) {
      EXPECT_NEAR(find_scored(d.locals, o.local).probability, std::exp(p.flat_predicted * o.predicted_gain / p.flat_temperature) / total, 1e-12);
    }
  }
}

TEST(Flat, PlusAddsTriggerAndThisRun) {
  const PolicyParameters p = make_parameters();
  const EvidenceIndex index = make_index(MemoryMode::flat_plus);
  const Decision d = decide(index, make_state(), make_options(), kTriggers, p, MemoryMode::flat_plus, Rng(3));
  // vectorize: the eight nearest by name hold p1 to p4; this run has one row of 0.1. Tasks without features are equally far
  // but for the family: p1-p4 and q1-q4 are the product's.
  EXPECT_NEAR(find_scored(d.locals, "vectorize").score, (0.1 + 0.7 * 0.4) / 1.7 + 0.07, 1e-12);
  EXPECT_NEAR(find_scored(d.locals, "parallel").score, 0.38 + 0.03, 1e-12);
}

TEST(Cold, ScoresLocalsByFlatsPredictorUntilTenTasks) {
  const auto score = [](int tasks) {
    std::vector<Evidence> store;
    for (int k = 0; k < tasks; ++k) {
      Evidence row = make_store()[0];
      row.task.name = row.run = "t" + std::to_string(k);
      store.push_back(row);
    }
    EvidenceIndex index(store, make_state(), make_parameters(), MemoryMode::htam);
    index.set_run(make_run());
    return score_locals(index, make_state(), {make_options()[0]}, make_parameters(), MemoryMode::htam)[0].score;
  };
  EXPECT_NEAR(score(0), (0.1 + 0.7 * make_parameters().flat_predicted * 0.5) / 1.7, 1e-12) << "the cost model, then this run";
  EXPECT_NEAR(score(9), (0.1 + 0.7 * 0.4) / 1.7, 1e-12) << "the nearest tasks, then this run";
  // Contexts: all ten rows in each.
  const double all = (4 + 0.6) / 14, bottleneck = (4 + 4 * all) / 14, family = (4 + 4 * bottleneck) / 14, own = (0.1 + 0.7 * family) / 1.7;
  // Transitions after `tile` and two steps after START: each row deviates by as much from what the local gains with no prior.
  const double plain = (4 + 4 * ((4 + 4 * (4.0 / 14)) / 14)) / 14;
  double deviation = 0;
  for (int context = 0; context < 3; ++context) deviation = (10 * (0.4 - plain) + 4 * deviation) / 14;
  EXPECT_NEAR(score(10), own + deviation, 1e-12);
}

// Between families a local gains on other scales; that it comes after START in the one and not in the other says nothing of START.
TEST(Edges, DeviateFromTheLocalsOwnFamily) {
  std::vector<Evidence> rows;
  for (int k = 0; k < 20; ++k) {
    const bool big = k < 10;
    Evidence row = make_row({"", big ? "product" : "elementwise", "memory", "throughput", "sweep", {kStartNode, ""}, {big ? kStartNode : "tile", ""}, big ? 3.0 : 0, 0},
                            "r" + std::to_string(k), 1);
    row.task.name = row.run;
    rows.push_back(row);
  }
  DecisionState state = make_state();
  state.task.family = "elementwise";
  const EvidenceIndex index(rows, state, make_parameters(), MemoryMode::htam);
  EXPECT_NEAR(index.local_gain("sweep", 0), 4 * (30 + 4 * (30.0 / 24)) / 24 / 14, 1e-12);
  EXPECT_LT(index.local_edge(kStartNode, "sweep", 1, 0), index.local_gain("sweep", 0) + 0.5) << "not by the product's 3";
}

TEST(Replay, FollowsTheNearestTasksBestTrace) {
  DecisionState state = make_state();
  const auto row = [&](const char* task, double feature, std::uint64_t number, std::uint64_t parent, const char* local, double gain) {
    Evidence r = task_row(task, "product", {feature}, local, gain);
    r.number = number;
    r.parent = parent;
    return r;
  };
  // near: a (0.1) then b (0.5) beats c (0.4); far: d.
  const std::vector<Evidence> store{row("near", 1, 1, 0, "a", 0.1), row("near", 1, 2, 1, "b", 0.5), row("near", 1, 3, 0, "c", 0.4), row("far", 5, 1, 0, "d", 2)};
  state.task.features = {1};
  const EvidenceIndex index(store, state, make_parameters(), MemoryMode::replay);
  EXPECT_EQ(index.best_paths(), (std::vector<std::vector<std::string>>{{"a", "b"}, {"d"}}));
  const auto next = [&](const char* last, std::vector<LocalOption> options) {
    state.locals = {last, last == std::string(kStartNode) ? "" : kStartNode};
    return decide(index, state, options, kTriggers, make_parameters(), MemoryMode::replay, Rng(1)).local;
  };
  const std::vector<LocalOption> all{{"fusion", "a", 0, false}, {"fusion", "b", 0, false}, {"fusion", "c", 9, false}, {"fusion", "d", 0, false}};
  EXPECT_EQ(next(kStartNode, all), "a");
  EXPECT_EQ(next("a", all), "b");
  EXPECT_EQ(next(kStartNode, {all[1], all[2], all[3]}), "d") << "the first trace is not legal here: the next task's";
}

TEST(Bandit, TriesEveryLocalThenTheLargestBound) {
  EvidenceIndex index(make_store(), make_state(), make_parameters(), MemoryMode::ucb);
  index.set_run(make_run());
  EXPECT_EQ(index.all_rows("vectorize"), 0u) << "it knows nothing of other runs";
  EXPECT_EQ(decide(index, make_state(), make_options(), kTriggers, make_parameters(), MemoryMode::ucb, Rng(1)).local, "transpose");
  EXPECT_EQ(decide(index, make_state(), {make_options()[0]}, kTriggers, make_parameters(), MemoryMode::ucb, Rng(1)).direction, "memory_access");
}

TEST(Random, DrawsAllLocalsAlike) {
  const EvidenceIndex index = make_index(MemoryMode::random);
  std::map<std::string, int> drawn;
  for (std::uint64_t k = 0; k < 3000; ++k) drawn[decide(index, make_state(), make_options(), kTriggers, make_parameters(), MemoryMode::random, Rng(k)).local] += 1;
  for (const auto& [name, count] : drawn) EXPECT_NEAR(count, 1000, 120) << name;
  EXPECT_EQ(drawn.size(), 3u);
}

}  // namespace
}  // namespace cairn
