#include "memory/simulation.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace cairn {

namespace {

constexpr int kDepth = 8;
constexpr int kPairs = 3;
constexpr double kEnabling = -0.04;   // log gain of a move that only enables another
constexpr std::int64_t kNow = 1'800'000'000;
const char* const kDirections[] = {"fusion", "algebra", "memory_access", "data_reuse", "parallelism", "throughput", "precision", "launch"};
const char* const kBottlenecks[] = {"memory", "compute", "latency"};
const std::map<std::string, std::vector<std::string>>& sim_triggers() {
  static const std::map<std::string, std::vector<std::string>> kTriggers{
      {"fusion", {"memory", "latency"}}, {"algebra", {"compute"}},      {"memory_access", {"memory"}}, {"data_reuse", {"memory"}},
      {"parallelism", {"compute"}},      {"throughput", {"compute"}},   {"precision", {"compute"}},    {"launch", {"latency"}}};
  return kTriggers;
}
const DeviceMark kDevice{"simulated", "simulated", "simulated"};

// A state of a task: which moves were made, and the log speed-up that is true of it.
struct SimState {
  std::uint64_t made = 0;
  double score = 0;
  std::vector<double> shares;
};

std::size_t heaviest(const std::vector<double>& shares) {
  return static_cast<std::size_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
}

// Applies a move: where its bottleneck limits it pays in full and relieves that class.
SimState apply_move(const SimTask& task, const SimState& state, std::size_t move) {
  SimState next = state;
  const SimMove& m = task.moves[move];
  const bool again = (state.made >> move) & 1;
  const bool ready = std::all_of(m.needs.begin(), m.needs.end(), [&](std::size_t n) { return (state.made >> n) & 1; });
  next.made |= std::uint64_t{1} << move;
  if (again) return next;
  const bool fits = m.bottleneck.empty() || task.shares[heaviest(state.shares)].first == m.bottleneck;
  const double gain = !ready ? -0.03 : m.gain > 0 && !fits ? 0.1 * m.gain : m.gain;
  next.score += gain;
  if (gain > 0 && fits && !m.bottleneck.empty()) {
    next.shares[heaviest(state.shares)] *= std::exp(-2 * gain);
    double total = 0;
    for (const double s : next.shares) total += s;
    for (double& s : next.shares) s /= total;
  }
  return next;
}

SimState start_of(const SimTask& task) {
  SimState state;
  for (const auto& [name, share] : task.shares) state.shares.push_back(share);
  return state;
}

// Best score within kDepth moves, by beam over true scores: an optimum in all but pathological cases.
double find_optimum(const SimTask& task) {
  std::vector<SimState> beam{start_of(task)};
  double best = 0;
  for (int depth = 0; depth < kDepth; ++depth) {
    std::map<std::uint64_t, SimState> reached;   // by moves made: the best order of them
    for (const SimState& s : beam) {
      for (std::size_t m = 0; m < task.moves.size(); ++m) {
        SimState t = apply_move(task, s, m);
        if (t.made == s.made) continue;
        const auto [it, fresh] = reached.try_emplace(t.made, t);
        if (!fresh && t.score > it->second.score) it->second = std::move(t);
      }
    }
    std::vector<SimState> next;
    for (auto& [made, s] : reached) next.push_back(std::move(s));
    std::stable_sort(next.begin(), next.end(), [](const SimState& a, const SimState& b) { return a.score > b.score; });
    if (next.size() > 400) next.resize(400);
    for (const SimState& s : next) best = std::max(best, s.score);
    beam = std::move(next);
  }
  return best;
}

}  // namespace

SimTask make_sim_task(std::uint64_t seed, int family, int number) {
  // The recipe belongs to the family, its strengths to the task.
  Rng recipe = Rng(seed).split("family").split(static_cast<std::uint64_t>(family));
  Rng own = Rng(seed).split("task").split(static_cast<std::uint64_t>(family * 100000 + number));
  SimTask task;
  task.mark.name = fmt::format("f{}t{}", family, number);
  task.mark.family = fmt::format("family{}", family);
  task.mark.features = {static_cast<double>(family), 6 + 4 * own.uniform(), 6 + 4 * own.uniform()};
  for (std::size_t b = 0; b < std::size(kBottlenecks); ++b) task.shares.emplace_back(kBottlenecks[b], 0);
  const std::size_t first = recipe.below(std::size(kBottlenecks));
  double total = 0;
  for (std::size_t b = 0; b < task.shares.size(); ++b) total += task.shares[b].second = (b == first ? 1.0 : 0.35) * (0.8 + 0.4 * own.uniform());
  for (auto& [name, share] : task.shares) share /= total;
  // Three moves a direction; most give little, and each family has its own few that pay.
  for (std::size_t d = 0; d < std::size(kDirections); ++d) {
    for (int k = 0; k < 3; ++k) {
      SimMove m;
      m.direction = kDirections[d];
      m.local = fmt::format("{}_{}", kDirections[d], k);
      const auto& named = sim_triggers().at(m.direction);
      m.bottleneck = named[recipe.below(named.size())];
      const double draw = recipe.uniform();
      m.gain = (draw < 0.25 ? 0.5 + 0.4 * recipe.uniform() : draw < 0.7 ? 0.05 + 0.1 * recipe.uniform() : -0.1 * recipe.uniform());
      m.failure = 0.2 + 0.4 * recipe.uniform();
      if (m.gain > 0) m.gain *= 0.75 + 0.5 * own.uniform();
      task.moves.push_back(std::move(m));
    }
  }
  // Three pairs: a move that loses a little, and a strong one that stands on it.
  std::set<std::size_t> taken;
  const auto draw_free = [&] {
    std::size_t at = recipe.below(task.moves.size());
    while (!taken.insert(at).second) at = recipe.below(task.moves.size());
    return at;
  };
  for (int pair = 0; pair < kPairs; ++pair) {
    SimMove& enabling = task.moves[draw_free()];
    const auto place = static_cast<std::size_t>(&enabling - task.moves.data());
    SimMove& strong = task.moves[draw_free()];
    enabling.gain = kEnabling;
    strong.gain = (0.7 + 0.4 * recipe.uniform()) * (0.8 + 0.4 * own.uniform());
    enabling.bottleneck.clear();
    strong.bottleneck.clear();
    strong.needs = {place};
  }
  task.optimum = find_optimum(task);
  return task;
}

std::size_t SimRun::evaluations_to(double score) const {
  for (std::size_t k = 0; k < best.size(); ++k) {
    if (best[k] >= score) return k + 1;
  }
  return 2 * best.size();
}

SimRun run_simulation(const SimTask& task, const std::vector<Evidence>& store, const PolicyParameters& parameters, MemoryMode mode,
                      std::uint64_t seed, std::size_t budget) {
  Rng rng = Rng(seed).split(task.mark.name).split(memory_mode_name(mode));
  DecisionState state;
  state.task = task.mark;
  state.device = kDevice;
  state.now = kNow;
  EvidenceIndex index(store, state, parameters, mode);
  struct Node {
    SimState at;
    double measured = 0;
    std::uint64_t number = 0;
    Prefix directions, locals;
    int depth = 0;
  };
  SimRun run;
  std::vector<Node> nodes(1);
  nodes[0].at = start_of(task);
  nodes[0].directions[0] = nodes[0].locals[0] = kStartNode;
  std::vector<double> gains{0};
  std::vector<std::int64_t> parents{-1};
  std::vector<bool> failed{false};
  std::size_t current = 0, best_node = 0;
  std::set<std::string> tried;
  int failures = 0;
  const std::string run_id = fmt::format("{}-{}-{}", task.mark.name, memory_mode_name(mode), seed);
  while (run.best.size() < budget) {
    const Node from = nodes[current];
    state.bottleneck = task.shares[heaviest(from.at.shares)].first;
    state.time_shares.clear();
    for (std::size_t b = 0; b < task.shares.size(); ++b) state.time_shares[task.shares[b].first] = from.at.shares[b];
    state.directions = from.directions;
    state.locals = from.locals;
    state.program = digest_bytes(fmt::format("{}", from.at.made));
    index.set_bottleneck(state.bottleneck);
    std::vector<LocalOption> options;
    for (std::size_t m = 0; m < task.moves.size(); ++m) {
      if ((from.at.made >> m) & 1) continue;
      LocalOption option;
      option.direction = task.moves[m].direction;
      option.local = task.moves[m].local;
      // The cost model sees the immediate gain, badly; the same number whenever it is asked.
      Rng model = Rng(seed).split("model").split(task.mark.name).split(from.at.made * 64 + m);
      option.predicted_gain = apply_move(task, from.at, m).score - from.at.score + task.model_noise * model.normal();
      option.failed_before = std::any_of(run.rows.begin(), run.rows.end(), [&](const Evidence& row) {
        return row.kind == EvidenceKind::failed && row.local == option.local && row.argument_class == state.bottleneck;
      });
      options.push_back(std::move(option));
    }
    if (options.empty()) {
      current = 0;
      continue;
    }
    const Decision decision = decide(index, state, options, sim_triggers(), parameters, mode, rng.split(run.best.size()));
    const auto move = static_cast<std::size_t>(std::find_if(task.moves.begin(), task.moves.end(), [&](const SimMove& m) { return m.local == decision.local; }) - task.moves.begin());
    const SimMove& m = task.moves[move];
    tried.insert(m.local);
    const bool ready = std::all_of(m.needs.begin(), m.needs.end(), [&](std::size_t n) { return (from.at.made >> n) & 1; });
    Node child;
    child.at = apply_move(task, from.at, move);
    child.measured = child.at.score + task.noise * rng.normal();
    child.depth = from.depth + 1;
    child.directions = {m.direction, from.directions[0]};
    child.locals = {m.local, from.locals[0]};
    const bool fails = rng.uniform() < (ready ? 0.05 : m.failure);
    Evidence row;
    row.run = run_id;
    row.number = gains.size();
    row.parent = from.number;
    row.id = evidence_id(run_id, row.number);
    row.task = task.mark;
    row.bottleneck = row.argument_class = state.bottleneck;
    row.direction = m.direction;
    row.local = m.local;
    row.directions = from.directions;
    row.locals = from.locals;
    row.kind = fails ? EvidenceKind::failed : EvidenceKind::passed;
    row.outcome = fails ? "mismatch" : "ok";
    row.certificate = fails ? "" : "executed";
    row.gain = fails ? 0 : child.measured - from.measured;
    row.device = kDevice;
    row.implementer = "strategy@simulated";
    row.date = kNow;
    gains.push_back(row.gain);
    parents.push_back(static_cast<std::int64_t>(from.number));
    failed.push_back(fails);
    run.rows.push_back(std::move(row));
    const std::vector<double> credits = credit_tree(gains, parents, failed);
    for (std::size_t k = 0; k < run.rows.size(); ++k) run.rows[k].credit = credits[k + 1];
    index.count_at(m.direction, m.local, state.program);
    index.set_run(run.rows);
    failures = fails ? failures + 1 : 0;
    child.number = gains.size() - 1;
    nodes.push_back(child);
    if (!fails && child.measured > nodes[best_node].measured) best_node = nodes.size() - 1;
    run.best.push_back(std::max(0.0, nodes[best_node].at.score));
    if (!fails) current = nodes.size() - 1;
    if (child.depth >= kDepth || failures >= 3) {
      current = rng.below(2) == 0 && nodes[best_node].depth < kDepth ? best_node : 0;
      failures = 0;
    }
  }
  run.distinct = tried.size();
  return run;
}

std::vector<Evidence> build_sim_store(std::uint64_t seed, int tasks, std::size_t budget) {
  std::vector<Evidence> store;
  for (int family = 0; family < kSimFamilies; ++family) {
    for (int number = 0; number < tasks; ++number) {
      const SimTask task = make_sim_task(seed, family, number);
      SimRun run = run_simulation(task, {}, {}, MemoryMode::ucb, seed + 17, budget);
      store.insert(store.end(), run.rows.begin(), run.rows.end());
    }
  }
  return store;
}

}  // namespace cairn
