// Trajectories of at most 6 steps, as HTAM walks them (T = 6): a step that passes is the next state whatever its score, so that
// a move which only enables another can pay; 3 failures in a row end one. The next begins at the best state half of the time,
// else at the root.
#include "search/algorithms.h"

namespace cairn {

namespace {
constexpr int kSteps = 6;
constexpr int kFailures = 3;
}  // namespace

Result<void> run_trajectory(SearchEngine& engine) {
  const SearchState* current = &engine.root();
  int steps = 0, failures = 0;
  std::uint64_t started = 0;
  while (engine.open()) {
    CAIRN_TRY(const std::vector<Child> children, engine.expand_all({{current, 1}}));
    if (!children.empty() && children[0].state) {
      current = children[0].state;
      failures = 0;
    } else {
      // Nothing new to propose here ends the trajectory: it will not change.
      failures += children.empty() ? kFailures : 1;
    }
    if (++steps < kSteps && failures < kFailures) continue;
    if (children.empty()) engine.note_restart();
    Rng rng = engine.rng().split("trajectory").split(++started);
    current = rng.below(2) == 0 ? &engine.best() : &engine.root();
    steps = failures = 0;
  }
  return {};
}

}  // namespace cairn
