// Traces: the actions that led from a program to another; they replay.
#pragma once
#include <string>
#include <vector>

#include "strategy/strategy.h"

namespace cairn {

// Text form: one action a line, `%` comments; the first line `% cairn trace 1`, then `% from HASH`.
struct Trace {
  Digest from;
  std::vector<Action> actions;
};
std::string print_trace(const Trace& trace);
Result<Trace> parse_trace(std::string_view text, const std::string& file = "<trace>");

// The program after each step; the first refusal stops it, with the step's number.
struct Replay {
  std::vector<Program> programs;   // programs[0] is the start
  std::vector<Step> steps;
};
Result<Replay> replay_trace(const Program& start, const Target& target, const std::vector<Action>& actions);

}  // namespace cairn
