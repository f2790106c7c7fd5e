#include "cli/memory_trial.h"

#include <cstdio>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/core.h>

#include "base/interrupt.h"
#include "cli/executor.h"
#include "cli/summary.h"
#include "memory/cards.h"
#include "memory/memory_proposer.h"
#include "search/algorithms.h"

namespace cairn {

namespace {

constexpr std::size_t kKeptLists = 1500;   // of moves, a task

// Asks another evaluator once a program.
class SharedEvaluator final : public Evaluator {
 public:
  explicit SharedEvaluator(std::unique_ptr<Evaluator> inner) : inner_(std::move(inner)) {}
  EvalResult evaluate(const Program& candidate) override {
    const Digest hash = canonical_hash_of(candidate);
    const auto it = results_.find(hash);
    if (it != results_.end()) return it->second;
    EvalResult result = inner_->evaluate(candidate);
    if (interrupted() == 0) results_.emplace(hash, result);
    return result;
  }
  std::vector<EvalResult> remeasure(const std::vector<Program>& programs) override { return inner_->remeasure(programs); }
  const Target& target() const override { return inner_->target(); }
  std::string device() const override { return inner_->device(); }
  bool executes() const override { return inner_->executes(); }

 private:
  std::unique_ptr<Evaluator> inner_;
  std::unordered_map<Digest, EvalResult> results_;
};

// What a search's rows say of it: the best score after each, and why it went as it did.
void describe_rows(const std::vector<Evidence>& rows, MemoryBenchRun* run) {
  std::map<std::uint64_t, double> scores{{0, 0}};
  std::set<std::string> locals;
  double best = 0;
  for (const Evidence& row : rows) {
    const bool passed = row.kind == EvidenceKind::passed;
    const auto parent = scores.find(row.parent);
    const double score = (parent == scores.end() ? 0 : parent->second) + row.gain;
    scores[row.number] = score;
    if (passed) best = std::max(best, score);
    run->failed += row.kind == EvidenceKind::failed;
    locals.insert(row.local);
    run->best.push_back(best);
    run->steps.push_back(fmt::format("{}>{} {}", row.parent, row.local, passed ? fmt::format("{:.3f}", row.gain) : row.outcome));
  }
  run->distinct = locals.size();
}

}  // namespace

Result<MemoryTrial> make_memory_trial(Session& session, const MemoryTask& task, const Target& target, const std::string& cache_directory) {
  Loaded loaded;
  loaded.name = task.name;
  loaded.program = task.program;
  CpuEvalOptions options;
  options.cache_directory = cache_directory;
  // Programs that take longer than this lose the comparison anyway.
  options.compile_seconds = 15;
  options.run_seconds = 5;
  options.sample_seconds = 0.05;
  CAIRN_TRY(std::unique_ptr<Evaluator> evaluator, make_task_evaluator(session, loaded, target, options));
  MemoryTrial trial;
  trial.task = &task;
  trial.target = target;
  trial.evaluator = std::make_unique<SharedEvaluator>(std::move(evaluator));
  trial.moves = std::make_shared<MoveLists>(target, kKeptLists);
  return trial;
}

Result<MemorySearched> search_trial(Session& session, const MemoryTrial& trial, const EvidenceSnapshot& snapshot, const MemorySearch& search) {
  const MemoryTask& task = *trial.task;
  const std::string mode(memory_mode_name(search.mode));
  GuideOptions guided;
  guided.mode = search.mode;
  guided.triggers = list_triggers(built_in_cards().directions);
  guided.edges = built_in_cards().edges;
  guided.run = digest_bytes(fmt::format("{} {} {} {}", task.name, search.setting, mode, search.seed)).hex();
  guided.task = mark_task(task.name, task.program, trial.target);
  guided.device = mark_device(trial.evaluator->device(), trial.target);
  guided.implementer = "strategy@bench";
  guided.now = search.now;
  MemoryGuide guide(guided, snapshot, trial.target);
  MemoryProposer proposer(guide, trial.moves);
  SearchOptions options;
  options.task = task.name;
  options.algorithm = search.algorithm;
  options.budget.evaluations = search.budget;
  options.seed = search.seed;
  options.lookahead = 1;
  options.jobs = 1;
  SearchEngine engine(task.program, *trial.evaluator, proposer, &guide, Journal::in_memory(), session.clock, options);
  CAIRN_CHECKED(engine.start());
  CAIRN_CHECKED(find_algorithm(search.algorithm)->run(engine));
  CAIRN_TRY(const SearchSummary summary, engine.finish());
  if (interrupted() != 0) return Error{Code::interrupted, "interrupted", {}, {"run the same command again to go on"}};
  MemorySearched out;
  out.rows = guide.rows();
  out.run.task = task.name;
  out.run.family = task.family;
  out.run.setting = search.setting;
  out.run.mode = mode;
  out.run.seed = search.seed;
  out.run.naive_seconds = summary.naive_seconds;
  describe_rows(out.rows, &out.run);
  return out;
}

bool is_left_out(const MemoryTrial& trial, const Result<MemorySearched>& result) {
  if (result.ok() || result.error().code != Code::run) return false;
  std::fputs(fmt::format("left out: {}: {}\n", trial.task->name, result.error().message).c_str(), stderr);
  return true;
}

}  // namespace cairn
