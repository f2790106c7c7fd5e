// The evidence row of a committed proposal, as searches and the simulator write it.
#pragma once
#include <string>

#include "memory/policy.h"

namespace cairn {

// The step that was taken, and from where in its run.
struct TakenStep {
  std::string run;
  std::uint64_t number = 0, parent = 0;   // of proposals
  std::string direction, local, arguments, argument_class;
};
// Its row, not credited yet, taken at a state that knows task, bottleneck, path, device and now. A `passed` one gained `gain` and
// was executed; others gain nothing and have no certificate.
Evidence make_evidence(const DecisionState& at, const TakenStep& step, EvidenceKind kind, std::string_view outcome, double gain,
                       const std::string& implementer);

}  // namespace cairn
