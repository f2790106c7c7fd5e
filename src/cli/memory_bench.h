// Measuring what the memory pays (search-and-memory.md "Claim wanted"): runs of modes on tasks, and what they amount to.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace cairn {

// One search of one mode on one task.
struct MemoryBenchRun {
  std::string task, family;
  std::string setting;           // "in-family", "leave-out" (no row of the task's family), "cold" (no rows)
  std::string mode;              // memory_mode_name()
  std::uint64_t seed = 0;
  double naive_seconds = 0;
  std::vector<double> best;      // best log speed-up after each evaluation; the last holds when a run ended early
  std::vector<std::string> steps;   // "parent>local gain" by evaluation, to read why a run went as it did
  std::size_t distinct = 0;      // locals tried
  std::size_t failed = 0;        // committed proposals that did not pass
};
std::string print_bench_run(const MemoryBenchRun& run);        // one line of JSON
Result<MemoryBenchRun> parse_bench_run(const std::string& line);

// A mean with its paired 90 % bootstrap interval over tasks.
struct Estimate { double mean = 0, lo = 0, hi = 0; };

// How one mode did in one setting.
struct ModeResult {
  std::string setting, mode;
  std::size_t runs = 0;
  double final_log = 0;               // mean of the best log speed-up
  double geometric_mean = 1;          // exp of it
  double area = 0;                    // mean over evaluations of the best log speed-up
  double to_ninety = 0;               // mean evaluations to 90 % of the best log speed-up that anyone found on the task
  Estimate ratio;                     // sum of e(mode) over sum of e(flat) of the setting; intervals over tasks
  Estimate gain;                      // final log speed-up minus flat's, paired by task and seed
  double distinct = 0, failed = 0;    // means a run
  std::vector<std::pair<std::string, double>> family_ratios;
  std::vector<Estimate> curve;        // best log speed-up after each evaluation
};

// All modes of all settings that have flat runs to compare with; `budget`: evaluations of a run.
std::vector<ModeResult> judge_bench(const std::vector<MemoryBenchRun>& runs, std::size_t budget, std::uint64_t seed);
Json bench_json(const std::vector<ModeResult>& results);
std::string bench_text(const std::vector<ModeResult>& results);
// Best-so-far curves of the modes of a setting as a file of its own.
std::string bench_svg(const std::vector<ModeResult>& results, const std::string& setting);

}  // namespace cairn
