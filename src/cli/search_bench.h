// What searches on a set of tasks amount to (search-and-memory.md "Report").
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace cairn {

// One search on one task.
struct SearchBenchRow {
  std::string task, algorithm, proposer;
  double speedup = 1;                    // over naive, both measured again at the end; 1 without a correct faster result
  std::optional<double> over_torch;      // PyTorch eager's time over ours, interleaved
  double efficiency = 0;                 // accepted over proposed
  bool enumerates = false;               // efficiency then says nothing
  std::size_t distinct = 0, steps = 0;   // strategies of the winner's trajectory
  std::uint64_t evaluations = 0, proposals = 0;
  double wall_seconds = 0;
  std::vector<double> best;              // log speed-up of the best so far, by evaluation
  std::string failure;                   // why there is no result; empty: there is one
};

// Statistics of speed-ups.
struct SpeedupStatistics {
  std::size_t count = 0;
  double mean = 1, median = 1, geometric_mean = 1, peak = 1;
};
SpeedupStatistics speedup_statistics(std::vector<double> speedups);

// One group a pair of algorithm and proposer, in the order of the rows.
Json search_bench_json(const std::vector<SearchBenchRow>& rows);
std::string search_bench_text(const std::vector<SearchBenchRow>& rows);
// Mean best-so-far curves of the groups as an SVG file.
std::string search_bench_svg(const std::vector<SearchBenchRow>& rows);

}  // namespace cairn
