#include "search/engine.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/canon.h"
#include "ir/text.h"
#include "search/algorithms.h"
#include "search/cost_proposer.h"
#include "search/simulated.h"
#include "search/site_proposer.h"

namespace cairn {
namespace {

constexpr const char* kMatmul =
    "in A^{f32}_{64,96};in C^{f32}_{96,128};out D^{f32}_{64,128};\n"
    "L^{64}_{i=0}L^{128}_{j=0}L^{96}_{k=0}[D^{f32,g}_{i,j}=D^{f32,g}_{i,j}+A^{f32,g}_{i,k}*C^{f32,g}_{k,j};];\n";
constexpr const char* kSoftmax =
    "in A^{f32}_{64,256};out C^{f32}_{64,256};\n"
    "L^{64}_{i=0}L^{256}_{j=0}[D^{f32,g}_{i}=max(D^{f32,g}_{i},A^{f32,g}_{i,j});];\n"
    "L^{64}_{i=0}L^{256}_{j=0}[E^{f32,g}_{i,j}=exp(A^{f32,g}_{i,j}-D^{f32,g}_{i});];\n"
    "L^{64}_{i=0}L^{256}_{j=0}[F^{f32,g}_{i}=F^{f32,g}_{i}+E^{f32,g}_{i,j};];\n"
    "L^{64}_{i=0}L^{256}_{j=0}[C^{f32,g}_{i,j}=E^{f32,g}_{i,j}/F^{f32,g}_{i};];\n";

Program parse(const char* text) {
  auto p = parse_program(text);
  EXPECT_TRUE(p.ok()) << (p.ok() ? "" : render(p.error()));
  return p.value();
}

struct RunOutcome {
  SearchSummary summary;
  std::vector<std::string> trace;
  std::uint64_t evaluated = 0;   // calls of the evaluator
};

// One run on the simulated device; journal in `path` unless empty.
RunOutcome run(const char* text, const std::string& algorithm, std::uint64_t evaluations, unsigned jobs,
             const std::string& path, double failure_rate = 0.1, bool by_cost = true) {
  const Program program = parse(text);
  const Target target = described_target();
  FakeClock clock;
  SimulatedOptions simulated;
  simulated.failure_rate = failure_rate;
  SimulatedEvaluator evaluator(program, target, simulated, clock);
  CostProposer by_templates(program, target);
  SiteProposer by_sites(target, SiteOrder::random);
  Proposer& proposer = by_cost ? static_cast<Proposer&>(by_templates) : by_sites;
  SearchOptions options;
  options.algorithm = algorithm;
  options.budget.evaluations = evaluations;
  options.jobs = jobs;
  Journal journal = Journal::in_memory();
  if (!path.empty()) {
    JournalHeader header;
    header.task = "t";
    header.program = canonical_hash(program);
    header.algorithm = algorithm;
    header.proposer = proposer.name();
    header.target = target_digest(target).hex();
    header.device = evaluator.device();
    auto opened = Journal::open(path, header);
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : render(opened.error()));
    journal = std::move(opened.value());
  }
  SearchEngine engine(program, evaluator, proposer, nullptr, std::move(journal), clock, options);
  EXPECT_TRUE(engine.start().ok());
  const Algorithm* a = find_algorithm(algorithm);
  EXPECT_NE(a, nullptr);
  EXPECT_TRUE(a->run(engine).ok());
  auto summary = engine.finish();
  EXPECT_TRUE(summary.ok());
  RunOutcome out;
  out.summary = summary.value();
  for (const Action& action : engine.best().trace) out.trace.push_back(print_action(action));
  out.evaluated = evaluator.evaluations();
  return out;
}

TEST(Engine, TemplatesImproveWithinAFewEvaluations) {
  for (const char* algorithm : {"greedy", "beam"}) {
    for (const char* text : {kMatmul, kSoftmax}) {
      const RunOutcome o = run(text, algorithm, 24, 2, {});
      EXPECT_EQ(o.summary.ledger.evaluations, 24u) << algorithm;
      EXPECT_LT(o.summary.best_seconds, 0.5 * o.summary.naive_seconds) << algorithm;
      EXPECT_FALSE(o.trace.empty());
    }
  }
}

class EveryAlgorithm : public ::testing::TestWithParam<Algorithm> {};

// With single random moves: the budget is spent to the last evaluation and something better than naive is found.
TEST_P(EveryAlgorithm, SpendsItsBudget) {
  for (const char* text : {kMatmul, kSoftmax}) {
    const RunOutcome o = run(text, std::string(GetParam().name), 60, 2, {}, 0.1, false);
    EXPECT_EQ(o.summary.ledger.evaluations, 60u);
    EXPECT_EQ(o.summary.stop_reason, "evaluations");
    EXPECT_LT(o.summary.best_seconds, o.summary.naive_seconds);
    EXPECT_FALSE(o.trace.empty());
  }
}

TEST_P(EveryAlgorithm, IsTheSameWithAnyNumberOfWorkers) {
  const std::string name(GetParam().name);
  const RunOutcome one = run(kMatmul, name, 40, 1, {}, 0.1, false), eight = run(kMatmul, name, 40, 8, {}, 0.1, false);
  EXPECT_EQ(one.trace, eight.trace);
  EXPECT_EQ(one.summary.best_seconds, eight.summary.best_seconds);
  EXPECT_EQ(one.summary.ledger.proposals, eight.summary.ledger.proposals);
}

// A kill leaves any prefix of the journal, the last line torn; the resumed run ends with the same bytes.
TEST_P(EveryAlgorithm, ResumesFromAJournalCutAnywhere) {
  const std::string name(GetParam().name);
  auto scratch = ScratchDir::create("cairn-journal-test");
  ASSERT_TRUE(scratch.ok());
  const std::string whole = join_path(scratch->path(), "whole.jsonl"), cut = join_path(scratch->path(), "cut.jsonl");
  const RunOutcome full = run(kSoftmax, name, 30, 2, whole, 0.1, false);
  const std::string text = read_file(whole).value();
  for (const double share : {0.2, 0.6, 0.95}) {
    const auto bytes = static_cast<std::size_t>(static_cast<double>(text.size()) * share);
    ASSERT_TRUE(write_file_atomic(cut, text.substr(0, bytes)).ok());
    const RunOutcome resumed = run(kSoftmax, name, 30, 2, cut, 0.1, false);
    EXPECT_EQ(resumed.trace, full.trace);
    EXPECT_EQ(resumed.summary.best_seconds, full.summary.best_seconds);
    EXPECT_LT(resumed.evaluated, full.evaluated) << "journalled results are not measured again";
    EXPECT_EQ(read_file(cut).value(), text);
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, EveryAlgorithm, ::testing::ValuesIn(all_algorithms()),
                         [](const auto& algorithm) { return std::string(algorithm.param.name); });

TEST(Engine, ResumesPlansOfTemplates) {
  auto scratch = ScratchDir::create("cairn-journal-test");
  ASSERT_TRUE(scratch.ok());
  const std::string whole = join_path(scratch->path(), "whole.jsonl"), cut = join_path(scratch->path(), "cut.jsonl");
  const RunOutcome full = run(kSoftmax, "greedy", 16, 2, whole);
  const std::string text = read_file(whole).value();
  ASSERT_TRUE(write_file_atomic(cut, text.substr(0, text.size() * 6 / 10)).ok());
  const RunOutcome resumed = run(kSoftmax, "greedy", 16, 2, cut);
  EXPECT_EQ(resumed.trace, full.trace);
  EXPECT_LT(resumed.evaluated, full.evaluated);
}

TEST(Engine, RefusesTheJournalOfAnotherRun) {
  auto scratch = ScratchDir::create("cairn-journal-test");
  const std::string path = join_path(scratch->path(), "j.jsonl");
  JournalHeader header;
  header.task = "a";
  ASSERT_TRUE(Journal::open(path, header).ok());
  EXPECT_TRUE(Journal::open(path, header).ok());
  header.seed = 2;
  const auto other = Journal::open(path, header);
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message.find("seed is 1 in the journal, 2 in this run"), std::string::npos) << other.error().message;
  ASSERT_TRUE(write_file_atomic(path, std::string("not json\n")).ok());
  EXPECT_EQ(Journal::open(path, header).error().code, Code::parse);
}

TEST(Engine, CountsFailuresByReason) {
  const RunOutcome o = run(kMatmul, "beam", 20, 2, {}, 0.4, false);
  std::uint64_t total = 0, failed = 0;
  for (const ReasonRow& row : o.summary.reasons) {
    total += row.count;
    if (row.outcome == "mismatch") failed = row.count;
  }
  EXPECT_EQ(total, 20u + o.summary.ledger.refused);
  EXPECT_GT(failed, 0u);
}

TEST(Engine, RankCorrelation) {
  EXPECT_DOUBLE_EQ(rank_correlation({{1, 10}, {2, 20}, {3, 30}}), 1);
  EXPECT_DOUBLE_EQ(rank_correlation({{1, 30}, {2, 20}, {3, 10}}), -1);
  EXPECT_TRUE(std::isnan(rank_correlation({{1, 1}, {2, 2}})));
  EXPECT_TRUE(std::isnan(rank_correlation({{1, 1}, {1, 2}, {1, 3}})));
}

}  // namespace
}  // namespace cairn
