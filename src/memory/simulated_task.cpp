// Simulated tasks: the moves, their prerequisites, what they pay in a family, and what limits when.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "memory/simulation.h"

namespace cairn {

namespace {

constexpr std::size_t kDepth = 24;   // all moves
constexpr std::size_t kBeam = 100;
constexpr int kLocals = 3;        // a direction
constexpr double kWeak = 0.1;     // what is left of the gain of a move made while another class limits
constexpr double kVain = 0.02;    // overhead of a move in vain
constexpr double kOdd = 0.05;     // share of moves that do not work in a task: uneven extents, an alignment that is not there
constexpr const char* kDirections[] = {"fusion", "algebra", "data_reuse", "memory_access", "parallelism", "throughput", "precision", "launch"};

std::size_t class_of(const std::string& name) {
  return static_cast<std::size_t>(std::find(std::begin(kSimClassNames), std::end(kSimClassNames), name) - std::begin(kSimClassNames));
}

// An enabling move and the one that stands on it, both of directions that are meant for one class. The same in every family.
struct Chain {
  std::size_t relieves = 0, enabling = 0, strong = 0;
};

std::vector<Chain> make_chains(const std::vector<SimMove>& moves, Rng rng) {
  std::vector<bool> used(moves.size(), false);
  const auto draw = [&](std::size_t relieves) {
    while (true) {
      const std::size_t at = rng.below(moves.size());
      const auto& named = sim_triggers().at(moves[at].direction);
      if (used[at] || std::find(named.begin(), named.end(), kSimClassNames[relieves]) == named.end()) continue;
      used[at] = true;
      return at;
    }
  };
  std::vector<Chain> chains(4);
  std::size_t relieves = rng.below(kSimClasses);
  for (Chain& chain : chains) {
    chain.relieves = relieves++ % kSimClasses;
    chain.enabling = draw(chain.relieves);
    chain.strong = draw(chain.relieves);
  }
  return chains;
}

std::array<double, kSimClasses> times_of(const SimTask& task, const SimState& state) {
  std::array<double, kSimClasses> times = task.start;
  for (std::size_t m = 0; m < task.moves.size(); ++m) {
    const SimMove& move = task.moves[m];
    if (((state.made & ~state.weak) >> m & 1) != 0 && move.relieves && move.gain > 0) times[*move.relieves] -= move.gain;
  }
  return times;
}

std::size_t limit_of(const SimTask& task, const SimState& state) {
  const auto times = times_of(task, state);
  return static_cast<std::size_t>(std::max_element(times.begin(), times.end()) - times.begin());
}

}  // namespace

const std::map<std::string, std::vector<std::string>>& sim_triggers() {
  static const std::map<std::string, std::vector<std::string>> kTriggers{
      {"fusion", {"memory", "latency"}},       {"algebra", {"compute"}},    {"memory_access", {"memory"}},        {"data_reuse", {"memory"}},
      {"parallelism", {"latency", "compute"}}, {"throughput", {"compute"}}, {"precision", {"memory", "compute"}}, {"launch", {"latency"}}};
  return kTriggers;
}

double find_sim_optimum(const SimTask& task) {
  std::vector<std::pair<double, SimState>> beam{{0, {}}};
  double best = 0;
  for (std::size_t depth = 0; depth < kDepth; ++depth) {
    std::set<SimState> reached;
    std::vector<std::pair<double, SimState>> next;
    for (const auto& [score, state] : beam) {
      for (std::size_t m = 0; m < task.moves.size(); ++m) {
        if (task.moves[m].broken) continue;
        const SimState t = apply_sim_move(task, state, m);
        if (t.made == state.made || !reached.insert(t).second) continue;
        next.emplace_back(score_sim_state(task, t), t);
      }
    }
    std::sort(next.begin(), next.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    if (next.size() > kBeam) next.resize(kBeam);
    if (!next.empty()) best = std::max(best, next.front().first);
    beam = std::move(next);
  }
  return best;
}

double score_sim_state(const SimTask& task, const SimState& state) {
  double score = 0;
  for (std::size_t m = 0; m < task.moves.size(); ++m) {
    const double gain = task.moves[m].gain;
    if ((state.made >> m) & 1) score += gain > 0 && ((state.weak >> m) & 1) != 0 ? kWeak * gain : gain;
    if ((state.vain >> m) & 1) score -= kVain;
  }
  return score;
}

std::array<double, kSimClasses> share_sim_state(const SimTask& task, const SimState& state) {
  std::array<double, kSimClasses> shares = times_of(task, state);
  double total = 0;
  for (double& s : shares) total += s = std::exp(s);
  for (double& s : shares) s /= total;
  return shares;
}

SimState apply_sim_move(const SimTask& task, const SimState& state, std::size_t move) {
  SimState next = state;
  const SimMove& m = task.moves[move];
  const std::uint64_t bit = std::uint64_t{1} << move;
  if (m.needs && ((state.made >> *m.needs) & 1) == 0) {
    next.vain |= bit;
    return next;
  }
  // What stands on it deserves another try.
  for (std::size_t k = 0; k < task.moves.size(); ++k) {
    if (task.moves[k].needs == move) next.vain &= ~(std::uint64_t{1} << k);
  }
  next.made |= bit;
  if (m.relieves && *m.relieves != limit_of(task, state)) next.weak |= bit;
  return next;
}

SimTask make_sim_task(std::uint64_t world, int family, int number) {
  const Rng root(world);
  Rng recipe = root.split("family").split(static_cast<std::uint64_t>(family));
  Rng own = root.split("task").split(static_cast<std::uint64_t>(family * 100000 + number));
  SimTask task;
  task.mark.name = fmt::format("f{}t{}", family, number);
  task.mark.family = fmt::format("family{}", family);
  // A family has its usual limit; the shape moves it, and so does what no feature tells.
  const std::size_t usual = recipe.below(kSimClasses);
  for (std::size_t c = 0; c < kSimClasses; ++c) {
    const double size = own.uniform();
    task.mark.features.push_back(4 * size);
    task.start[c] = (c == usual ? 1.0 : 0.0) + (size - 0.5) + (own.uniform() - 0.5);
  }
  for (const char* direction : kDirections) {
    const auto& named = sim_triggers().at(direction);
    for (int k = 0; k < kLocals; ++k) {
      SimMove m;
      m.direction = direction;
      m.local = fmt::format("{}_{}", direction, k);
      m.relieves = class_of(named[recipe.below(named.size())]);
      const double kind = recipe.uniform(), size = recipe.uniform(), strength = 0.75 + 0.5 * own.uniform();
      m.gain = kind < 0.3 ? (0.4 + 0.4 * size) * strength : kind < 0.7 ? 0.05 + 0.05 * size : -0.05 - 0.15 * size;
      // Some moves rarely work in a family.
      const double odd = recipe.uniform() < 0.15 ? 0.4 + 0.4 * recipe.uniform() : kOdd;
      m.broken = own.uniform() < odd;
      task.moves.push_back(std::move(m));
    }
  }
  for (const Chain& chain : make_chains(task.moves, root.split("chains"))) {
    const bool pays = recipe.uniform() < 0.6;
    const double loss = 0.02 + 0.04 * recipe.uniform(), size = recipe.uniform(), strength = 0.75 + 0.5 * own.uniform();
    SimMove& enabling = task.moves[chain.enabling];
    enabling.relieves.reset();
    enabling.gain = -loss;
    enabling.broken = own.uniform() < kOdd;
    SimMove& strong = task.moves[chain.strong];
    strong.relieves = chain.relieves;
    strong.needs = chain.enabling;
    strong.gain = (pays ? 0.8 + 0.4 * size : 0.05) * strength;
    strong.broken = own.uniform() < kOdd;
  }
  return task;
}

}  // namespace cairn
