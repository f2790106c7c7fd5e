// Running one search on a loaded program: what `search`, `optimize` and `bench programs` share.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/lock.h"
#include "base/progress.h"
#include "cli/executor.h"
#include "search/algorithms.h"
#include "search/engine.h"

namespace cairn {

// The result of a search whose winners were measured again.
struct SearchRun {
  SearchSummary summary;
  std::optional<FileLock> lock;        // on the directory: nobody else writes there while this run's results are written
  std::string proposer;
  Target target;
  std::unique_ptr<Evaluator> evaluator;
  Program naive;
  Program best;                        // the naive program if nothing verified was faster
  std::vector<Action> trace;           // from naive to best
  std::vector<std::size_t> edges;      // lengths of the proposals along it
  double naive_seconds = 0, best_seconds = 0;   // measured interleaved at the end
  Timing naive_time, best_time;
  double floor_seconds = 0;
  EvalResult best_result;
  bool improved = false;
  std::string memory_run;              // id of the run in the memory, for `cairn memory why`; empty: no memory
  std::size_t memory_rows = 0;         // rows of other runs that its decisions read
  std::uint64_t memory_decisions = 0;  // decisions that it took by memory
};

// Searches within the session's budget, journals to `directory` (empty: memory only), then measures the three
// best and the naive program again, interleaved in a fresh process; only these times are reported. With `remembers` the
// memory's best traces of near tasks are tried first and every outcome is kept there, unless --memory is off.
Result<SearchRun> run_search(Session& session, const Loaded& loaded, const std::string& directory, bool remembers = false);

// Refuses (usage) a proposer that does not exist.
Result<void> check_proposer(const std::string& name);
// The algorithm of that name, or a usage error that names the known ones.
Result<const Algorithm*> expect_algorithm(const std::string& name);
// Accepted over proposed; empty for a proposer that enumerates, whose failures say nothing of it.
std::optional<double> efficiency_of(const SearchRun& run);
// Strategies along the winner's trace, each once.
std::size_t count_distinct(const std::vector<Action>& trace);

// What --progress asks for.
Result<Progress::Mode> progress_mode(const Settings& settings);

}  // namespace cairn
