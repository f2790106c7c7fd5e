// cairn bench memory: what the memory pays on real tasks. A store is filled by searches that neither mode under comparison
// made; then every mode searches every test task with every seed, warm in the family, warm without the family's rows, and
// cold. Runs are appended to files, so that an interrupted bench goes on and several processes share the work.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/file.h"
#include "base/interrupt.h"
#include "cli/bench.h"
#include "cli/executor.h"
#include "cli/memory_bench.h"
#include "cli/memory_tasks.h"
#include "cli/run_search.h"
#include "cli/summary.h"
#include "memory/cards.h"
#include "memory/memory_proposer.h"
#include "memory/simulation_report.h"
#include "memory/store.h"
#include "search/algorithms.h"

namespace cairn {

namespace {

constexpr std::size_t kKeptLists = 1500;   // of moves, a task

struct Plan {
  std::string tasks, out, algorithm = "trajectory", phase = "all", shard = "0/1";
  std::vector<std::string> modes, cold, left_out;
  std::uint64_t seeds = 5, budget = 16, store_budget = 20;
  std::size_t shard_index = 0, shards = 1;
};

// Results of programs that any mode measured: all modes see the same times.
class SharedEvaluator final : public Evaluator {
 public:
  explicit SharedEvaluator(Evaluator& inner) : inner_(inner) {}
  EvalResult evaluate(const Program& candidate) override {
    const Digest hash = canonical_hash_of(candidate);
    const auto it = results_.find(hash);
    if (it != results_.end()) return it->second;
    EvalResult result = inner_.evaluate(candidate);
    if (interrupted() == 0) results_.emplace(hash, result);
    return result;
  }
  std::vector<EvalResult> remeasure(const std::vector<Program>& programs) override { return inner_.remeasure(programs); }
  const Target& target() const override { return inner_.target(); }
  std::string device() const override { return inner_.device(); }

 private:
  Evaluator& inner_;
  std::unordered_map<Digest, EvalResult> results_;
};

// What all runs on one task share.
struct Bench {
  const MemoryTask* task = nullptr;
  Target target;
  std::unique_ptr<Evaluator> evaluator;
  std::unique_ptr<SharedEvaluator> shared;
  std::shared_ptr<MoveLists> lists;
};

Result<Bench> make_bench(Session& session, const Plan& plan, const MemoryTask& task, const Target& target) {
  Bench bench;
  bench.task = &task;
  bench.target = target;
  EvalTask eval;
  eval.name = task.name;
  eval.naive = task.program;
  CpuEvalOptions options;
  options.cache_directory = join_path(plan.out, "cache");
  // Programs that take longer than this lose the comparison anyway.
  options.compile_seconds = 15;
  options.run_seconds = 5;
  options.sample_seconds = 0.05;
  CAIRN_TRY(bench.evaluator, make_cpu_evaluator(std::move(eval), target, options, session.clock));
  bench.shared = std::make_unique<SharedEvaluator>(*bench.evaluator);
  bench.lists = std::make_shared<MoveLists>(target, kKeptLists);
  return bench;
}

struct Searched {
  MemoryBenchRun run;
  std::vector<Evidence> rows;
};

Result<Searched> search_once(Session& session, const Plan& plan, const Bench& bench, MemoryMode mode, const std::string& setting, const EvidenceSnapshot& snapshot,
                             std::uint64_t seed, std::uint64_t budget, std::int64_t now) {
  GuideOptions options;
  options.mode = mode;
  options.triggers = list_triggers(built_in_cards().directions);
  options.edges = built_in_cards().edges;
  options.run = digest_bytes(fmt::format("{} {} {} {}", bench.task->name, setting, memory_mode_name(mode), seed)).hex();
  options.task = mark_task(bench.task->name, bench.task->program, bench.target);
  options.device = mark_device(bench.evaluator->device(), bench.target);
  options.implementer = "strategy@bench";
  options.now = now;
  MemoryGuide guide(options, snapshot, bench.target);
  MemoryProposer proposer(guide, bench.lists);
  SearchOptions search;
  search.task = bench.task->name;
  search.algorithm = plan.algorithm;
  search.budget.evaluations = budget;
  search.seed = seed;
  search.lookahead = 1;
  search.jobs = 1;
  SearchEngine engine(bench.task->program, *bench.shared, proposer, &guide, Journal::in_memory(), session.clock, search);
  CAIRN_CHECKED(engine.start());
  CAIRN_CHECKED(find_algorithm(plan.algorithm)->run(engine));
  CAIRN_TRY(const SearchSummary summary, engine.finish());
  if (interrupted() != 0) return Error{Code::interrupted, "interrupted", {}, {"run the same command again to go on"}};
  Searched out;
  out.rows = guide.rows();
  out.run.task = bench.task->name;
  out.run.family = bench.task->family;
  out.run.setting = setting;
  out.run.mode = memory_mode_name(mode);
  out.run.seed = seed;
  out.run.naive_seconds = summary.naive_seconds;
  std::map<std::uint64_t, double> scores{{0, 0}};
  std::set<std::string> locals;
  double best = 0;
  for (const Evidence& row : out.rows) {
    const auto parent = scores.find(row.parent);
    const double score = (parent == scores.end() ? 0 : parent->second) + row.gain;
    scores[row.number] = score;
    if (row.kind == EvidenceKind::passed) best = std::max(best, score);
    out.run.failed += row.kind == EvidenceKind::failed;
    locals.insert(row.local);
    out.run.best.push_back(best);
    out.run.steps.push_back(fmt::format("{}>{} {}", row.parent, row.local, row.kind == EvidenceKind::passed ? fmt::format("{:.3f}", row.gain) : row.outcome));
  }
  out.run.distinct = locals.size();
  return out;
}

std::string key_of(const std::string& setting, std::string_view mode, std::uint64_t seed) { return fmt::format("{} {} {}", setting, mode, seed); }

Result<std::vector<MemoryBenchRun>> read_runs(const std::string& path) {
  std::vector<MemoryBenchRun> runs;
  if (!file_exists(path)) return runs;
  CAIRN_TRY(const std::string text, read_file(path));
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;   // a torn line: the run is made again
    CAIRN_TRY(MemoryBenchRun run, parse_bench_run(text.substr(begin, end - begin)));
    runs.push_back(std::move(run));
    begin = end + 1;
  }
  return runs;
}

// What one process works on: tasks of a part, each with every round (a seed, or a mode that fills the store).
struct Unit { const MemoryTask* task; std::uint64_t round; };

// Rounds outermost: an interrupted bench has all tasks with some seeds, not some tasks with all.
std::vector<Unit> select_units(const std::vector<MemoryTask>& all, const Plan& plan, bool test, std::uint64_t rounds) {
  std::vector<Unit> mine;
  std::size_t at = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const MemoryTask& task : all) {
      if (task.test == test && at++ % plan.shards == plan.shard_index) mine.push_back({&task, round});
    }
  }
  return mine;
}

// A task whose naive program cannot be measured here is named and left out.
bool is_skipped(const MemoryTask& task, const Result<Searched>& result) {
  if (result.ok() || result.error().code != Code::run) return false;
  std::fputs(fmt::format("left out: {}: {}\n", task.name, result.error().message).c_str(), stderr);
  return true;
}

constexpr MemoryMode kStoreModes[] = {MemoryMode::ucb, MemoryMode::vanilla};

// Fills the store: two searches a task that know no other run, one by bandit and one that follows the cost model alone.
Result<void> fill_store(Session& session, const Plan& plan, const std::vector<MemoryTask>& all, const Target& target, Progress& progress) {
  CAIRN_TRY(MemoryStore store, MemoryStore::open(join_path(plan.out, "store.db"), MemoryStore::Mode::write));
  std::set<std::string> done;
  CAIRN_TRY(const std::vector<RunRecord> runs, store.runs());
  for (const RunRecord& run : runs) {
    if (run.finished != 0) done.insert(run.task + " " + run.mode);
  }
  std::uint64_t finished = 0;
  for (const auto& [task, round] : select_units(all, plan, false, std::size(kStoreModes))) {
    const MemoryMode mode = kStoreModes[round];
    progress.update(finished++, fmt::format("{}: {}", task->name, memory_mode_name(mode)));
    if (done.count(fmt::format("{} {}", task->name, memory_mode_name(mode))) != 0) continue;
    CAIRN_TRY(const Bench bench, make_bench(session, plan, *task, target));
    const std::int64_t now = session.clock.epoch();
    const EvidenceSnapshot nothing({}, {}, {}, mode);
    const Result<Searched> result = search_once(session, plan, bench, mode, "store", nothing, 1, plan.store_budget, now);
    if (is_skipped(*task, result)) continue;
    CAIRN_TRY(const Searched searched, result);
    MemoryContent content;
    content.evidence = searched.rows;
    RunRecord record;
    record.id = searched.rows.empty() ? task->name : searched.rows[0].run;
    record.task = task->name;
    record.family = task->family;
    record.mode = memory_mode_name(mode);
    record.device = bench.evaluator->device();
    record.target = target_digest(target).hex();
    record.seed = 1;
    record.started = now;
    record.finished = session.clock.epoch();
    content.runs.push_back(std::move(record));
    CAIRN_CHECKED(store.put(content));
  }
  return {};
}

// Every mode, seed and setting on the test tasks.
Result<void> run_modes(Session& session, const Plan& plan, const std::vector<MemoryTask>& all, const Target& target, Progress& progress) {
  CAIRN_TRY(const MemoryStore store, MemoryStore::open(join_path(plan.out, "store.db"), MemoryStore::Mode::read));
  CAIRN_TRY(const std::vector<Evidence> rows, store.read());
  CAIRN_CHECKED(make_directories(join_path(plan.out, "runs")));
  std::int64_t now = 0;
  for (const Evidence& row : rows) now = std::max(now, row.date);
  std::uint64_t finished = 0;
  for (const auto& [tested, round] : select_units(all, plan, true, plan.seeds)) {
    const MemoryTask& task = *tested;
    const std::uint64_t seed = round + 1;
    const std::string path = join_path(plan.out, fmt::format("runs/{}-seed{}.jsonl", task.name, seed));
    CAIRN_TRY(const std::vector<MemoryBenchRun> old, read_runs(path));
    std::set<std::string> done;
    for (const MemoryBenchRun& run : old) done.insert(key_of(run.setting, run.mode, run.seed));
    CAIRN_TRY(AppendLog log, AppendLog::open(path));
    CAIRN_TRY(const Bench bench, make_bench(session, plan, task, target));
    std::vector<Evidence> others;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(others), [&](const Evidence& row) { return row.task.family != task.family; });
    struct Setting { std::string name; const std::vector<std::string>* modes; const std::vector<Evidence>* rows; };
    const std::vector<Evidence> none;
    for (const Setting& setting : {Setting{"in-family", &plan.modes, &rows}, Setting{"leave-out", &plan.left_out, &others}, Setting{"cold", &plan.cold, &none}}) {
      for (const std::string& name : *setting.modes) {
        const auto mode = parse_memory_mode(name);
        if (!mode) return Error{Code::usage, fmt::format("unknown mode '{}'", name), {}, {}};
        if (done.count(key_of(setting.name, name, seed)) != 0) continue;
        DecisionState state;
        state.device = mark_device(bench.evaluator->device(), target);
        state.now = now;
        const EvidenceSnapshot snapshot(*setting.rows, state, {}, *mode);
        progress.update(finished, fmt::format("{}: {} {} seed {}", task.name, setting.name, name, seed));
        const Result<Searched> result = search_once(session, plan, bench, *mode, setting.name, snapshot, seed, plan.budget, now);
        if (is_skipped(task, result)) continue;
        CAIRN_TRY(const Searched searched, result);
        CAIRN_CHECKED(log.append(print_bench_run(searched.run), true));
      }
    }
    ++finished;
  }
  return {};
}

Result<Json> report_runs(const Plan& plan, std::string* text) {
  std::vector<MemoryBenchRun> runs;
  const std::string directory = join_path(plan.out, "runs");
  CAIRN_TRY(std::vector<std::string> names, list_directory(directory));
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    CAIRN_TRY(std::vector<MemoryBenchRun> more, read_runs(join_path(directory, name)));
    runs.insert(runs.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  if (runs.empty()) return Error{Code::usage, directory + ": no runs to report", {}, {}};
  const std::vector<ModeResult> results = judge_bench(runs, plan.budget, 1);
  *text = bench_text(results);
  std::set<std::string> settings;
  for (const ModeResult& r : results) settings.insert(r.setting);
  for (const std::string& setting : settings) CAIRN_CHECKED(write_file_atomic(join_path(plan.out, setting + ".svg"), bench_svg(results, setting)));
  std::set<std::string> tasks;
  for (const MemoryBenchRun& run : runs) tasks.insert(run.task);
  Json json{{"version", 1}, {"tasks", tasks.size()}, {"runs", runs.size()}, {"seeds", plan.seeds}, {"budget", plan.budget}, {"algorithm", plan.algorithm}, {"modes", bench_json(results)}};
  for (const ModeResult& r : results) {
    if (r.setting == "in-family" && r.mode == "htam") json["warm_ratio_to_flat"] = r.ratio.mean;
  }
  CAIRN_CHECKED(write_file_atomic(join_path(plan.out, "report.json"), dump_json_pretty(json) + "\n"));
  CAIRN_CHECKED(write_file_atomic(join_path(plan.out, "report.txt"), *text));
  return json;
}

Result<void> parse_shard(Plan* plan) {
  const std::size_t slash = plan->shard.find('/');
  char* end = nullptr;
  plan->shard_index = std::strtoul(plan->shard.c_str(), &end, 10);
  const bool first = slash != std::string::npos && end == plan->shard.c_str() + slash;
  plan->shards = first ? std::strtoul(plan->shard.c_str() + slash + 1, &end, 10) : 0;
  if (first && *end == '\0' && plan->shards > 0 && plan->shard_index < plan->shards) return {};
  return Error{Code::usage, fmt::format("--shard is '{}', expected I/N with I below N, such as 0/4", plan->shard), {}, {}};
}

}  // namespace

CommandRun setup_bench_memory(CLI::App& app) {
  auto plan = std::make_shared<Plan>();
  plan->tasks = join_path(executable_directory(), "../bench/memory");
  plan->modes = {"flat", "htam", "flat+", "replay", "ucb", "random"};
  plan->left_out = {"flat", "htam"};
  plan->cold = {"flat", "htam"};
  app.add_option("--tasks", plan->tasks, "directory with tasks.json and its templates");
  app.add_option("--phase", plan->phase, "store (fill it), runs, report, or all")->check(CLI::IsMember({"store", "runs", "report", "all"}));
  app.add_option("--modes", plan->modes, "modes in the family")->delimiter(',');
  app.add_option("--left-out", plan->left_out, "modes without the family's rows")->delimiter(',');
  app.add_option("--cold", plan->cold, "modes without a store")->delimiter(',');
  app.add_option("--seeds", plan->seeds, "seeds of each run")->check(CLI::Range(1, 1000));
  app.add_option("--evals", plan->budget, "evaluations of a run")->check(CLI::Range(1, 100000));
  app.add_option("--store-evals", plan->store_budget, "evaluations of a search that fills the store")->check(CLI::Range(1, 100000));
  app.add_option("--shard", plan->shard, "I/N: this process takes every N-th of the searches' tasks and seeds from the I-th on");
  struct Simulated { bool asked = false; std::uint64_t world = SimPlan().world; };
  auto simulated = std::make_shared<Simulated>();
  app.add_flag("--sim", simulated->asked, "all modes on simulated tasks with a known optimum instead; takes seconds");
  app.add_option("--world", simulated->world, "seed of the simulated families");
  return [plan, simulated](Session& session) -> Result<int> {
    if (simulated->asked) return bench_memory_sim(session, simulated->world);
    plan->out = session.settings.value("out");
    if (plan->out.empty()) return Error{Code::usage, "bench memory needs --out DIRECTORY for its store and runs", {}, {}};
    CAIRN_CHECKED(parse_shard(plan.get()));
    if (session.settings.get("algorithm").source != "default") plan->algorithm = session.settings.value("algorithm");
    if (!find_algorithm(plan->algorithm)) return Error{Code::usage, fmt::format("unknown algorithm '{}'", plan->algorithm), {}, {}};
    CAIRN_CHECKED(make_directories(plan->out));
    CAIRN_TRY(const std::vector<MemoryTask> tasks, load_memory_tasks(plan->tasks));
    const bool all = plan->phase == "all";
    if (all || plan->phase != "report") {
      CAIRN_TRY(const Target target, load_target(session));
      CAIRN_TRY(const Progress::Mode mode, progress_mode(session.settings));
      const auto count = [&](bool test) { return static_cast<std::uint64_t>(select_units(tasks, *plan, test, test ? plan->seeds : std::size(kStoreModes)).size()); };
      if (all || plan->phase == "store") {
        Progress progress(session.clock, mode, "store", count(false));
        CAIRN_CHECKED(fill_store(session, *plan, tasks, target, progress));
        progress.finish("done");
      }
      if (all || plan->phase == "runs") {
        Progress progress(session.clock, mode, "runs", count(true));
        CAIRN_CHECKED(run_modes(session, *plan, tasks, target, progress));
        progress.finish("done");
      }
    }
    if (!all && plan->phase != "report") {
      session.answer(Json{{"version", 1}, {"phase", plan->phase}, {"shard", plan->shard}}, plan->phase + " done\n");
      return 0;
    }
    std::string text;
    CAIRN_TRY(const Json json, report_runs(*plan, &text));
    session.answer(json, text);
    return 0;
  };
}

}  // namespace cairn
