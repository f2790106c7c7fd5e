// Searches of simulated tasks under a mode of the policy.
#include "memory/simulation.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "memory/evidence_row.h"
#include "search/trajectory.h"

namespace cairn {

namespace {

constexpr double kVainFailure = 0.4;  // chance to fail of a move whose prerequisite is missing
constexpr double kFlaky = 0.03;       // of any other
constexpr std::int64_t kNow = 1'800'000'000;
const DeviceMark kDevice{"simulated", "simulated", "simulated"};
const std::string kImplementer = "strategy@simulated";

struct Node {
  SimState at;
  double measured = 0;
  std::uint64_t number = 0;
  Prefix directions, locals;
  std::size_t parent = 0;            // its place among the nodes
};

// The search of one run: its nodes, what it has seen, and the rows it makes.
class Walk {
 public:
  Walk(const SimTask& task, const EvidenceSnapshot& snapshot, const PolicyParameters& parameters, MemoryMode mode, std::uint64_t seed)
      : task_(task), parameters_(parameters), mode_(mode), rng_(Rng(seed).split(task.mark.name)), choices_(rng_.split(memory_mode_name(mode))),
        state_(make_sim_decision(task)), index_(snapshot, state_, parameters, mode),
        id_(fmt::format("{}-{}-{}", task.mark.name, memory_mode_name(mode), seed)) {
    Node root;
    root.directions[0] = root.locals[0] = kStartNode;
    nodes_.push_back(root);
    seen_.insert(root.at);
  }

  SimRun run(std::size_t budget, std::vector<SimStep>* log) {
    std::set<std::string> tried;
    while (run_.best.size() < budget) {
      const std::vector<LocalOption> options = find_options();
      if (options.empty()) {
        if (!restart()) break;
        continue;
      }
      const Decision decision = decide(index_, state_, options, sim_triggers(), parameters_, mode_, choices_.split(run_.best.size()));
      const auto move = std::find_if(task_.moves.begin(), task_.moves.end(), [&](const SimMove& m) { return m.local == decision.local; });
      tried.insert(decision.local);
      make(static_cast<std::size_t>(move - task_.moves.begin()));
      if (log) log->push_back({state_, decision, run_.rows.back().gain, run_.rows.back().kind == EvidenceKind::failed});
    }
    // A space that is exhausted gives nothing more.
    run_.best.resize(budget, run_.best.empty() ? 0 : run_.best.back());
    run_.distinct = tried.size();
    return std::move(run_);
  }

 private:
  // Moves that lead to programs not seen; also moves the state on to the current node.
  std::vector<LocalOption> find_options() {
    const Node& from = nodes_[current_];
    const auto shares = share_sim_state(task_, from.at);
    state_.bottleneck = kSimClassNames[std::max_element(shares.begin(), shares.end()) - shares.begin()];
    for (std::size_t c = 0; c < kSimClasses; ++c) state_.time_shares[kSimClassNames[c]] = shares[c];
    state_.directions = from.directions;
    state_.locals = from.locals;
    state_.program = Digest{from.at.made, combine64(from.at.weak, from.at.vain)};
    state_.made.clear();
    for (std::size_t at = current_; at != 0; at = nodes_[at].parent) state_.made.insert(nodes_[at].locals[0]);
    index_.set_place(state_.bottleneck, state_.made);
    std::vector<LocalOption> options;
    for (std::size_t m = 0; m < task_.moves.size(); ++m) {
      if (((from.at.made | from.at.vain) >> m) & 1) continue;
      const SimState to = apply_sim_move(task_, from.at, m);
      if (seen_.count(to) != 0) continue;
      LocalOption option;
      option.direction = task_.moves[m].direction;
      option.local = task_.moves[m].local;
      // The cost model sees the immediate gain, badly, and says the same whenever it is asked.
      Rng bias = rng_.split("bias").split(m), noise = rng_.split("model").split(from.at.made).split(from.at.weak).split(from.at.vain * 64 + m);
      option.predicted_gain = score_sim_state(task_, to) - score_sim_state(task_, from.at) + task_.model_bias * bias.normal();
      option.predicted_gain += task_.model_noise * noise.normal();
      option.failed_before = failed_.count({m, argument_class(from.at, m)}) != 0;
      options.push_back(std::move(option));
    }
    return options;
  }

  // What limits, and whether the move has what it stands on: other loops, other arguments.
  std::string argument_class(const SimState& at, std::size_t move) const {
    const auto& needs = task_.moves[move].needs;
    return state_.bottleneck + (needs && ((at.made >> *needs) & 1) == 0 ? " alone" : "");
  }

  void make(std::size_t move) {
    const Node from = nodes_[current_];
    const SimMove& m = task_.moves[move];
    Node child;
    child.at = apply_sim_move(task_, from.at, move);
    // A program has one measured time in a run, whoever finds it.
    const Rng program = rng_.split("program").split(child.at.made).split(child.at.weak).split(child.at.vain);
    child.measured = score_sim_state(task_, child.at) + task_.noise * program.split("time").normal();
    child.parent = current_;
    child.directions = {m.direction, from.directions[0]};
    child.locals = {m.local, from.locals[0]};
    const bool vain = child.at.vain != from.at.vain && ((child.at.vain >> move) & 1) != 0;
    const bool fails = m.broken || program.split("gate").uniform() < (vain ? kVainFailure : kFlaky);
    seen_.insert(child.at);
    add_row(from, child, move, fails);
    index_.count_at(m.direction, m.local, state_.program);
    if (mode_ != MemoryMode::random) index_.set_run(run_.rows);
    child.number = gains_.size() - 1;
    nodes_.push_back(child);
    if (fails) failed_.insert({move, argument_class(from.at, move)});
    if (!fails && child.measured > nodes_[best_].measured) best_ = nodes_.size() - 1;
    run_.best.push_back(std::max(0.0, score_sim_state(task_, nodes_[best_].at)));
    progress_.add(fails ? std::nullopt : std::optional(child.measured));
    if (!fails) current_ = nodes_.size() - 1;
    if (progress_.ended()) restart();
  }

  void add_row(const Node& from, const Node& child, std::size_t move, bool fails) {
    const SimMove& m = task_.moves[move];
    const TakenStep step{id_, gains_.size(), from.number, m.direction, m.local, {}, argument_class(from.at, move)};
    Evidence row = fails ? make_evidence(state_, step, EvidenceKind::failed, "mismatch", 0, kImplementer)
                         : make_evidence(state_, step, EvidenceKind::passed, "ok", child.measured - from.measured, kImplementer);
    gains_.push_back(row.gain);
    parents_.push_back(static_cast<std::int64_t>(from.number));
    failures_.push_back(fails);
    run_.rows.push_back(std::move(row));
    const std::vector<double> credits = credit_tree(gains_, parents_, failures_, parameters_.credit_fade);
    for (std::size_t k = 0; k < run_.rows.size(); ++k) run_.rows[k].credit = credits[k + 1];
  }

  void start_at(std::size_t node) {
    current_ = node;
    progress_ = TrajectoryProgress(nodes_[node].measured);
  }

  // To the best program, one on its path, or the root; false where nothing is left anywhere.
  bool restart() {
    std::vector<std::size_t> path;
    for (std::size_t at = best_; at != 0; at = nodes_[at].parent) path.push_back(at);
    const std::size_t kept = choose_trajectory_start(path.size(), choices_.split("restart").split(restarts_++));
    start_at(kept == 0 ? 0 : path[path.size() - kept]);
    if (!find_options().empty()) return true;
    for (std::size_t k = nodes_.size(); k-- > 0;) {
      if (failures_[nodes_[k].number]) continue;
      start_at(k);
      if (!find_options().empty()) return true;
    }
    return false;
  }

  const SimTask& task_;
  const PolicyParameters& parameters_;
  MemoryMode mode_;
  Rng rng_, choices_;
  DecisionState state_;
  EvidenceIndex index_;
  std::string id_;
  SimRun run_;
  std::vector<Node> nodes_;
  std::set<SimState> seen_;
  std::set<std::pair<std::size_t, std::string>> failed_;
  std::vector<double> gains_{0};
  std::vector<std::int64_t> parents_{-1};
  std::vector<bool> failures_{false};
  std::size_t current_ = 0, best_ = 0;
  std::uint64_t restarts_ = 0;
  TrajectoryProgress progress_;
};

}  // namespace

DecisionState make_sim_decision(const SimTask& task) {
  DecisionState state;
  state.task = task.mark;
  state.device = kDevice;
  state.now = kNow;
  return state;
}

std::size_t SimRun::evaluations_to(double score) const {
  for (std::size_t k = 0; k < best.size(); ++k) {
    if (best[k] >= score) return k + 1;
  }
  return 2 * best.size();
}

double SimRun::area() const { return best.empty() ? 0 : std::accumulate(best.begin(), best.end(), 0.0) / static_cast<double>(best.size()); }

SimRun run_simulation(const SimTask& task, const EvidenceSnapshot& snapshot, const PolicyParameters& parameters, MemoryMode mode, std::uint64_t seed,
                      std::size_t budget, std::vector<SimStep>* log) {
  return Walk(task, snapshot, parameters, mode, seed).run(budget, log);
}

std::vector<Evidence> build_sim_store(std::uint64_t world, int tasks, std::size_t budget) {
  constexpr MemoryMode kBuilders[] = {MemoryMode::random, MemoryMode::ucb, MemoryMode::feedback};
  const PolicyParameters parameters;
  std::vector<Evidence> store;
  for (int family = 0; family < kSimFamilies; ++family) {
    for (int number = 0; number < tasks; ++number) {
      const SimTask task = make_sim_task(world, family, number);
      const MemoryMode mode = kBuilders[number % 3];
      const EvidenceSnapshot nothing({}, make_sim_decision(task), parameters, mode);
      SimRun run = run_simulation(task, nothing, parameters, mode, world + 17, budget);
      store.insert(store.end(), std::make_move_iterator(run.rows.begin()), std::make_move_iterator(run.rows.end()));
    }
  }
  return store;
}

}  // namespace cairn
