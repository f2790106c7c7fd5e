// Greedy: b = 4; moves to the best child if the score rises by at least 0.01, else restarts from the second-best
// unexpanded state, then from the root (search-and-memory.md "Algorithms").
//
// The best is where the climb ended: the state just expanded, or its best child where that rose by too little to be
// moved to. The second-best is the best unexpanded state after it. Were the best unexpanded one taken in any case, the climb
// would go on to the child that was just declined, and the limit of 0.01 would decide nothing. Were the second of all unexpanded
// ones taken, a climb that ended at its top would pass over the best start that is left.
#include <algorithm>
#include <set>

#include "search/algorithms.h"

namespace cairn {

namespace {
constexpr std::size_t kProposals = 4;
constexpr double kRise = 0.01;

// The best state that was not expanded, `declined` left out; or null.
const SearchState* pick_unexpanded(const SearchEngine& engine, const std::set<std::uint64_t>& expanded, const SearchState* declined) {
  const SearchState* pick = nullptr;
  for (const SearchState& s : engine.states()) {
    if (&s == declined || expanded.count(s.id) != 0) continue;
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
    const SearchState* declined = best && best->score > current->score ? best : nullptr;
    if (const SearchState* other = pick_unexpanded(engine, expanded, declined)) {
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
