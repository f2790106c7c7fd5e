// The memory in real searches on the simulated device.
#include "memory/guide.h"

#include <gtest/gtest.h>

#include <set>

#include "base/file.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "memory/memory_proposer.h"
#include "memory/recall.h"
#include "search/algorithms.h"
#include "search/simulated.h"
#include "search/site_proposer.h"

namespace cairn {
namespace {

struct GuidedRun {
  std::vector<Evidence> rows, stored;
  std::vector<std::string> notes;
  std::vector<std::string> hashes;
  SearchSummary summary;
  double best = 0;
};

GuidedRun run_guided(const std::string& workload, const std::string& algorithm, std::uint64_t evaluations, MemoryMode mode, std::vector<Evidence> snapshot,
                     unsigned jobs = 2, const std::string& journal_path = {}, double failure_rate = 0.15) {
  const auto text = read_file("bench/workloads/" + workload + ".leir");
  EXPECT_TRUE(text.ok());
  const Program program = parse_program(*text).value();
  const Target target = described_target();
  FakeClock clock;
  SimulatedOptions simulated;
  simulated.failure_rate = failure_rate;
  SimulatedEvaluator evaluator(program, target, simulated, clock);
  GuidedRun out;
  GuideOptions options;
  options.mode = mode;
  options.triggers = {{"data_reuse", {"memory"}}, {"throughput", {"compute", "latency"}}};
  options.run = "run";
  options.task = mark_task(workload, program, target);
  options.device = mark_device(evaluator.device(), target);
  options.implementer = "strategy@test";
  options.now = 1'800'000'000;
  options.store = [&](const std::vector<Evidence>& rows) -> Result<void> {
    out.stored.insert(out.stored.end(), rows.begin(), rows.end());
    return {};
  };
  options.note = [&](std::uint64_t number, const Decision& decision, const DecisionState& state) -> Result<void> {
    out.notes.push_back(std::to_string(number) + " " + decision.direction + " " + decision.local + " " + state.bottleneck);
    return {};
  };
  MemoryGuide guide(options, std::move(snapshot), target);
  MemoryProposer proposer(guide, target);
  SearchOptions search;
  search.algorithm = algorithm;
  search.budget.evaluations = evaluations;
  search.jobs = jobs;
  Journal journal = Journal::in_memory();
  if (!journal_path.empty()) {
    JournalHeader header;
    header.task = workload;
    header.program = canonical_hash(program);
    header.algorithm = algorithm;
    header.proposer = proposer.name();
    header.target = target_digest(target).hex();
    header.device = evaluator.device();
    journal = std::move(Journal::open(journal_path, header).value());
  }
  SearchEngine engine(program, evaluator, proposer, &guide, std::move(journal), clock, search);
  EXPECT_TRUE(engine.start().ok());
  EXPECT_TRUE(find_algorithm(algorithm)->run(engine).ok());
  out.summary = engine.finish().value();
  out.rows = guide.rows();
  for (const SearchState& state : engine.states()) out.hashes.push_back(state.hash.hex());
  out.best = engine.best().score;
  return out;
}

TEST(MemoryGuide, EveryCommittedProposalIsOneRowAndCreditIsTheBestSumBelowIt) {
  const GuidedRun run = run_guided("normalise_l1", "greedy", 20, MemoryMode::htam, {});
  ASSERT_EQ(run.rows.size(), run.summary.ledger.evaluations);
  EXPECT_EQ(run.notes.size(), run.rows.size());
  std::size_t failed = 0, deep = 0;
  for (const Evidence& row : run.rows) {
    EXPECT_EQ(row.id, evidence_id("run", row.number));
    EXPECT_EQ(row.task.family, "reduction");
    // By hand: the largest sum of fading gains along any path of passed rows that starts here.
    const auto best_from = [&](const auto& self, const Evidence& at) -> double {
      double below = 0;
      for (const Evidence& child : run.rows) {
        if (child.parent == at.number && child.kind == EvidenceKind::passed) below = std::max(below, self(self, child));
      }
      return at.gain + PolicyParameters().credit_fade * below;
    };
    if (row.kind == EvidenceKind::failed) {
      ++failed;
      EXPECT_EQ(row.credit, 0);
      EXPECT_TRUE(row.certificate.empty());
      continue;
    }
    EXPECT_EQ(row.certificate, "executed");
    EXPECT_NEAR(row.credit, best_from(best_from, row), 1e-12) << row.number;
    if (row.parent == 0) {
      EXPECT_EQ(row.locals[0], kStartNode);
    } else {
      ++deep;
      const auto parent = std::find_if(run.rows.begin(), run.rows.end(), [&](const Evidence& r) { return r.number == row.parent; });
      ASSERT_NE(parent, run.rows.end());
      EXPECT_EQ(row.locals[0], parent->local);
      EXPECT_EQ(row.directions[1], parent->directions[0]);
    }
  }
  EXPECT_GT(failed, 0u);
  EXPECT_GT(deep, 0u);
}

TEST(MemoryGuide, StoresEachRowOnceMoreWhenItsCreditChangesAndInnerRowsForComposites) {
  const GuidedRun run = run_guided("normalise_l1", "greedy", 20, MemoryMode::htam, {});
  std::map<Digest, Evidence> stored;
  std::size_t inner = 0;
  for (const Evidence& row : run.stored) {
    inner += row.kind == EvidenceKind::inner;
    stored[row.id] = row;
  }
  EXPECT_GT(inner, 0u);
  for (const Evidence& row : run.rows) EXPECT_EQ(stored.at(row.id).credit, row.credit) << row.number;
}

// What a guide decides at the root after one outcome there.
Decision decide_after(Outcome outcome) {
  const Target target = described_target();
  SearchState root;
  root.program = parse_program(*read_file("bench/workloads/normalise_l1.leir")).value();
  root.hash = canonical_hash(root.program);
  GuideOptions options;
  options.mode = MemoryMode::no_hierarchy;   // its locals have a count term from the first decision on
  options.run = "run";
  options.task = mark_task("normalise_l1", root.program, target);
  options.device = mark_device(kSimulatedDevice, target);
  MemoryGuide guide(options, std::vector<Evidence>(), target);
  const std::vector<LocalOption> locals{{"data_reuse", "tile", 0.2, false}, {"parallelism", "sweep", 0.1, false}};
  Proposal proposal;
  proposal.template_name = "tile";
  proposal.decision = guide.decide(root, locals, Rng(1)).ticket;
  EvalResult result;
  result.outcome = outcome;
  StepOutcome step;
  step.proposal = 1;
  step.made = &proposal;
  step.from = &root;
  step.result = &result;
  EXPECT_TRUE(guide.observe(step).ok());
  EXPECT_EQ(guide.rows().size(), 1u);
  return guide.decide(root, locals, Rng(2)).decision;
}

double term_of(const Decision& decision, const std::string& local, const std::string& name) {
  for (const Scored& scored : decision.locals) {
    for (const Term& term : scored.terms) {
      if (scored.name == local && term.name == name) return term.value;
    }
  }
  ADD_FAILURE() << local << " has no term " << name;
  return 0;
}

TEST(MemoryGuide, CountsAFailureButNothingThatWasTheMachinesFault) {
  const Decision failed = decide_after(Outcome::mismatch), host = decide_after(Outcome::host);
  EXPECT_LT(term_of(failed, "tile", "count"), term_of(failed, "sweep", "count"));
  EXPECT_EQ(term_of(host, "tile", "count"), term_of(host, "sweep", "count"));
}

class GuidedMode : public testing::TestWithParam<int> {};

TEST_P(GuidedMode, SpendsTheBudgetAndIsTheSameWithOneAndEightWorkers) {
  const auto mode = static_cast<MemoryMode>(GetParam());
  const std::vector<Evidence> store = run_guided("row_maxima", "random", 12, MemoryMode::ucb, {}).rows;
  const GuidedRun one = run_guided("scaled_sum", "beam", 8, mode, store, 1), eight = run_guided("scaled_sum", "beam", 8, mode, store, 8);
  EXPECT_EQ(one.hashes, eight.hashes);
  EXPECT_EQ(one.notes, eight.notes);
  EXPECT_EQ(one.summary.ledger.evaluations, 8u);
}

INSTANTIATE_TEST_SUITE_P(All, GuidedMode, testing::Range(0, static_cast<int>(MemoryMode::no_trigger) + 1), [](const auto& tested) {
  std::string name(memory_mode_name(static_cast<MemoryMode>(tested.param)));
  std::replace(name.begin(), name.end(), '-', '_');
  std::replace(name.begin(), name.end(), '+', 'p');
  return name;
});

TEST(MemoryGuide, ResumesToTheSameRowsFromACutJournal) {
  const auto scratch = ScratchDir::create("guide");
  ASSERT_TRUE(scratch.ok());
  const std::string path = join_path(scratch->path(), "journal.jsonl");
  const GuidedRun whole = run_guided("normalise_l1", "greedy", 14, MemoryMode::htam, {}, 2, path);
  const std::string text = read_file(path).value();
  std::size_t cut = 0;
  for (int line = 0; line < 9; ++line) cut = text.find('\n', cut) + 1;
  ASSERT_TRUE(write_file_atomic(path, text.substr(0, cut + 11)).ok());   // and a torn line
  const GuidedRun again = run_guided("normalise_l1", "greedy", 14, MemoryMode::htam, {}, 2, path);
  EXPECT_EQ(read_file(path).value(), text);
  EXPECT_EQ(again.hashes, whole.hashes);
  ASSERT_EQ(again.rows.size(), whole.rows.size());
  for (std::size_t k = 0; k < whole.rows.size(); ++k) EXPECT_EQ(again.rows[k].credit, whole.rows[k].credit);
}

// What a run stored leads a later run of the same task to its best program at once, and a similar task to a better start.
TEST(Recall, TheBestTraceOfATaskIsProposedFirst) {
  const GuidedRun run = run_guided("normalise_l1", "greedy", 20, MemoryMode::htam, {}, 2, {}, 0);
  std::map<Digest, Evidence> rows;
  for (const Evidence& row : run.stored) rows[row.id] = row;
  std::vector<Evidence> stored;
  for (const auto& [id, row] : rows) stored.push_back(row);
  const Program program = parse_program(*read_file("bench/workloads/normalise_l1.leir")).value();
  const Target target = described_target();
  const auto traces = recall_traces(stored, mark_task("normalise_l1", program, target), {}, 4);
  ASSERT_EQ(traces.size(), 1u);
  const auto again = parse_traces(print_traces(traces));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, traces);
  const auto replay = replay_trace(program, target, traces[0]);
  ASSERT_TRUE(replay.ok()) << render(replay.error());
  // The trace with the largest sum of gains.
  double best = 0;
  Digest end;
  std::map<std::uint64_t, double> scores{{0, 0}};
  for (const Evidence& row : run.rows) {
    scores[row.number] = scores[row.parent] + row.gain;
    if (scores[row.number] > best) best = scores[row.number], end = row.program;
  }
  EXPECT_EQ(canonical_hash(replay->programs.back()), end);
  // A proposer with it offers that program first, then what its base offers.
  SearchState root;
  root.program = program;
  root.hash = canonical_hash(program);
  RecallProposer proposer(std::make_unique<SiteProposer>(target, SiteOrder::enumerate), traces, target);
  ProposeContext context;
  context.count = 3;
  const std::vector<Proposal> proposals = proposer.propose(root, context);
  ASSERT_EQ(proposals.size(), 3u);
  EXPECT_EQ(canonical_hash(proposals[0].after), end);
  EXPECT_EQ(proposals[0].template_name, "recall");
  EXPECT_NE(proposals[1].template_name, "recall");
  // Another family recalls nothing.
  EXPECT_TRUE(recall_traces(stored, TaskMark{"x", "product", {}}, {}, 4).empty());
  // On another program what is refused is left out and the rest verified.
  SearchState other;
  other.program = parse_program(*read_file("bench/workloads/scaled_sum.leir")).value();
  other.hash = canonical_hash(other.program);
  RecallProposer elsewhere(std::make_unique<SiteProposer>(target, SiteOrder::enumerate), traces, target);
  std::vector<std::string> refused, left_out;
  context.on_refused = [&](const Error& error) { refused.push_back(error.message); };
  context.on_left_out = [&](const Error& error) { left_out.push_back(error.message); };
  const std::vector<Proposal> partial = elsewhere.propose(other, context);
  for (const Proposal& proposal : partial) EXPECT_TRUE(replay_trace(other.program, target, proposal.actions).ok());
  // Each of its steps is in the proposal or told of; a trace of which nothing is left is one refused proposal.
  const bool recalled = !partial.empty() && partial[0].template_name == "recall";
  EXPECT_EQ(left_out.size(), recalled ? traces[0].size() - partial[0].actions.size() : 0);
  EXPECT_EQ(refused.size(), recalled ? 0u : 1u);
  RecallProposer nowhere(std::make_unique<SiteProposer>(target, SiteOrder::enumerate), {{parse_action("loop_unrolling(loop=0.nowhere, factor=0, kind=U)").value()}}, target);
  refused.clear();
  EXPECT_NE(nowhere.propose(other, context)[0].template_name, "recall");
  EXPECT_EQ(refused.size(), 1u);
}

}  // namespace
}  // namespace cairn
