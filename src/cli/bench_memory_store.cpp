// cairn bench memory, phase store: a store that neither mode under comparison made.
#include <iterator>
#include <set>

#include <fmt/core.h>

#include "base/file.h"
#include "cli/bench_memory_phases.h"
#include "cli/memory_trial.h"
#include "cli/run_search.h"
#include "memory/store.h"

namespace cairn {

namespace {

constexpr MemoryMode kStoreModes[] = {MemoryMode::ucb, MemoryMode::vanilla};

std::string key_of(const std::string& task, std::string_view mode) { return fmt::format("{} {}", task, mode); }

Result<std::set<std::string>> list_finished(const MemoryStore& store) {
  std::set<std::string> finished;
  CAIRN_TRY(const std::vector<RunRecord> runs, store.runs());
  for (const RunRecord& run : runs) {
    if (run.finished != 0) finished.insert(key_of(run.task, run.mode));
  }
  return finished;
}

RunRecord make_record(const MemoryTrial& trial, const MemorySearch& search, const std::vector<Evidence>& rows, std::int64_t finished) {
  RunRecord record;
  record.id = rows.empty() ? trial.task->name : rows[0].run;
  record.task = trial.task->name;
  record.family = trial.task->family;
  record.mode = memory_mode_name(search.mode);
  record.device = trial.evaluator->device();
  record.target = target_digest(trial.target).hex();
  record.seed = search.seed;
  record.started = search.now;
  record.finished = finished;
  return record;
}

}  // namespace

Result<void> fill_store(Session& session, const MemoryBenchPlan& plan, const std::vector<MemoryTask>& tasks, const Target& target) {
  CAIRN_TRY(MemoryStore store, MemoryStore::open(join_path(plan.out, "store.db"), MemoryStore::Mode::write));
  CAIRN_TRY(const std::set<std::string> done, list_finished(store));
  const std::vector<BenchUnit> units = list_units(tasks, plan, false, std::size(kStoreModes));
  CAIRN_TRY(const Progress::Mode shown, progress_mode(session.settings));
  Progress progress(session.clock, shown, "store", units.size());
  for (std::size_t k = 0; k < units.size(); ++k) {
    const MemoryTask& task = *units[k].task;
    MemorySearch search;
    search.mode = kStoreModes[units[k].round];
    search.setting = "store";
    search.algorithm = plan.algorithm;
    search.budget = plan.store_budget;
    search.now = session.clock.epoch();
    progress.update(k, fmt::format("{}: {}", task.name, memory_mode_name(search.mode)));
    if (done.count(key_of(task.name, memory_mode_name(search.mode))) != 0) continue;
    CAIRN_TRY(const MemoryTrial trial, make_memory_trial(session, task, target, join_path(plan.out, "cache")));
    const EvidenceSnapshot nothing({}, {}, {}, search.mode);
    const Result<MemorySearched> result = search_trial(session, trial, nothing, search);
    if (is_left_out(trial, result)) continue;
    CAIRN_TRY(const MemorySearched searched, result);
    MemoryContent content;
    content.evidence = searched.rows;
    content.runs.push_back(make_record(trial, search, searched.rows, session.clock.epoch()));
    CAIRN_CHECKED(store.put(content));
  }
  progress.finish("done");
  return {};
}

}  // namespace cairn
