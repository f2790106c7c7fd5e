// Proposals for a state: one action or a sequence of which only the end is evaluated (cpu.md, search spec).
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "eval/evaluator.h"
#include "strategy/trace.h"

namespace cairn {

inline constexpr int kProposerVersion = 2;

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
  std::uint64_t decision = 0;        // of the guide that led to it (memory/guide.h); 0: none
  std::uint64_t base = 0;            // id of the state that `actions` start from: the expanded one or an ancestor
};

// What a proposer is told besides the state.
struct ProposeContext {
  std::size_t count = 4;                            // proposals wanted
  Rng rng{0};
  std::function<bool(const Digest&)> seen;          // already evaluated in this run: pointless to propose again
  std::function<const SearchState*(std::uint64_t)> state_of;  // a committed state by id, or null
  // Told of each proposal that a strategy or the verifier refuses: it costs a proposal and nothing else. May be empty.
  std::function<void(const Error&)> on_refused;
  void refuse(const Error& error) const { if (on_refused) on_refused(error); }
  // Told of each step that is refused and left out of a proposal made of the others: it costs nothing. May be empty.
  std::function<void(const Error&)> on_left_out;
  void leave_out(const Error& error) const { if (on_left_out) on_left_out(error); }
};

// Makes ranked proposals, best first; fewer than asked for when it has no more. Deterministic in its arguments
// and in what was committed before.
class Proposer {
 public:
  virtual ~Proposer() = default;
  virtual std::string name() const = 0;
  virtual std::vector<Proposal> propose(const SearchState& state, const ProposeContext& context) = 0;
};

}  // namespace cairn
