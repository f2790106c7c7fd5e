// Trajectories, as HTAM walks them: a step that passes is the next state whatever its score, so that a move which only enables
// another can pay. One goes on as long as it gets better; the next begins at the best state, at one on the way there, or at the root.
#include "search/trajectory.h"

#include "search/algorithms.h"

namespace cairn {

namespace {

constexpr int kSteps = 20, kFailures = 3, kPatience = 3;

// Where the next trajectory begins.
const SearchState& choose_start(const SearchEngine& engine, Rng rng) {
  std::vector<const SearchState*> path;   // the best state and what it stands on, the root left out
  for (const SearchState* at = &engine.best(); at->id != engine.root().id; at = engine.state(at->parent)) path.push_back(at);
  const std::size_t kept = choose_trajectory_start(path.size(), rng);
  return kept == 0 ? engine.root() : *path[path.size() - kept];
}

}  // namespace

void TrajectoryProgress::add(std::optional<double> score) {
  steps_ += 1;
  failures_ = score ? 0 : failures_ + 1;
  idle_ += 1;
  if (score && *score > highest_) highest_ = *score, idle_ = 0;
}

bool TrajectoryProgress::ended() const { return steps_ >= kSteps || failures_ >= kFailures || idle_ >= kPatience; }

std::size_t choose_trajectory_start(std::size_t length, Rng rng) {
  const std::uint64_t where = rng.below(4);
  if (where < 2) return length;
  return where == 2 && length > 0 ? length - rng.below(length) : 0;
}

Result<void> run_trajectory(SearchEngine& engine) {
  const SearchState* current = &engine.root();
  TrajectoryProgress progress(current->score);
  std::uint64_t started = 0;
  while (engine.open()) {
    CAIRN_TRY(const std::vector<Child> children, engine.expand_all({{current, 1}}));
    const SearchState* passed = children.empty() ? nullptr : children[0].state;
    progress.add(passed ? std::optional(passed->score) : std::nullopt);
    if (passed) current = passed;
    // Nothing new to propose here ends the trajectory too: it will not change.
    if (!children.empty() && !progress.ended()) continue;
    if (children.empty()) engine.note_restart();
    current = &choose_start(engine, engine.rng().split("trajectory").split(++started));
    progress = TrajectoryProgress(current->score);
  }
  return {};
}

}  // namespace cairn
