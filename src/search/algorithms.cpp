#include "search/algorithms.h"

namespace cairn {

const std::vector<Algorithm>& all_algorithms() {
  static const std::vector<Algorithm> algorithms{
      {"greedy", "4 proposals a state; moves when the score rises by 0.01, else restarts from the next best state",
       run_greedy},
      {"beam", "the 2 best of children and parents go on, 4 proposals each", run_beam},
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
