// A schedule under construction: actions applied one after another, refusals remembered. Ranking uses it
// without verifying each step; what is proposed is replayed with every check.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "strategy/strategy.h"

namespace cairn {

class Schedule {
 public:
  Schedule(Program start, const Target& target) : program_(std::move(start)), target_(&target) {}
  const Program& program() const { return program_; }
  const Target& target() const { return *target_; }
  const std::vector<Action>& actions() const { return actions_; }
  // Applies a strategy; false (and nothing changes) if it refuses.
  bool apply(const char* strategy, Args args);
  // Message of the last refusal.
  const std::string& refusal() const { return refusal_; }
  // Forgets everything after the first `count` actions; `program` is what they led to.
  struct Mark { Program program; std::size_t actions; };
  Mark mark() const { return {program_, actions_.size()}; }
  void rewind(const Mark& m);

 private:
  Program program_;
  const Target* target_;
  std::vector<Action> actions_;
  std::string refusal_;
};

// Loops of a top-level statement, in text order, with their paths.
struct LoopSite {
  StmtPath path;
  const Stmt* loop = nullptr;
  bool innermost = false;
};
std::vector<LoopSite> loops_of_nest(const Program& program, std::size_t nest);
// The chain of loops from the top of a nest down to the first place with several statements or an equation.
std::vector<const Stmt*> band_of_nest(const Program& program, std::size_t nest);
// Address of the loop of this variable in the nest: "NEST.VAR".
std::string address_in(std::size_t nest, const std::string& var);

}  // namespace cairn
