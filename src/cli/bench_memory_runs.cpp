// cairn bench memory, phases runs and report: every mode, seed and setting on the test tasks, and what the runs amount to.
#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include <fmt/core.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/bench_memory_phases.h"
#include "cli/memory_run.h"
#include "cli/memory_trial.h"
#include "cli/run_search.h"
#include "memory/guide.h"
#include "memory/store.h"

namespace cairn {

namespace {

// A part of the comparison: modes, and the rows of memory that they have.
struct Setting {
  std::string name;
  std::vector<std::string> modes;
  std::vector<Evidence> rows;
};

std::vector<Setting> list_settings(const MemoryBenchPlan& plan, const std::vector<Evidence>& rows, const std::string& family) {
  std::vector<Evidence> others;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(others), [&](const Evidence& row) { return row.task.family != family; });
  return {{"in-family", plan.modes, rows}, {"leave-out", plan.left_out, std::move(others)}, {"cold", plan.cold, {}}};
}

std::string key_of(const std::string& setting, std::string_view mode, std::uint64_t seed) { return fmt::format("{} {} {}", setting, mode, seed); }

// The whole lines of a file of runs: what was killed while it wrote left a torn one, and that run is made again.
Result<std::string> read_whole_lines(const std::string& path) {
  CAIRN_TRY(std::string text, read_file(path));
  text.resize(text.rfind('\n') + 1);   // of no line: npos + 1 is 0
  return text;
}

Result<std::vector<MemoryBenchRun>> read_runs(const std::string& path) {
  std::vector<MemoryBenchRun> runs;
  CAIRN_TRY(const std::string text, read_whole_lines(path));
  for (const TextLine& line : split_lines(text)) {
    CAIRN_TRY(MemoryBenchRun run, parse_bench_run(std::string(line.text)));
    runs.push_back(std::move(run));
  }
  return runs;
}

std::string runs_directory(const MemoryBenchPlan& plan) { return join_path(plan.out, "runs"); }

// All settings and modes on one task with one seed; `note` is told what comes next.
Result<void> run_unit(Session& session, const MemoryBenchPlan& plan, const BenchUnit& unit, const std::vector<Evidence>& rows, std::int64_t now,
                      const Target& target, const std::function<void(const std::string&)>& note) {
  const MemoryTask& task = *unit.task;
  MemorySearch search;
  search.algorithm = plan.algorithm;
  search.seed = unit.round + 1;
  search.budget = plan.budget;
  search.now = now;
  const std::string path = join_path(runs_directory(plan), fmt::format("{}-seed{}.jsonl", task.name, search.seed));
  std::set<std::string> done;
  if (file_exists(path)) {
    CAIRN_TRY(const std::vector<MemoryBenchRun> old, read_runs(path));
    for (const MemoryBenchRun& run : old) done.insert(key_of(run.setting, run.mode, run.seed));
    CAIRN_TRY(const std::string whole, read_whole_lines(path));
    CAIRN_CHECKED(write_file_atomic(path, whole));   // appended to below
  }
  CAIRN_TRY(AppendLog log, AppendLog::open(path));
  CAIRN_TRY(const MemoryTrial trial, make_memory_trial(session, task, target, join_path(plan.out, "cache")));
  DecisionState state;
  state.device = mark_device(trial.evaluator->device(), target);
  state.now = now;
  for (const Setting& setting : list_settings(plan, rows, task.family)) {
    search.setting = setting.name;
    for (const std::string& name : setting.modes) {
      CAIRN_TRY(search.mode, expect_memory_mode("mode", name));
      if (done.count(key_of(setting.name, name, search.seed)) != 0) continue;
      note(fmt::format("{}: {} {} seed {}", task.name, setting.name, name, search.seed));
      const Result<MemorySearched> result = search_trial(session, trial, EvidenceSnapshot(setting.rows, state, {}, search.mode), search);
      if (is_left_out(trial, result)) continue;
      CAIRN_TRY(const MemorySearched searched, result);
      CAIRN_CHECKED(log.append(print_bench_run(searched.run), true));
    }
  }
  return {};
}

}  // namespace

Result<void> run_modes(Session& session, const MemoryBenchPlan& plan, const std::vector<MemoryTask>& tasks, const Target& target) {
  CAIRN_TRY(const MemoryStore store, MemoryStore::open(join_path(plan.out, "store.db"), MemoryStore::Mode::read));
  CAIRN_TRY(const std::vector<Evidence> rows, store.read());
  CAIRN_CHECKED(make_directories(runs_directory(plan)));
  std::int64_t now = 0;
  for (const Evidence& row : rows) now = std::max(now, row.date);
  const std::vector<BenchUnit> units = list_units(tasks, plan, true, plan.seeds);
  CAIRN_TRY(const Progress::Mode shown, progress_mode(session.settings));
  Progress progress(session.clock, shown, "runs", units.size());
  for (std::size_t k = 0; k < units.size(); ++k) {
    CAIRN_CHECKED(run_unit(session, plan, units[k], rows, now, target, [&](const std::string& next) { progress.update(k, next); }));
  }
  progress.finish("done");
  return {};
}

Result<Json> report_runs(const MemoryBenchPlan& plan, std::string* text) {
  std::vector<MemoryBenchRun> runs;
  CAIRN_TRY(std::vector<std::string> names, list_directory(runs_directory(plan)));
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    CAIRN_TRY(std::vector<MemoryBenchRun> more, read_runs(join_path(runs_directory(plan), name)));
    runs.insert(runs.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  if (runs.empty()) return Error{Code::usage, runs_directory(plan) + ": no runs to report", {}, {}};
  const std::vector<ModeResult> results = judge_bench(runs, plan.budget, 1);
  std::set<std::string> tasks, settings;
  for (const MemoryBenchRun& run : runs) tasks.insert(run.task);
  Json json{{"version", 1}, {"tasks", tasks.size()}, {"runs", runs.size()}, {"seeds", plan.seeds}, {"budget", plan.budget}, {"algorithm", plan.algorithm},
            {"modes", bench_json(results)}};
  for (const ModeResult& r : results) {
    settings.insert(r.setting);
    if (r.setting == "in-family" && r.mode == "htam") json["warm_ratio_to_flat"] = r.ratio.mean;
  }
  for (const std::string& setting : settings) CAIRN_CHECKED(write_file_atomic(join_path(plan.out, setting + ".svg"), bench_svg(results, setting)));
  *text = bench_text(results);
  CAIRN_CHECKED(write_file_atomic(join_path(plan.out, "report.json"), dump_json_pretty(json) + "\n"));
  CAIRN_CHECKED(write_file_atomic(join_path(plan.out, "report.txt"), *text));
  return json;
}

}  // namespace cairn
