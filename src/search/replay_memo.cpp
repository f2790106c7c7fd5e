#include "search/replay_memo.h"

#include <fmt/core.h>

namespace cairn {

namespace {
constexpr std::size_t kKept = 8192;   // steps; one is a few kilobytes, its statements are shared
}

Result<Step> ReplayMemo::apply(Place* place, const Action& action) {
  const Digest path = digest_bytes(place->path.hex() + print_action(action));
  auto known = steps_.find(path);
  if (known == steps_.end()) {
    ++applied_;
    if (steps_.size() >= kKept) steps_.clear();
    known = steps_.emplace(path, apply_action(place->program, target_, action)).first;
  } else {
    ++reused_;
  }
  if (known->second) *place = {path, known->second->after};
  return known->second;
}

Result<std::vector<Step>> ReplayMemo::replay(const std::vector<Action>& actions) {
  std::vector<Step> steps;
  Place place = root();
  for (const Action& action : actions) {
    Result<Step> step = apply(&place, action);
    if (!step) {
      Error error = std::move(step.error());
      error.message = fmt::format("step {} ({}): {}", steps.size() + 1, print_action(action), error.message);
      return error;
    }
    steps.push_back(*std::move(step));
  }
  return steps;
}

}  // namespace cairn
