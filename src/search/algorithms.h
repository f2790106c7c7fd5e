// Search algorithms over the engine: each decides only which state is expanded next.
#pragma once
#include <string_view>
#include <vector>

#include "search/engine.h"

namespace cairn {

struct Algorithm {
  std::string_view name;
  std::string_view summary;
  // Runs until the engine closes; refuses only on I/O errors of the journal.
  Result<void> (*run)(SearchEngine& engine);
};
const std::vector<Algorithm>& all_algorithms();
const Algorithm* find_algorithm(std::string_view name);

Result<void> run_chain(SearchEngine& engine);
Result<void> run_greedy(SearchEngine& engine);
Result<void> run_beam(SearchEngine& engine);
Result<void> run_bfs(SearchEngine& engine);
Result<void> run_dfs(SearchEngine& engine);
Result<void> run_mcts(SearchEngine& engine);
Result<void> run_random(SearchEngine& engine);
Result<void> run_trajectory(SearchEngine& engine);
Result<void> run_evolve(SearchEngine& engine);

}  // namespace cairn
