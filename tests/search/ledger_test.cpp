// What a run is charged, and what it leaves on disk.
#include <gtest/gtest.h>

#include "ir/canon.h"
#include "ir/text.h"
#include "search/algorithms.h"
#include "search/simulated.h"
#include "search/site_proposer.h"

namespace cairn {
namespace {

Program product() {
  return parse_program("in A^{f32}_{64,96};in C^{f32}_{96,128};out D^{f32}_{64,128};\n"
                       "L^{64}_{i=0}L^{128}_{j=0}L^{96}_{k=0}[D^{f32,g}_{i,j}=D^{f32,g}_{i,j}+A^{f32,g}_{i,k}*C^{f32,g}_{k,j};];\n")
      .value();
}

// Every site in turn, and two proposals before each that a strategy refuses.
class RefusingProposer final : public Proposer {
 public:
  explicit RefusingProposer(const Target& target) : sites_(target, SiteOrder::enumerate) {}
  std::string name() const override { return "refusing"; }
  std::vector<Proposal> propose(const SearchState& state, const ProposeContext& context) override {
    for (int k = 0; k < 2; ++k) context.refuse(Error{Code::illegal, "loop i carries a dependence", {}, {}});
    return sites_.propose(state, context);
  }

 private:
  SiteProposer sites_;
};

// Finds every result in a cache, at once; each had cost two seconds.
class CachedEvaluator final : public Evaluator {
 public:
  CachedEvaluator(const Program& naive, FakeClock& clock) : simulated_(naive, described_target(), {1, 0.02, 0, 0}, clock) {}
  EvalResult evaluate(const Program& program) override {
    EvalResult result = simulated_.evaluate(program);
    result.from_cache = true;
    result.run_seconds = 2;
    return result;
  }
  std::vector<EvalResult> remeasure(const std::vector<Program>& programs) override { return simulated_.remeasure(programs); }
  const Target& target() const override { return simulated_.target(); }
  std::string device() const override { return "cached"; }

 private:
  SimulatedEvaluator simulated_;
};

SearchSummary search(Evaluator& evaluator, Proposer& proposer, FakeClock& clock, const SearchOptions& options, const std::string& algorithm) {
  Journal journal = Journal::in_memory();
  if (!options.directory.empty()) {
    JournalHeader header;
    header.task = "t";
    auto opened = Journal::open(join_path(options.directory, "journal.jsonl"), header);
    EXPECT_TRUE(opened.ok()) << render(opened.error());
    journal = std::move(opened.value());
  }
  SearchEngine engine(product(), evaluator, proposer, nullptr, std::move(journal), clock, options);
  EXPECT_TRUE(engine.start().ok());
  EXPECT_TRUE(find_algorithm(algorithm)->run(engine).ok());
  return engine.finish().value();
}

TEST(Ledger, ARefusedProposalCostsAProposalOnly) {
  FakeClock clock;
  SimulatedEvaluator evaluator(product(), described_target(), {}, clock);
  RefusingProposer proposer(described_target());
  SearchOptions options;
  options.budget.evaluations = 6;
  const SearchSummary s = search(evaluator, proposer, clock, options, "chain");
  EXPECT_EQ(s.ledger.evaluations, 6u);
  EXPECT_GE(s.ledger.refused, 12u);   // two an expansion, one child each
  EXPECT_GE(s.ledger.proposals, s.ledger.evaluations + s.ledger.refused);
  EXPECT_EQ(s.ledger.compiles, 7u);   // the naive program's too
  EXPECT_DOUBLE_EQ(s.efficiency, 6.0 / static_cast<double>(s.ledger.proposals));
  const auto row = std::find_if(s.reasons.begin(), s.reasons.end(), [](const ReasonRow& r) { return r.outcome == "refused"; });
  ASSERT_NE(row, s.reasons.end());
  EXPECT_EQ(row->reason, "loop i carries a dependence");
  EXPECT_EQ(row->count, s.ledger.refused);
}

TEST(Ledger, RefusedProposalsSpendABudgetOfProposals) {
  FakeClock clock;
  SimulatedEvaluator evaluator(product(), described_target(), {}, clock);
  RefusingProposer proposer(described_target());
  SearchOptions options;
  options.budget = parse_budget("9proposals").value();
  const SearchSummary s = search(evaluator, proposer, clock, options, "chain");
  EXPECT_EQ(s.stop_reason, "proposals");
  EXPECT_EQ(s.ledger.evaluations, 2u);   // the third expansion reaches the limit
}

// Traces of which a step is refused go on without it; traces of which every step is refused are refused proposals.
TEST(Ledger, CountsWhatEvolveCannotReplay) {
  FakeClock clock;
  SimulatedEvaluator evaluator(product(), described_target(), {}, clock);
  SiteProposer proposer(described_target(), SiteOrder::random);
  SearchOptions options;
  options.budget.evaluations = 60;
  const SearchSummary s = search(evaluator, proposer, clock, options, "evolve");
  std::uint64_t others = 0, left_out = 0;
  for (const ReasonRow& row : s.reasons) {
    (row.outcome == "left_out" ? left_out : others) += row.count;
    EXPECT_EQ(row.reason.empty(), row.outcome == "ok") << row.outcome;
  }
  EXPECT_GT(left_out, 0u);
  EXPECT_EQ(others, 60u + s.ledger.refused);
}

TEST(Ledger, AResultOfTheCacheIsChargedWhatItHadCost) {
  FakeClock clock;
  CachedEvaluator evaluator(product(), clock);
  SiteProposer proposer(described_target(), SiteOrder::enumerate);
  SearchOptions options;
  options.budget = parse_budget("11s").value();
  const SearchSummary s = search(evaluator, proposer, clock, options, "bfs");
  EXPECT_EQ(s.stop_reason, "seconds");
  EXPECT_EQ(s.ledger.evaluations, 5u);
  EXPECT_DOUBLE_EQ(s.ledger.wall_seconds, 12);   // five and the naive program
  EXPECT_DOUBLE_EQ(s.ledger.device_seconds, 12);
  ASSERT_EQ(s.notes.size(), 1u);
  EXPECT_EQ(s.notes[0], "6 results were in the cache; 12.0 s of the time are what they had cost");
}

TEST(Ledger, ListsEveryCandidate) {
  FakeClock clock;
  SimulatedOptions simulated;
  simulated.failure_rate = 0.4;
  SimulatedEvaluator evaluator(product(), described_target(), simulated, clock);
  SiteProposer proposer(described_target(), SiteOrder::enumerate);
  SearchOptions options;
  options.budget.evaluations = 12;
  const SearchSummary s = search(evaluator, proposer, clock, options, "bfs");
  ASSERT_EQ(s.candidates.size(), 12u);
  std::size_t failed = 0;
  for (std::size_t k = 0; k < s.candidates.size(); ++k) {
    const CandidateRow& c = s.candidates[k];
    EXPECT_EQ(c.number, k + 1);
    EXPECT_EQ(c.origin, "enumerate");
    EXPECT_EQ(c.seconds > 0, c.outcome == "ok");
    EXPECT_EQ(c.reason, c.outcome == "ok" ? "" : "simulated mismatch");
    failed += c.outcome != "ok";
  }
  EXPECT_GT(failed, 0u);
  EXPECT_LT(failed, 12u);
}

// A kill between the journal's line and the file: the resumed run writes the program that the journal proves.
TEST(Ledger, TheBestProgramIsOnDiskAfterAResume) {
  const auto scratch = ScratchDir::create("cairn-best");
  ASSERT_TRUE(scratch.ok());
  const std::string best = join_path(scratch->path(), "best.leir");
  SearchOptions options;
  options.directory = scratch->path();
  options.budget.evaluations = 12;
  std::string first;
  for (const std::uint64_t evaluations : {12u, 12u, 13u}) {
    options.budget.evaluations = evaluations;
    FakeClock clock;
    SimulatedEvaluator evaluator(product(), described_target(), {}, clock);
    SiteProposer proposer(described_target(), SiteOrder::enumerate);
    const SearchSummary s = search(evaluator, proposer, clock, options, "bfs");
    ASSERT_LT(s.best_seconds, s.naive_seconds);
    ASSERT_TRUE(file_exists(best)) << evaluations;
    if (first.empty()) first = read_file(best).value();
    if (evaluations == 12) {
      EXPECT_EQ(read_file(best).value(), first);
    }
    remove_tree(best);
  }
}

}  // namespace
}  // namespace cairn
