// Proposals for a state: one action or a sequence of which only the end is evaluated (cpu.md, search spec).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/rng.h"
#include "eval/evaluator.h"
#include "strategy/trace.h"

namespace cairn {

inline constexpr int kProposerVersion = 1;

// A program reached in a search.
struct SearchState {
  std::uint64_t id = 0;              // number of the proposal that made it; 0 the root
  std::uint64_t parent = 0;
  Program program;
  Digest hash;
  std::vector<Action> trace;         // from the root
  std::vector<std::size_t> edges;    // lengths of the proposals along the trace
  double score = 0;                  // log(t_naive / t)
  double seconds = 0;
  int depth = 0;                     // proposals from the root
};

struct Proposal {
  std::vector<Action> actions;
  Program after;                     // end of the sequence, already applied
  std::vector<Step> steps;
  double predicted_seconds = 0;
  std::string origin;                // "cost-model", "enumerate", ...
  std::string template_name;         // composites: the general template's name
};

// Makes ranked proposals. Deterministic in (state, count, rng).
class Proposer {
 public:
  virtual ~Proposer() = default;
  virtual std::string name() const = 0;
  virtual std::vector<Proposal> propose(const SearchState& state, std::size_t count, Rng rng) = 0;
};

}  // namespace cairn
