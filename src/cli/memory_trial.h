// Searches of `cairn bench memory` on one task: what they share, and one of them.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/memory_bench.h"
#include "cli/memory_tasks.h"
#include "eval/evaluator.h"
#include "memory/policy.h"
#include "search/local_moves.h"

namespace cairn {

// What all searches on one task share: measured results and lists of moves, so that every mode sees the same times.
struct MemoryTrial {
  const MemoryTask* task = nullptr;
  Target target;
  std::unique_ptr<Evaluator> evaluator;   // measures a program once, whoever asks
  std::shared_ptr<MoveLists> moves;
};
// Keeps compiled programs under `cache_directory`; refuses with environment if there is no C compiler.
Result<MemoryTrial> make_memory_trial(Session& session, const MemoryTask& task, const Target& target, const std::string& cache_directory);

// One search: who decides, from what, how far.
struct MemorySearch {
  MemoryMode mode = MemoryMode::htam;
  std::string setting, algorithm;
  std::uint64_t seed = 1, budget = 16;   // budget: evaluations
  std::int64_t now = 0;                  // that the snapshot was taken for
};
struct MemorySearched {
  MemoryBenchRun run;
  std::vector<Evidence> rows;
};
Result<MemorySearched> search_trial(Session& session, const MemoryTrial& trial, const EvidenceSnapshot& snapshot, const MemorySearch& search);
// True if the task's naive program cannot be measured here; then says so on stderr.
bool is_left_out(const MemoryTrial& trial, const Result<MemorySearched>& result);

}  // namespace cairn
