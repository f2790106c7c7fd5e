// Greedy: b = 4; moves to the best child if the score rises by at least 0.01, else restarts from the best
// state not yet expanded, then from the root (search-and-memory.md "Algorithms").
#include <algorithm>
#include <set>

#include "search/algorithms.h"

namespace cairn {

namespace {
constexpr std::size_t kProposals = 4;
constexpr double kRise = 0.01;

// The best state that was not expanded, or null.
const SearchState* pick_unexpanded(const SearchEngine& engine, const std::set<std::uint64_t>& expanded) {
  const SearchState* pick = nullptr;
  for (const SearchState& s : engine.states()) {
    if (expanded.count(s.id) != 0) continue;
    if (!pick || s.score > pick->score) pick = &s;
  }
  return pick;
}
}  // namespace

Result<void> run_greedy(SearchEngine& engine) {
  std::set<std::uint64_t> expanded;
  const SearchState* current = &engine.root();
  while (engine.open()) {
    expanded.insert(current->id);
    CAIRN_TRY(const auto children, engine.expand(*current, kProposals));
    const SearchState* best = nullptr;
    for (const SearchState* child : children) {
      if (!best || child->score > best->score) best = child;
    }
    if (best && best->score >= current->score + kRise) {
      current = best;
      continue;
    }
    if (const SearchState* other = pick_unexpanded(engine, expanded)) {
      current = other;
    } else {
      if (children.empty()) engine.note_restart();
      current = &engine.root();
      expanded.clear();
    }
  }
  return {};
}

}  // namespace cairn
