// What a decision knows of a program: operator family, sizes, and what limits it (search-and-memory.md "State summary").
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/target.h"
#include "ir/program.h"
#include "strategy/strategy.h"

namespace cairn {

// A program as a decision sees it. All numbers are predicted; nothing is measured.
struct StateSummary {
  std::string family;                          // family_of() of the program
  std::vector<std::string> tensors;            // "in A f32 4096x1024", inputs and outputs
  double flops = 0, bytes = 0;                 // one call; bytes: each in, param, io and out once
  double intensity = 0;                        // flops a byte
  double seconds = 0;                          // predicted
  std::string bottleneck;                      // class with the largest share: memory, compute, latency, launch
  std::map<std::string, double> time_shares;   // by class, sum 1
  std::size_t nests = 0;
};
StateSummary summarize_state(const Program& program, const Target& target);

// Operator family from structure alone: attention convolution product softmax normalization pooling scan reduction
// elementwise. It is taken from naive programs; a scheduled one may no longer show what it was.
std::string family_of(const Program& program);

// Features by which tasks are compared: log2 of flops, bytes, intensity, largest and smallest reduction extent, nests and
// outputs, in this order.
std::vector<double> task_features(const Program& naive, const Target& target);

// A step of the recent path, for prompts and decisions.
struct PathStep {
  std::string local;
  std::string outcome;     // outcome_name()
  double gain = 0;         // log speed-up over the step before
};
// The summary as one line of JSON with a fixed key order, under 600 tokens: long lists are cut and their length told.
std::string print_summary(const StateSummary& summary, const std::vector<PathStep>& path);

// Loop roles and log2 of sizes in an action's arguments: actions of one class do the same thing to different places. A loop
// is "row" or "sum" (a reduction), a tensor its role, a number its log2; choices stay.
std::string argument_class(const Program& program, const Action& action);

}  // namespace cairn
