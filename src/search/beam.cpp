// Beam: k = 2, b = 4 over children and parents; ties by proposal number; states of distinct strategy
// multisets are kept (search-and-memory.md "Algorithms").
#include <algorithm>
#include <map>
#include <string>

#include "search/algorithms.h"

namespace cairn {

namespace {
constexpr std::size_t kWidth = 2;
constexpr std::size_t kProposals = 4;

std::map<std::string, int> strategy_multiset(const SearchState& state) {
  std::map<std::string, int> counts;
  for (const Action& action : state.trace) ++counts[action.strategy];
  return counts;
}

// The kWidth best of the pool by score, distinct multisets first, filled up with the best of the rest.
std::vector<const SearchState*> select_frontier(std::vector<const SearchState*> pool) {
  std::stable_sort(pool.begin(), pool.end(), [](const auto* a, const auto* b) {
    return a->score != b->score ? a->score > b->score : a->id < b->id;
  });
  pool.erase(std::unique(pool.begin(), pool.end()), pool.end());
  std::vector<const SearchState*> frontier, rest;
  std::vector<std::map<std::string, int>> multisets;
  for (const SearchState* s : pool) {
    auto multiset = strategy_multiset(*s);
    const bool known = std::find(multisets.begin(), multisets.end(), multiset) != multisets.end();
    if (!known && frontier.size() < kWidth) {
      frontier.push_back(s);
      multisets.push_back(std::move(multiset));
    } else {
      rest.push_back(s);
    }
  }
  for (const SearchState* s : rest) {
    if (frontier.size() >= kWidth) break;
    frontier.push_back(s);
  }
  return frontier;
}
}  // namespace

Result<void> run_beam(SearchEngine& engine) {
  std::vector<const SearchState*> frontier{&engine.root()};
  while (engine.open()) {
    std::vector<const SearchState*> pool = frontier;
    bool any = false;
    for (const SearchState* s : frontier) {
      CAIRN_TRY(const auto children, engine.expand(*s, kProposals));
      any |= !children.empty();
      pool.insert(pool.end(), children.begin(), children.end());
      if (!engine.open()) break;
    }
    frontier = select_frontier(std::move(pool));
    if (!any) {
      engine.note_restart();
      frontier = {&engine.root()};
    }
  }
  return {};
}

}  // namespace cairn
