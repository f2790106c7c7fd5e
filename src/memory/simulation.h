// Simulated tasks for the policy: known optimum, prerequisites, enabling moves of negative gain, a shifting bottleneck, noise.
// Seconds for thousands of runs; `cairn bench memory --sim` and the tests of the policy use it.
#pragma once
#include <string>
#include <vector>

#include "memory/policy.h"

namespace cairn {

// A local strategy of the simulation: what it gives at which bottleneck and what it stands on.
struct SimMove {
  std::string direction, local;
  double gain = 0;                   // log gain where its bottleneck limits; a tenth of it elsewhere
  std::string bottleneck;            // that it relieves; empty: any
  std::vector<std::size_t> needs;    // moves that must have been made
  double failure = 0;                // chance to fail where a prerequisite is missing
};

// A task: moves, the time of each bottleneck class at the start, and how noisy its measurements and its cost model are.
struct SimTask {
  TaskMark mark;
  std::vector<SimMove> moves;
  std::vector<std::pair<std::string, double>> shares;   // bottleneck class, share of the time at the start
  double noise = 0.02;               // of a measured log time
  double model_noise = 0.35;         // of a predicted log gain
  double optimum = 0;                // best reachable log speed-up
};

// Task `number` of a family; families differ in which recipe pays, tasks of one family in sizes and strengths.
SimTask make_sim_task(std::uint64_t seed, int family, int number);
inline constexpr int kSimFamilies = 8;

struct SimRun {
  std::vector<double> best;          // best log speed-up after each evaluation
  std::vector<Evidence> rows;        // credited
  std::size_t distinct = 0;          // locals tried
  // Evaluations until `score` is reached; twice the budget if never.
  std::size_t evaluations_to(double score) const;
};
// One search of `budget` evaluations: trajectories of up to 8 steps from the root, or from the best state half of the time.
SimRun run_simulation(const SimTask& task, const std::vector<Evidence>& store, const PolicyParameters& parameters, MemoryMode mode,
                      std::uint64_t seed, std::size_t budget);

// Rows of `tasks` tasks a family, found by UCB searches without memory: a store that no mode under comparison built.
std::vector<Evidence> build_sim_store(std::uint64_t seed, int tasks, std::size_t budget);

}  // namespace cairn
