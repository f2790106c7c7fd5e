// How far a trajectory goes on and where the next one begins: for the search and for the memory's simulator.
#pragma once
#include <cstddef>
#include <optional>

#include "base/rng.h"

namespace cairn {

// The steps of one trajectory: it goes on as long as it gets better.
class TrajectoryProgress {
 public:
  // Begins at a state of this score.
  explicit TrajectoryProgress(double score = 0) : highest_(score) {}
  // One step: the score of what passed, nothing for a failure.
  void add(std::optional<double> score);
  // After 3 failures in a row, 3 steps without a new best of its own, or 20 steps.
  bool ended() const;

 private:
  double highest_;
  int steps_ = 0, failures_ = 0, idle_ = 0;
};

// How many of the `length` steps to the best state the next trajectory keeps: all (half of the time), some, or none.
std::size_t choose_trajectory_start(std::size_t length, Rng rng);

}  // namespace cairn
