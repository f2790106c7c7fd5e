// The named workloads that strategies are counted and compared on, and the states a search meets them in.
#pragma once
#include <string>
#include <vector>

#include "strategy/strategy.h"

namespace cairn {

// A workload in one state: as imported, after inlining, after inlining and fusing, or after a prepared sequence.
struct WorkloadState {
  std::string workload;
  std::string state;   // "imported", "inlined", "fused", or the name of a prepared state
  Program program;
};

// Every compute_inline site applied, then again, until none is left.
Program inline_everything(const Program& program, const Target& target);
// inline_everything(), then neighbouring nests fused, first site first.
Program fuse_everything(const Program& program, const Target& target);

// All DIR/*.leir in the order of their names, each in the states above (a state equal to an earlier one of the same
// workload is left out), then the prepared states of DIR/states.txt:
//   STATE = WORKLOAD
//     action
//     ...
// with the lines of sequence.h. Errors name the file and line.
Result<std::vector<WorkloadState>> load_workloads(const std::string& directory, const Target& target);

}  // namespace cairn
