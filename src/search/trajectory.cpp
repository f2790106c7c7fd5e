// Trajectories, as HTAM walks them: a step that passes is the next state whatever its score, so that a move which only enables
// another can pay. One goes on as long as it gets better: it ends after 3 failures in a row, 3 steps without a new best of its own,
// or 20 steps. The next begins at the best state (half of the time), at one on the way there, or at the root.
#include "search/algorithms.h"

namespace cairn {

namespace {

constexpr int kSteps = 20, kFailures = 3, kPatience = 3;

// Where the next trajectory begins.
const SearchState& choose_start(const SearchEngine& engine, Rng rng) {
  const std::uint64_t where = rng.below(4);
  if (where < 2) return engine.best();
  if (where == 3) return engine.root();
  std::vector<const SearchState*> path;   // the best state and what it stands on, the root left out
  for (const SearchState* at = &engine.best(); at->id != engine.root().id; at = engine.state(at->parent)) path.push_back(at);
  return path.empty() ? engine.root() : *path[rng.below(path.size())];
}

}  // namespace

Result<void> run_trajectory(SearchEngine& engine) {
  const SearchState* current = &engine.root();
  double highest = current->score;
  int steps = 0, failures = 0, idle = 0;
  std::uint64_t started = 0;
  while (engine.open()) {
    CAIRN_TRY(const std::vector<Child> children, engine.expand_all({{current, 1}}));
    steps += 1;
    idle += 1;
    // Nothing new to propose here ends the trajectory: it will not change.
    failures += children.empty() ? kFailures : 1;
    if (!children.empty() && children[0].state) {
      current = children[0].state;
      failures = 0;
      if (current->score > highest) highest = current->score, idle = 0;
    }
    if (steps < kSteps && failures < kFailures && idle < kPatience) continue;
    if (children.empty()) engine.note_restart();
    current = &choose_start(engine, engine.rng().split("trajectory").split(++started));
    highest = current->score;
    steps = failures = idle = 0;
  }
  return {};
}

}  // namespace cairn
