#include "cli/run_search.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include <fmt/core.h>

#include "base/check.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "cli/memory_run.h"
#include "cli/summary.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "memory/memory_proposer.h"
#include "search/cost_proposer.h"
#include "search/site_proposer.h"

namespace cairn {

namespace {

// `memory` is there if the proposer is the memory's.
Result<std::unique_ptr<Proposer>> make_proposer(const std::string& name, const Program& root, const Target& target, MemoryRun* memory) {
  std::unique_ptr<Proposer> proposer;
  if (name == "cost-model") proposer = std::make_unique<CostProposer>(root, target);
  if (name == "memory" && memory) proposer = std::make_unique<MemoryProposer>(memory->guide(), target);
  if (name == "enumerate") proposer = std::make_unique<SiteProposer>(target, SiteOrder::enumerate);
  if (name == "random") proposer = std::make_unique<SiteProposer>(target, SiteOrder::random);
  CAIRN_CHECK(proposer != nullptr);   // check_proposer has accepted the name
  return proposer;
}

Result<FileLock> lock_directory(const std::string& directory) {
  CAIRN_TRY(std::optional<FileLock> lock, FileLock::try_take(directory));
  if (lock) return *std::move(lock);
  return Error{Code::environment, fmt::format("{}: another search is writing there", directory), {}, {"wait for it, or give another --out"}};
}

std::string resume_note(const std::string& directory) { return "run the same command again to resume from " + join_path(directory, "journal.jsonl"); }

constexpr double kSlowed = 2;   // times the time in the search

bool slowed_down(const std::vector<const SearchState*>& finalists, const std::vector<EvalResult>& results) {
  for (std::size_t i = 0; i < finalists.size() && i + 1 < results.size(); ++i) {
    const EvalResult& r = results[i + 1];
    if (r.passed() && r.time && r.time->median > kSlowed * finalists[i]->seconds) return true;
  }
  return false;
}

// Measures naive and the best candidates interleaved; the fastest that passes wins.
Result<void> settle(SearchRun& run, const SearchEngine& engine) {
  std::vector<const SearchState*> finalists = engine.top(3);
  std::vector<Program> programs{run.naive};
  for (const SearchState* s : finalists) programs.push_back(s->program);
  std::vector<EvalResult> results = run.evaluator->remeasure(programs);
  // Kernels that wait for their threads are slowed most where others use the machine: such a moment gets a second chance.
  if (slowed_down(finalists, results)) results = run.evaluator->remeasure(programs);
  if (results.size() != programs.size() || !results[0].passed() || !results[0].time) {
    if (interrupted() != 0) return Error{Code::interrupted, "interrupted while the winners were measured again", {}, {}};
    return Error{Code::run, "the final measurement of the naive program failed: " + (results.empty() ? "" : results[0].reason), {}, {}};
  }
  run.naive_time = *results[0].time;
  run.naive_seconds = run.naive_time.median;
  run.floor_seconds = results[0].floor_seconds;
  run.best = run.naive;
  run.best_time = run.naive_time;
  run.best_seconds = run.naive_seconds;
  run.best_result = results[0];
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    const EvalResult& r = results[i + 1];
    if (!r.passed() || !r.time) {
      run.summary.notes.push_back(fmt::format("proposal {} failed when measured again: {}: {}", finalists[i]->id,
                                              outcome_name(r.outcome), r.reason));
      continue;
    }
    if (r.time->median > kSlowed * finalists[i]->seconds) {
      run.summary.notes.push_back(fmt::format("proposal {} took {} when measured again, {} in the search: is the machine busy?", finalists[i]->id,
                                              format_seconds(r.time->median), format_seconds(finalists[i]->seconds)));
    }
    if (r.time->median >= run.best_seconds) continue;
    run.best = finalists[i]->program;
    run.trace = finalists[i]->trace;
    run.edges = finalists[i]->edges;
    run.best_seconds = r.time->median;
    run.best_time = *r.time;
    run.best_result = r;
    run.improved = r.time->hi < run.naive_time.lo;
  }
  return {};
}

}  // namespace

Result<Progress::Mode> progress_mode(const Settings& settings) {
  const std::string& mode = settings.value("progress");
  if (mode == "auto") return Progress::Mode::automatic;
  if (mode == "lines") return Progress::Mode::lines;
  if (mode == "terminal") return Progress::Mode::terminal;
  if (mode == "off") return Progress::Mode::off;
  return Error{Code::usage, fmt::format("progress is '{}', expected auto, lines, terminal or off", mode), {}, {}};
}

Result<void> check_proposer(const std::string& name) {
  for (const char* known : {"cost-model", "memory", "enumerate", "random"}) {
    if (name == known) return {};
  }
  return Error{Code::usage, fmt::format("unknown proposer '{}'", name), {}, {"known: cost-model memory enumerate random"}};
}

Result<const Algorithm*> expect_algorithm(const std::string& name) {
  if (const Algorithm* algorithm = find_algorithm(name)) return algorithm;
  std::string known;
  for (const Algorithm& a : all_algorithms()) known += fmt::format(" {}", a.name);
  return Error{Code::usage, fmt::format("unknown algorithm '{}'", name), {}, {"known:" + known}};
}

std::optional<double> efficiency_of(const SearchRun& run) {
  if (run.proposer == "enumerate") return std::nullopt;
  return run.summary.efficiency;
}

std::size_t count_distinct(const std::vector<Action>& trace) {
  std::set<std::string_view> strategies;
  for (const Action& action : trace) strategies.insert(action.strategy);
  return strategies.size();
}

Result<SearchRun> run_search(Session& session, const Loaded& loaded, const std::string& directory, bool remembers) {
  SearchRun run;
  // The words are checked before anything is built or written.
  run.proposer = session.settings.value("proposer");
  CAIRN_CHECKED(check_proposer(run.proposer));
  CAIRN_CHECKED(memory_mode(session.settings));
  SearchOptions options;
  options.task = loaded.name;
  options.algorithm = session.settings.value("algorithm");
  options.directory = directory;
  CAIRN_TRY(options.budget, parse_budget(session.settings.value("budget")));
  CAIRN_CHECKED(check_free_budget(options.budget));
  CAIRN_TRY(options.seed, session.settings.number("seed"));
  CAIRN_TRY(const Algorithm* algorithm, expect_algorithm(options.algorithm));
  CAIRN_TRY(run.target, load_target(session));
  CAIRN_TRY(options.jobs, worker_count(session, run.target));
  CAIRN_TRY(run.evaluator, make_task_evaluator(session, loaded, run.target));
  run.naive = loaded.program;
  Journal journal = Journal::in_memory();
  if (!directory.empty()) {
    CAIRN_CHECKED(make_directories(directory));
    CAIRN_TRY(run.lock, lock_directory(directory));
  }
  std::unique_ptr<MemoryRun> memory;
  if (needs_memory(session, remembers)) {
    const MemoryRunInfo info{loaded.name, options.algorithm, directory, loaded.program, run.evaluator->device(), options.seed};
    CAIRN_TRY(memory, MemoryRun::open(session, info, run.target));
  }
  CAIRN_TRY(std::unique_ptr<Proposer> proposer, make_proposer(run.proposer, loaded.program, run.target, memory.get()));
  if (memory && !memory->recalled().empty()) proposer = std::make_unique<RecallProposer>(std::move(proposer), memory->recalled(), run.target);
  if (!directory.empty()) {
    JournalHeader header;
    header.task = loaded.name;
    header.program = canonical_hash(loaded.program);
    header.algorithm = options.algorithm;
    header.proposer = proposer->name();
    header.seed = options.seed;
    header.lookahead = options.lookahead;
    header.budget = options.budget;
    header.target = target_digest(run.target).hex();
    header.device = run.evaluator->device();
    if (memory) header.memory = memory->mark();
    CAIRN_TRY(journal, Journal::open(join_path(directory, "journal.jsonl"), header));
  }
  const std::size_t replayable = journal.replayable();
  CAIRN_TRY(const Progress::Mode mode, progress_mode(session.settings));
  Progress progress(session.clock, mode, loaded.name, options.budget.evaluations);
  std::optional<ShownProgress> shown(std::in_place, session, &progress);
  options.on_progress = [&](const SearchSummary& s) {
    progress.update(s.ledger.evaluations, fmt::format("best {:.3g} ms, {:.2f}x naive", s.best_seconds * 1e3, s.naive_seconds / s.best_seconds));
  };
  SearchEngine engine(loaded.program, *run.evaluator, *proposer, memory ? &memory->guide() : nullptr, std::move(journal), session.clock, options);
  CAIRN_CHECKED(engine.start());
  CAIRN_CHECKED(algorithm->run(engine));
  CAIRN_TRY(run.summary, engine.finish());
  progress.finish(run.summary.stop_reason);
  shown.reset();
  if (replayable > 0) run.summary.notes.push_back(fmt::format("{} journalled results were replayed", replayable));
  if (memory && interrupted() == 0) {
    for (std::string& note : memory->finish(session.clock)) run.summary.notes.push_back(std::move(note));
    run.memory_run = memory->run();
    run.memory_rows = memory->snapshot_rows();
    run.memory_decisions = memory->decisions();
  }
  if (interrupted() != 0) {
    Error error{Code::interrupted, fmt::format("interrupted after {} evaluations; best so far {:.2f}x naive",
                                               run.summary.ledger.evaluations, run.summary.naive_seconds / run.summary.best_seconds), {}, {}};
    if (!directory.empty()) error.notes.push_back(resume_note(directory));
    return error;
  }
  if (!run.evaluator->executes()) run.summary.notes.push_back("all times are predicted: the device is simulated, nothing was compiled or run");
  if (Result<void> settled = settle(run, engine); !settled.ok()) {
    if (interrupted() != 0 && !directory.empty()) settled.error().notes.push_back(resume_note(directory));
    return settled.error();
  }
  return run;
}

}  // namespace cairn
