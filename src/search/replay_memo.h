// Sequences of actions from one root, applied with every check: what two of them begin with is applied and checked once.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "strategy/trace.h"

namespace cairn {

// Applying an action is a function of the program and the action, so the actions from the root determine a program. One
// thread at a time.
class ReplayMemo {
 public:
  ReplayMemo(Program root, Target target) : root_(std::move(root)), target_(std::move(target)) {}

  // A program and the digest of the actions that led to it.
  struct Place {
    Digest path;
    Program program;
  };
  Place root() const { return {{}, root_}; }
  // apply_action at a place, which moves on unless it is refused. What was applied there before, refusals included, is
  // not applied again.
  Result<Step> apply(Place* place, const Action& action);
  // As replay_trace from the root: the steps, or the first refusal with its number.
  Result<std::vector<Step>> replay(const std::vector<Action>& actions);

  std::uint64_t applied() const { return applied_; }   // actions applied and verified
  std::uint64_t reused() const { return reused_; }     // actions that were known

 private:
  Program root_;
  Target target_;
  std::unordered_map<Digest, Result<Step>> steps_;
  std::uint64_t applied_ = 0, reused_ = 0;
};

}  // namespace cairn
