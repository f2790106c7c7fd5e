// Sequences of actions: composite proposals of which only the end is evaluated (cpu.md "Composite proposals").
//
// How new loops are named, so that later actions can address them: a loop that is split or tiled keeps its name outside;
// point loops, and the loops of copies, get fresh names in the order that Step::created lists. All loops of one copy
// pair share names: the load is NEST.g, the store NEST.g#1.
#pragma once
#include <string>
#include <vector>

#include "strategy/strategy.h"

namespace cairn {

// What a sequence did. `actions` are those that applied, with all names filled in.
struct Sequence {
  std::vector<Action> actions;
  std::vector<Step> steps;
  std::vector<std::string> skipped;  // optional lines that were refused, with the reason
  Program end;
  Exactness exactness = Exactness::exact;  // the weakest of the steps
};

// Applies lines such as
//   loop_tiling(loops=0.i+0.j, sizes=12x32)
//   loop_reorder(order=0.i+0.j+0.k+0.$1.0+0.$1.1)
//   ?loop_unrolling(loop=0.$1.0)
// in order, verifying each. `$K.N` stands for name N (from 0) that line K (from 1) created; a leading `?` makes a line
// optional: refused, it is skipped (and later `$K.N` of it are refused). Stops at the first other refusal, naming the line.
Result<Sequence> apply_sequence(const Program& program, const Target& target, const std::vector<std::string>& lines);

// Addresses of all loops with that variable, in text order.
std::vector<std::string> find_loops_named(const Program& program, std::string_view var);

}  // namespace cairn
