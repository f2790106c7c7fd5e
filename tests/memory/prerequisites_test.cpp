// What stands on what, and what a step is worth for it.
#include <gtest/gtest.h>

#include "memory/policy_example.h"
#include "memory/prerequisites.h"

namespace cairn {
namespace {

using namespace example;

struct Step { const char* local; double gain; std::uint64_t parent; bool fails = false; };

// A run of a family at a bottleneck; steps are numbered from 1.
void add_run(const std::string& run, const char* family, const char* bottleneck, const std::vector<Step>& steps, std::vector<Evidence>* rows) {
  std::uint64_t number = 0;
  for (const Step& step : steps) {
    Evidence row = make_row({"", family, bottleneck, "fusion", step.local, {kStartNode, ""}, {kStartNode, ""}, step.gain, step.gain}, run, ++number);
    row.task.name = run;
    row.parent = step.parent;
    row.kind = step.fails ? EvidenceKind::failed : EvidenceKind::passed;
    rows->push_back(row);
  }
}

Prerequisites find_in(const std::vector<Evidence>& rows, const PolicyParameters& p = {}) {
  const std::vector<MadeBefore> made = list_made(rows);
  std::vector<PathRow> paths;
  for (std::size_t k = 0; k < rows.size(); ++k) paths.push_back({&rows[k], 1, &made[k]});
  return find_prerequisites(paths, p);
}

// `with` runs that make `first` before `then`, and `without` that make `then` alone.
std::vector<Evidence> make_pairs(int with, int without, double first, double after, double alone, bool alone_fails = false) {
  std::vector<Evidence> rows;
  for (int k = 0; k < with; ++k) add_run("w" + std::to_string(k), "product", "memory", {{"first", first, 0}, {"then", after, 1}}, &rows);
  for (int k = 0; k < without; ++k) add_run("o" + std::to_string(k), "product", "memory", {{"then", alone, 0, alone_fails}}, &rows);
  return rows;
}

TEST(Made, FollowsPassedStepsOfOneRun) {
  std::vector<Evidence> rows;
  add_run("a", "product", "memory", {{"x", -0.1, 0}, {"y", 0.2, 1}, {"x", -0.2, 2}, {"z", 0, 3}, {"bad", 0, 4, true}, {"after bad", 0, 5}}, &rows);
  add_run("b", "product", "memory", {{"p", 0, 0}, {"q", 0, 1}}, &rows);
  const std::vector<MadeBefore> made = list_made(rows);
  EXPECT_TRUE(made[0].locals.empty());
  EXPECT_EQ(made[3].locals, (std::set<std::string>{"x", "y"}));
  EXPECT_NEAR(made[3].losses.at("x"), -0.3, 1e-12);
  EXPECT_EQ(made[3].losses.count("y"), 0u);
  EXPECT_EQ(made[4].locals, (std::set<std::string>{"x", "y", "z"})) << "a failed step has a path";
  EXPECT_TRUE(made[5].locals.empty()) << "but nothing stands on it";
  EXPECT_EQ(made[7].locals, (std::set<std::string>{"p"})) << "its own run's";
}

TEST(Prerequisite, IsWhatALocalClearlyGainsBy) {
  struct Case { const char* what; std::vector<Evidence> rows; bool found; };
  const Case cases[] = {
      {"an enabling step", make_pairs(4, 8, -0.05, 0.8, 0), true},
      {"without it the step fails", make_pairs(4, 8, -0.05, 0.8, 0, true), true},
      {"too few rows with it", make_pairs(3, 8, -0.05, 0.8, 0), false},
      {"too few without", make_pairs(8, 3, -0.05, 0.8, 0), false},
      {"too small a difference", make_pairs(40, 40, 0, 0.35, 0.3), false},
      {"it only repairs what the first step lost", make_pairs(8, 8, -0.7, 0.8, 0.1), false},
      {"it loses less, but loses", make_pairs(8, 8, 0, -0.1, -0.9), false},
      {"the first step hinders", make_pairs(8, 8, 0, 0, 0.8), false},
  };
  for (const Case& c : cases) {
    const Prerequisites found = find_in(c.rows);
    EXPECT_EQ(found.count("then") != 0, c.found) << c.what;
    if (c.found) {
      EXPECT_EQ(found.at("then"), "first") << c.what;
    }
  }
  // z = 0.5 / sqrt(0.01 / 4 + 0.01 / 4) = 7.07 with equal gains on either side.
  PolicyParameters p;
  p.prerequisite_z = 7.0;
  EXPECT_EQ(find_in(make_pairs(4, 4, 0, 0.5, 0), p).count("then"), 1u);
  p.prerequisite_z = 7.1;
  EXPECT_EQ(find_in(make_pairs(4, 4, 0, 0.5, 0), p).count("then"), 0u);
}

EvidenceIndex make_store_index(MemoryMode mode, const char* family, const char* bottleneck, std::set<std::string> made) {
  DecisionState state = make_state();
  state.task.family = family;
  EvidenceIndex index(make_pairs(8, 8, -0.05, 0.8, 0), state, {}, mode);
  index.set_place(bottleneck, std::move(made));
  return index;
}

TEST(Enabled, IsWhatTheOtherGainsMoreByHere) {
  // Eight rows of 0.8 after `first`: 6.4 / 12, then two narrower contexts; those without gain nothing.
  const double all = 6.4 / 12, bottleneck = (6.4 + 4 * all) / 12, family = (6.4 + 4 * bottleneck) / 12;
  const auto gain = [](MemoryMode mode, const char* family_name, const char* bottleneck_name, std::set<std::string> made) {
    return make_store_index(mode, family_name, bottleneck_name, std::move(made)).enabled_by("first").gain;
  };
  EXPECT_NEAR(gain(MemoryMode::htam, "product", "memory", {}), family, 1e-12);
  EXPECT_NEAR(gain(MemoryMode::htam, "softmax", "memory", {"other"}), bottleneck, 1e-12) << "a family without rows";
  EXPECT_NEAR(gain(MemoryMode::htam, "softmax", "launch", {}), all, 1e-12) << "a bottleneck without rows";
  EXPECT_EQ(gain(MemoryMode::htam, "product", "memory", {"first"}), 0) << "made already";
  EXPECT_EQ(gain(MemoryMode::htam, "product", "memory", {"then"}), 0) << "nothing left to enable";
  EXPECT_EQ(gain(MemoryMode::no_prefix, "product", "memory", {}), 0);
  EXPECT_EQ(gain(MemoryMode::no_credit, "product", "memory", {}), 0);
}

TEST(Enabled, TellsLocalsApartByTheirPath) {
  EXPECT_NEAR(make_store_index(MemoryMode::htam, "product", "memory", {}).local_gain("then", 0), 0, 1e-12);
  EXPECT_NEAR(make_store_index(MemoryMode::htam, "product", "memory", {"first", "other"}).local_gain("then", 0),
              (6.4 + 4 * ((6.4 + 4 * (6.4 / 12)) / 12)) / 12, 1e-12)
      << "however long ago";
  EXPECT_NEAR(make_store_index(MemoryMode::no_prefix, "softmax", "launch", {"first"}).local_gain("then", 0), 6.4 / 20, 1e-12) << "all rows";
}

TEST(Enabled, ReadsThisRunToo) {
  EvidenceIndex index = make_store_index(MemoryMode::htam, "product", "memory", {});
  const double before = index.enabled_by("first").gain;
  // In this run it gave nothing: kappa_run 4.
  std::vector<Evidence> run;
  add_run("run", "product", "memory", {{"first", -0.05, 0}, {"then", 0, 1}}, &run);
  index.set_run(run);
  EXPECT_NEAR(index.enabled_by("first").gain, before * 4 / 5, 1e-12);
  run.back().kind = EvidenceKind::failed;
  index.set_run(run);
  EXPECT_NEAR(index.enabled_by("first").gain, 0.5 * before - 0.5 * 0.1, 1e-12) << "it failed: it is as likely to again";
}

}  // namespace
}  // namespace cairn
