// Flow facts that several strategies, and the verifier, ask of the same program.
#pragma once
#include <memory>

#include "analysis/access.h"
#include "analysis/flow.h"

namespace cairn {

// The flow facts of a program, shared with whoever asks about the same program (the same statements, an equal tensor
// table) next: a thread keeps the last few programs.
std::shared_ptr<FlowAnalysis> flow_of(const Program& program);
// collect_accesses(program), shared in the same way.
std::shared_ptr<const std::vector<Access>> accesses_of(const Program& program);

}  // namespace cairn
