// The policy over a snapshot of the memory: credit, evidence with back-off, directions, locals (search-and-memory.md).
// Pure functions of their arguments; the guide (memory/guide.h) runs them in a search.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/rng.h"
#include "memory/evidence.h"
#include "memory/parameters.h"

namespace cairn {

// R_t of each step of a path from the root, from their immediate gains: max over ends j >= t of the sum from t to j;
// a failed step has 0, and R_t = r_t where that is not positive.
std::vector<double> credit_path(const std::vector<double>& gains);
// The same in a tree: the maximum over each proposal's descendants. parents[i] < i, or -1 for the root. The gains of later
// steps count `fade` times less for each step between (docs/decisions/0006); 1: not at all.
std::vector<double> credit_tree(const std::vector<double>& gains, const std::vector<std::int64_t>& parents, const std::vector<bool>& failed, double fade = 1);

// Where a decision is taken.
struct DecisionState {
  TaskMark task;
  std::string bottleneck;
  std::map<std::string, double> time_shares;   // by bottleneck class, sum 1
  Prefix directions, locals;                   // last first
  std::set<std::string> made;                  // all locals on the path from the root
  Digest program;
  DeviceMark device;
  std::string implementer = "strategy";        // kind of implementer whose failures count: "strategy" or "model"
  std::int64_t now = 0;                        // seconds since 1970, fixed at the run's start
  // Directions whose edge from the last direction does not apply here: no candidates.
  std::set<std::string> closed;
  bool model_picks = false;                    // an LLM ranks the locals: warmer directions, no draw among locals
};

// A local strategy that is legal here, with what the cost model says of its untried arguments.
struct LocalOption {
  std::string direction, local;
  double predicted_gain = 0;                   // best predicted log gain
  bool failed_before = false;                  // with this argument class, in this run
};

// A term of a score, for `why`.
struct Term {
  std::string name;
  double value = 0;
};
struct Scored {
  std::string name;
  double score = 0, probability = 0;
  std::vector<Term> terms;
};

// Ablations and modes through the same code: what is left out, or who decides.
enum class MemoryMode : std::uint8_t {
  htam, flat, flat_plus, replay, feedback, vanilla, ucb, random,
  no_hierarchy, no_local, no_prefix, k1, uniform_w, no_credit, no_context, no_run, no_trigger,
};
std::string_view memory_mode_name(MemoryMode mode);
std::optional<MemoryMode> parse_memory_mode(std::string_view name);
// Whether the mode knows nothing of other runs.
bool is_blind(MemoryMode mode);

// What a run reads of the store, weighed once for a device, a date and a kind of implementer; runs over different tasks
// share it. The modes that know nothing of other runs share one that is empty.
class EvidenceSnapshot {
 public:
  // Reads device, implementer and now of the state. Modes that know nothing of other runs get nothing.
  EvidenceSnapshot(std::vector<Evidence> store, const DecisionState& state, const PolicyParameters& parameters, MemoryMode mode);
  std::size_t tasks() const;                   // distinct

 private:
  friend class EvidenceIndex;
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

// Means over the snapshot's rows and this run's with provisional credits (search-and-memory.md "The policy" 2).
class EvidenceIndex {
 public:
  EvidenceIndex(std::vector<Evidence> store, const DecisionState& state, const PolicyParameters& parameters, MemoryMode mode);
  // The same over a shared snapshot, which must have been taken for this device, date, implementer and mode.
  EvidenceIndex(const EvidenceSnapshot& snapshot, const DecisionState& state, const PolicyParameters& parameters, MemoryMode mode);
  // One committed decision for a direction (and a local of it) at the program it was taken at (n_{s,g}, n_{s,l}).
  void count_at(const std::string& direction, const Digest& program);
  void count_at(const std::string& direction, const std::string& local, const Digest& program);
  // Replaces the rows of this run; what count_at() was told stays.
  void set_run(const std::vector<Evidence>& rows);
  // Moves on to another state of the same run: what limits it and what its path made.
  void set_place(const std::string& bottleneck, std::set<std::string> made);
  // m of a direction, of a local, and of transitions `lag` steps after `from`; `prior` stands above the context `all`. A local's
  // edge is given the prior of the local: it deviates from the local's own mean.
  double direction_mean(const std::string& direction, double prior) const;
  double direction_edge(const std::string& from, const std::string& to, int lag, double prior) const;
  double local_mean(const std::string& local, double prior) const;
  double local_edge(const std::string& from, const std::string& to, int lag, double prior) const;
  // The same over this run alone, whatever the store says.
  double local_run_mean(const std::string& local, double prior) const;
  double local_run_edge(const std::string& from, const std::string& to, int lag, double prior) const;
  // What a local gains where it is correct, and the rate at which it is not.
  double local_gain(const std::string& local, double prior) const;
  double local_failure(const std::string& local) const;
  // The local that gains most by having this one made before it, and by how much more than now; none: 0 (docs/decisions/0008).
  struct Enabled { std::string local; double gain = 0; };
  Enabled enabled_by(const std::string& local) const;
  // Mean credit of a local over the rows of the nearest tasks (flat retrieval), or nullopt without rows.
  std::optional<double> nearest_mean(const std::string& local) const;
  // Locals of the best trajectory of each of the nearest tasks, in order, nearest task first (replay).
  const std::vector<std::vector<std::string>>& best_paths() const;
  std::uint64_t run_rows(const std::string& local) const;        // n_run
  std::uint64_t all_rows(const std::string& local) const;        // n
  std::uint64_t run_decisions() const;                           // N
  std::uint64_t run_decisions(const std::string& direction) const;                          // n_g
  std::uint64_t run_decisions(const std::string& direction, const Digest& program) const;   // n_{s,g}
  std::uint64_t run_rows(const std::string& local, const Digest& program) const;            // n_{s,l}
  std::size_t tasks() const;                                     // distinct, of other runs
  bool is_cold() const;                                          // they are fewer than cold_tasks: the nearest say more than contexts do

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// b: `parameters.trigger` times the largest time share among the bottlenecks that the direction's triggers name.
double score_trigger(const std::string& direction, const DecisionState& state, const std::map<std::string, std::vector<std::string>>& triggers,
                     const PolicyParameters& parameters);
// Scores of the locals of one direction (or of all, in modes without directions), best first without noise.
std::vector<Scored> score_locals(const EvidenceIndex& index, const DecisionState& state, const std::vector<LocalOption>& options,
                                 const PolicyParameters& parameters, MemoryMode mode);
// Scores and probabilities of the directions that have a legal local and whose edge applies; `triggers` by direction:
// bottleneck classes.
std::vector<Scored> score_directions(const EvidenceIndex& index, const DecisionState& state, const std::vector<LocalOption>& options,
                                     const std::map<std::string, std::vector<std::string>>& triggers, const PolicyParameters& parameters,
                                     MemoryMode mode);
// w_i over the prefix present, sum 1: proportional to exp(-decay (i - 1)).
std::vector<double> prefix_weights(const Prefix& prefix, const PolicyParameters& parameters, MemoryMode mode);
// softmax(score / temperature) into `probability`.
void fill_softmax(double temperature, std::vector<Scored>* scored);
// Half the count term of a local, with its own counts, and the standard deviation of its draw.
double local_count_term(const EvidenceIndex& index, const std::string& local, const Digest& program, const PolicyParameters& parameters);
double local_noise(const EvidenceIndex& index, const std::string& local, const PolicyParameters& parameters);

// Draws a direction, then picks a local of it; both with all terms. Both are empty where no direction is left.
struct Decision {
  std::vector<Scored> directions, locals;
  std::string direction, local;
  double draw = 0;                             // uniform number that chose the direction
};
Decision decide(const EvidenceIndex& index, const DecisionState& state, const std::vector<LocalOption>& options,
                const std::map<std::string, std::vector<std::string>>& triggers, const PolicyParameters& parameters, MemoryMode mode, Rng rng);

}  // namespace cairn
