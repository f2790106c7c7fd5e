// The phases of `cairn bench memory`: fill a store, search with every mode, report. Their files lie under `out` and grow by whole
// runs, so that an interrupted bench goes on and several processes share the work.
#pragma once
#include <string>
#include <vector>

#include "analysis/target.h"
#include "cli/command.h"
#include "cli/memory_tasks.h"

namespace cairn {

struct MemoryBenchPlan {
  std::string tasks, out, algorithm = "trajectory", phase = "all", shard = "0/1";
  std::vector<std::string> modes, cold, left_out;   // in the family, without a store, without the family's rows
  std::uint64_t seeds = 5, budget = 16, store_budget = 20;
  std::size_t shard_index = 0, shards = 1;          // of the processes that share the work
};

// What one process works on: a task in one round, which is a seed or a mode that fills the store.
struct BenchUnit {
  const MemoryTask* task;
  std::uint64_t round;
};
// This shard's units over the tasks that test or that fill the store; all tasks in a round before the next one, so that an
// interrupted bench has all tasks with some seeds, not some tasks with all.
std::vector<BenchUnit> list_units(const std::vector<MemoryTask>& all, const MemoryBenchPlan& plan, bool test, std::uint64_t rounds);

// Fills the store: two searches a task that know no other run, one by bandit and one that follows the cost model alone.
Result<void> fill_store(Session& session, const MemoryBenchPlan& plan, const std::vector<MemoryTask>& tasks, const Target& target);
// Every mode, seed and setting on the test tasks.
Result<void> run_modes(Session& session, const MemoryBenchPlan& plan, const std::vector<MemoryTask>& tasks, const Target& target);
// What the runs amount to: report.json, report.txt and a curve a setting; `text` gets the tables.
Result<Json> report_runs(const MemoryBenchPlan& plan, std::string* text);

}  // namespace cairn
