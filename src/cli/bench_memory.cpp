// cairn bench memory: what the memory pays on real tasks. A store is filled by searches that neither mode under comparison
// made; then every mode searches every test task with every seed, warm in the family, warm without the family's rows, and cold.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/file.h"
#include "cli/bench.h"
#include "cli/bench_memory_phases.h"
#include "cli/load.h"
#include "cli/memory_run.h"
#include "cli/run_search.h"
#include "memory/simulation_report.h"

namespace cairn {

namespace {

Result<void> parse_shard(MemoryBenchPlan* plan) {
  const std::size_t slash = plan->shard.find('/');
  char* end = nullptr;
  plan->shard_index = std::strtoul(plan->shard.c_str(), &end, 10);
  const bool first = slash != std::string::npos && end == plan->shard.c_str() + slash;
  plan->shards = first ? std::strtoul(plan->shard.c_str() + slash + 1, &end, 10) : 0;
  if (first && *end == '\0' && plan->shards > 0 && plan->shard_index < plan->shards) return {};
  return Error{Code::usage, fmt::format("--shard is '{}', expected I/N with I below N, such as 0/4", plan->shard), {}, {}};
}

// Takes from the settings what they say of the bench.
Result<void> complete_plan(const Settings& settings, MemoryBenchPlan* plan) {
  plan->out = settings.value("out");
  if (plan->out.empty()) return Error{Code::usage, "bench memory needs --out DIRECTORY for its store and runs", {}, {}};
  if (settings.get("algorithm").source != "default") plan->algorithm = settings.value("algorithm");
  CAIRN_CHECKED(expect_algorithm(plan->algorithm));
  const std::pair<const char*, const std::vector<std::string>*> lists[] = {{"--modes", &plan->modes}, {"--left-out", &plan->left_out}, {"--cold", &plan->cold}};
  for (const auto& [option, modes] : lists) {
    for (const std::string& name : *modes) CAIRN_CHECKED(expect_memory_mode(fmt::format("mode of {}", option), name));
  }
  return parse_shard(plan);
}

Result<int> run_phases(Session& session, const MemoryBenchPlan& plan) {
  const auto asked = [&](const char* phase) { return plan.phase == "all" || plan.phase == phase; };
  CAIRN_CHECKED(make_directories(plan.out));
  CAIRN_TRY(const std::vector<MemoryTask> tasks, load_memory_tasks(plan.tasks));
  if (asked("store") || asked("runs")) {
    CAIRN_TRY(const Target target, load_target(session));
    if (asked("store")) CAIRN_CHECKED(fill_store(session, plan, tasks, target));
    if (asked("runs")) CAIRN_CHECKED(run_modes(session, plan, tasks, target));
  }
  if (!asked("report")) {
    session.answer(Json{{"version", 1}, {"phase", plan.phase}, {"shard", plan.shard}}, plan.phase + " done\n");
    return 0;
  }
  std::string text;
  CAIRN_TRY(const Json json, report_runs(plan, &text));
  session.answer(json, text);
  return 0;
}

}  // namespace

std::vector<BenchUnit> list_units(const std::vector<MemoryTask>& all, const MemoryBenchPlan& plan, bool test, std::uint64_t rounds) {
  std::vector<BenchUnit> mine;
  std::size_t at = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const MemoryTask& task : all) {
      if (task.test == test && at++ % plan.shards == plan.shard_index) mine.push_back({&task, round});
    }
  }
  return mine;
}

CommandRun setup_bench_memory(CLI::App& app) {
  auto plan = std::make_shared<MemoryBenchPlan>();
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
    CAIRN_CHECKED(complete_plan(session.settings, plan.get()));
    return run_phases(session, *plan);
  };
}

}  // namespace cairn
