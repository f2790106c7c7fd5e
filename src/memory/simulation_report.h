// The comparison of modes on simulated tasks.
#pragma once
#include <string>
#include <vector>

#include "memory/simulation.h"

namespace cairn {

struct SimPlan {
  std::uint64_t world = 11;
  int stored = 60;                 // tasks of memory a family
  std::size_t store_budget = 60;   // evaluations each of them had
  int tasks = 4, seeds = 2;        // a family
  std::size_t budget = 80;         // evaluations of a compared run
  bool leave_out = false;          // the store holds no task of the run's family
  bool cold = false;               // it holds nothing
};

// A mode over all tasks and seeds: means, and the standard error of the paired difference from flat.
struct SimRow {
  MemoryMode mode = MemoryMode::htam;
  double best = 0, best_error = 0;   // final log speed-up
  double area = 0;                   // mean log speed-up over the evaluations
  double distinct = 0;               // locals tried
  double least_distinct = 0;         // fewest in a run
  double evaluations = 0;            // to 0.98 of flat's final log speed-up, twice the budget if never
  double never = 0;                  // share of runs that never got there
  double ratio = 0;                  // sum of evaluations over flat's, where flat gains over 1 %
  double best_area_error = 0;        // standard error of the difference in area
};

struct SimReport {
  SimPlan plan;
  double optimum = 0;                // mean best reachable log speed-up
  std::size_t rows = 0;              // of the store
  std::vector<SimRow> modes;         // flat first
};
// Runs flat and the other modes with the same tasks, seeds and store.
SimReport compare_modes(const SimPlan& plan, const PolicyParameters& parameters, std::vector<MemoryMode> modes);
// All modes but flat.
std::vector<MemoryMode> sim_modes();

// Evaluations to 90 % of the best that any of `runs` successive runs of one task on one growing store reaches, mean over
// the families: one value a run.
std::vector<double> repeat_simulation(std::uint64_t world, int runs, std::size_t budget, const PolicyParameters& parameters);

}  // namespace cairn
