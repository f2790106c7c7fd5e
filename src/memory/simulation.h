// Simulated tasks for the policy: known optimum, prerequisites, enabling moves of negative gain, a shifting bottleneck, noise,
// failures. `cairn bench memory --sim` and the tests of the policy use it.
//
// What limits a program is one of the classes memory, compute and latency. A move is meant for a class: made while that class
// limits it pays and relieves it, so that another limits next; made at another time its arguments are chosen for something
// else, it pays a tenth and is used up. Some moves only prepare others (a tile before its staging): alone they cost a little,
// and what stands on them does nothing, or breaks, without them. Which stands on which belongs to the moves; what they pay to
// the operator family; what limits at the start follows from the family, the shape that the features tell, and luck. In each
// task some moves never give a correct program.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "memory/policy.h"

namespace cairn {

inline constexpr std::size_t kSimClasses = 3;
inline constexpr const char* kSimClassNames[kSimClasses] = {"memory", "compute", "latency"};
inline constexpr int kSimFamilies = 8;

// A local strategy of the simulation in one task.
struct SimMove {
  std::string direction, local;
  std::optional<std::size_t> relieves;        // class that it is meant for; none: any
  double gain = 0;                            // log gain at its best
  std::optional<std::size_t> needs;           // move that must have been made
  bool broken = false;                        // never gives a correct program here
};

struct SimTask {
  TaskMark mark;
  std::vector<SimMove> moves;
  std::array<double, kSimClasses> start{};    // log time of each class at the start
  double noise = 0.02;                        // standard deviation of a measured log time
  double model_bias = 0.3;                    // of the cost model's error, the same for a move wherever it is asked
  double model_noise = 0.15;                  // of the part that changes from state to state
};

// A program: moves made, those of them that came at the wrong time, and moves tried in vain since their prerequisite changed.
struct SimState {
  std::uint64_t made = 0, weak = 0, vain = 0;
  friend auto operator<=>(const SimState&, const SimState&) = default;
};

// Task `number` of a family in the world of a seed.
SimTask make_sim_task(std::uint64_t world, int family, int number);
// Best log speed-up within a trajectory's length, by a beam over true scores that keeps the losses of enabling moves.
double find_sim_optimum(const SimTask& task);
// log(t_start / t), and the share of each class in the time.
double score_sim_state(const SimTask& task, const SimState& state);
std::array<double, kSimClasses> share_sim_state(const SimTask& task, const SimState& state);
SimState apply_sim_move(const SimTask& task, const SimState& state, std::size_t move);
// Classes that the simulated directions' triggers name.
const std::map<std::string, std::vector<std::string>>& sim_triggers();
// The device, date and implementer of all simulated rows.
DecisionState make_sim_decision(const SimTask& task);

struct SimRun {
  std::vector<double> best;          // best true log speed-up among the programs found, after each evaluation
  std::vector<Evidence> rows;        // credited
  std::size_t distinct = 0;          // locals among the proposals
  // First evaluation that reaches `score`; twice the budget if none does.
  std::size_t evaluations_to(double score) const;
  // Mean of best over the evaluations.
  double area() const;
};

struct SimStep {
  DecisionState state;
  Decision decision;
  double gain = 0;
  bool failed = false;
};

// One search of `budget` evaluations, the same for all modes, by the trajectories of search/trajectory.cpp: on from whatever
// passes while a trajectory gets better. Programs seen before are not proposed. `log` gets every decision.
SimRun run_simulation(const SimTask& task, const EvidenceSnapshot& snapshot, const PolicyParameters& parameters, MemoryMode mode, std::uint64_t seed,
                      std::size_t budget, std::vector<SimStep>* log = nullptr);

// Rows of `tasks` tasks a family, found by searches without memory (random, bandit, cost model with feedback): a store that
// no mode under comparison built.
std::vector<Evidence> build_sim_store(std::uint64_t world, int tasks, std::size_t budget);

}  // namespace cairn
