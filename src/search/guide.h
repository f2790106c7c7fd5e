// A guide learns from every committed proposal of a run; the memory implements it (memory/guide.h).
#pragma once
#include <string>

#include "search/proposer.h"

namespace cairn {

inline constexpr int kGuideVersion = 2;

// What happened to one committed proposal. The pointers are valid during the call.
struct StepOutcome {
  std::uint64_t proposal = 0;
  std::uint64_t parent = 0;
  const Proposal* made = nullptr;
  const SearchState* from = nullptr;   // the parent's state
  const EvalResult* result = nullptr;
  Digest program;                      // canonical hash of the end
  double gain = 0;                     // score minus the parent's; 0 if it failed
};

class Guide {
 public:
  virtual ~Guide() = default;
  virtual std::string name() const = 0;
  // A failure (of the memory's file) ends the run.
  virtual Result<void> observe(const StepOutcome& outcome) = 0;
};

}  // namespace cairn
