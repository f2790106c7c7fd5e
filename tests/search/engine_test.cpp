#include "search/engine.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/canon.h"
#include "ir/text.h"
#include "search/algorithms.h"
#include "search/cost_proposer.h"
#include "search/simulated.h"

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
             const std::string& path, double failure_rate = 0.1) {
  const Program program = parse(text);
  const Target target = described_target();
  FakeClock clock;
  SimulatedOptions simulated;
  simulated.failure_rate = failure_rate;
  SimulatedEvaluator evaluator(program, target, simulated, clock);
  CostProposer proposer(program, target);
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

TEST(Engine, EveryAlgorithmSpendsItsBudgetAndImproves) {
  for (const Algorithm& a : all_algorithms()) {
    for (const char* text : {kMatmul, kSoftmax}) {
      const RunOutcome o = run(text, std::string(a.name), 24, 2, {});
      EXPECT_EQ(o.summary.ledger.evaluations, 24u) << a.name;
      EXPECT_EQ(o.summary.stop_reason, "evaluations") << a.name;
      EXPECT_LT(o.summary.best_seconds, 0.5 * o.summary.naive_seconds) << a.name;
      EXPECT_FALSE(o.trace.empty());
    }
  }
}

TEST(Engine, WorkersDoNotChangeTheTrace) {
  const RunOutcome one = run(kMatmul, "beam", 20, 1, {}), eight = run(kMatmul, "beam", 20, 8, {});
  EXPECT_EQ(one.trace, eight.trace);
  EXPECT_EQ(one.summary.best_seconds, eight.summary.best_seconds);
  EXPECT_EQ(one.summary.ledger.proposals, eight.summary.ledger.proposals);
}

TEST(Engine, ResumesFromAJournalCutAnywhere) {
  auto scratch = ScratchDir::create("cairn-journal-test");
  ASSERT_TRUE(scratch.ok());
  const std::string whole = join_path(scratch->path(), "whole.jsonl"), cut = join_path(scratch->path(), "cut.jsonl");
  const RunOutcome full = run(kSoftmax, "greedy", 16, 2, whole);
  const std::string text = read_file(whole).value();
  // A kill leaves any prefix, the last line torn.
  for (const double share : {0.3, 0.6, 0.95}) {
    const auto bytes = static_cast<std::size_t>(static_cast<double>(text.size()) * share);
    ASSERT_TRUE(write_file_atomic(cut, text.substr(0, bytes)).ok());
    const RunOutcome resumed = run(kSoftmax, "greedy", 16, 2, cut);
    EXPECT_EQ(resumed.trace, full.trace);
    EXPECT_EQ(resumed.summary.best_seconds, full.summary.best_seconds);
    EXPECT_LT(resumed.evaluated, full.evaluated) << "journalled results are not measured again";
    EXPECT_EQ(read_file(cut).value().substr(0, bytes / 2), text.substr(0, bytes / 2));
  }
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
  const RunOutcome o = run(kMatmul, "beam", 20, 2, {}, 0.4);
  std::uint64_t total = 0, failed = 0;
  for (const ReasonRow& row : o.summary.reasons) {
    total += row.count;
    if (row.outcome == "mismatch") failed = row.count;
  }
  EXPECT_EQ(total, 20u);
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
