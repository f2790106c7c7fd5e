// A guide picks the direction of the next step and learns from outcomes; memory implements it later.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "search/proposer.h"

namespace cairn {

inline constexpr int kGuideVersion = 1;

// What happened to one committed proposal.
struct StepOutcome {
  std::uint64_t proposal = 0;
  std::uint64_t parent = 0;
  std::vector<Action> actions;
  EvalResult result;
  double gain = 0;                   // score minus the parent's; 0 if it failed
};

class Guide {
 public:
  virtual ~Guide() = default;
  virtual std::string name() const = 0;
  // The direction to prefer at a state, or nullopt for no preference.
  virtual std::optional<Direction> direct(const SearchState& state, Rng rng) = 0;
  // Reorders or filters proposals; default keeps them.
  virtual std::vector<Proposal> rank(const SearchState&, std::vector<Proposal> proposals, Rng) { return proposals; }
  virtual void observe(const StepOutcome& outcome) = 0;
};

}  // namespace cairn
