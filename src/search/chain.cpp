// Chain: b = 1, depth 20; a child that passes is the next state whatever its score, and 6 failures in a row start again
// from the root (search-and-memory.md "Algorithms").
#include "search/algorithms.h"

namespace cairn {

namespace {
constexpr int kDepth = 20;
constexpr int kFailures = 6;
}  // namespace

Result<void> run_chain(SearchEngine& engine) {
  const SearchState* current = &engine.root();
  int depth = 0, failures = 0;
  while (engine.open()) {
    CAIRN_TRY(const std::vector<Child> children, engine.expand_all({{current, 1}}));
    if (!children.empty() && children[0].state) {
      current = children[0].state;
      ++depth;
      failures = 0;
    } else {
      // Nothing new to propose here counts as six failures: it will not change.
      failures += children.empty() ? kFailures : 1;
    }
    if (depth < kDepth && failures < kFailures) continue;
    engine.note_restart();
    current = &engine.root();
    depth = failures = 0;
  }
  return {};
}

}  // namespace cairn
