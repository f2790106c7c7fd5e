#include "search/algorithms.h"

namespace cairn {

const std::vector<Algorithm>& all_algorithms() {
  static const std::vector<Algorithm> algorithms{
      {"chain", "one proposal a state, to depth 20; starts again after 6 failures", run_chain},
      {"greedy", "4 proposals a state; moves when the score rises by 0.01, else restarts from the next best state",
       run_greedy},
      {"beam", "the 2 best of children and parents go on, 4 proposals each", run_beam},
      {"bfs", "3 proposals a state, level by level to depth 4, then deeper", run_bfs},
      {"dfs", "3 proposals a state, first child first to depth 4, then deeper", run_dfs},
      {"mcts", "a tree with widening; edges by their mean value and visits", run_mcts},
      {"random", "one proposal at a random state: the control", run_random},
      {"trajectory", "6 steps on from whatever passes; then from the root, or from the best half of the time", run_trajectory},
      {"evolve", "a population of 8 traces, mutated and crossed by replay", run_evolve},
  };
  return algorithms;
}

const Algorithm* find_algorithm(std::string_view name) {
  for (const Algorithm& a : all_algorithms()) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

}  // namespace cairn
