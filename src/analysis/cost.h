// The CPU cost model (cpu.md "Cost model"): ranks un-lowered programs, thousands a second.
#pragma once
#include <string>
#include <vector>

#include "analysis/target.h"
#include "ir/program.h"

namespace cairn {

// Predicted time of one top-level nest and what limits it.
struct NestCost {
  double seconds = 0;
  double compute = 0, l1 = 0, l2 = 0, memory = 0, overhead = 0;  // seconds each would take alone
  double flops = 0, bytes = 0;
  std::string bound;   // "compute" "latency" "l1" "l2" "memory" "overhead"
};
struct ProgramCost {
  double seconds = 0;
  std::vector<NestCost> nests;
};
ProgramCost predict_cost(const Program& program, const Target& target);

// The floor no correct program can beat: each in/param/io/out byte once over measured bandwidth, and the
// operations of the naive program over the measured peak (verification.md 5).
double roofline_floor(const Program& naive, const Target& target);
// Floating-point operations of the program as written.
double count_flops(const Program& program);

}  // namespace cairn
