// Random: one proposal at a state drawn uniformly from those that passed, the root included: the control of the others.
#include "search/algorithms.h"

namespace cairn {

Result<void> run_random(SearchEngine& engine) {
  Rng rng = engine.rng().split("random");
  while (engine.open()) {
    const SearchState& state = engine.states()[rng.below(engine.states().size())];
    CAIRN_TRY(const std::vector<Child> children, engine.expand_all({{&state, 1}}));
    if (children.empty()) engine.note_restart();
  }
  return {};
}

}  // namespace cairn
