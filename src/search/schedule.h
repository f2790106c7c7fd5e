// A schedule under construction: actions applied one after another, refusals remembered. Ranking uses it
// without verifying each step; what is proposed is replayed with every check.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "strategy/strategy.h"

namespace cairn {

// What strategies gave, by the actions that led there from one start: choices for a nest begin alike. One thread at a time.
class ApplyMemo {
 public:
  struct Known {
    std::optional<Program> after;   // or
    std::string refusal;
  };
  const Known* find(const Digest& path) const;
  void store(const Digest& path, Known known) { known_.emplace(path, std::move(known)); }

 private:
  std::unordered_map<Digest, Known> known_;
};

class Schedule {
 public:
  // With `memo`, which schedules from the same start share, nothing is applied twice at the same place.
  Schedule(Program start, const Target& target, ApplyMemo* memo = nullptr)
      : program_(std::move(start)), target_(&target), memo_(memo) {}
  const Program& program() const { return program_; }
  const Target& target() const { return *target_; }
  const std::vector<Action>& actions() const { return actions_; }
  // Applies a strategy; false (and nothing changes) if it refuses.
  bool apply(const char* strategy, Args args);
  // Message of the last refusal.
  const std::string& refusal() const { return refusal_; }
  // Forgets everything after the first `count` actions; `program` is what they led to.
  struct Mark { Program program; std::size_t actions; Digest path; };
  Mark mark() const { return {program_, actions_.size(), path_}; }
  void rewind(const Mark& m);

 private:
  Program program_;
  const Target* target_;
  std::vector<Action> actions_;
  std::string refusal_;
  ApplyMemo* memo_;
  Digest path_;   // of the actions, kept with a memo only
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
