// Nests along an axis: groups that may be joined, and what the strategies that join and cut ask of each other.
#pragma once
#include "strategy/strategy.h"

namespace cairn {

// Nests of the program's body with the axis at one place in each (path within the nest, empty for the nest itself).
struct AxisGroup {
  std::vector<std::uint32_t> nests;
  StmtPath axis;
};
// The group that `axes=0.a+1.c` names; refusals carry condition (1).
Result<AxisGroup> find_group(const Program& program, const Args& args);
std::string axes_text(const Program& program, const AxisGroup& group);
// Candidates: each nest with the next two of its form (names, literals and the axis' extents left out), and all nests of
// a form together, along every loop that `wanted` accepts in the first.
std::vector<AxisGroup> list_groups(const Program& program, bool (*wanted)(const Stmt& nest, const StmtPath& axis));

// The program with independent nests one after another from `first` on; refusals carry condition (2).
struct Gathered {
  Program program;
  std::uint32_t first = 0;
};
Result<Gathered> gather(const Program& program, const std::vector<std::uint32_t>& nests);

// The loop at `loop` over `extent` of its iterations, from iteration `from` on; and its nest around it, null if nothing of
// it runs there.
StmtPtr loop_part(const Program& program, const StmtPath& loop, std::int64_t from, std::int64_t extent);
StmtPtr nest_part(const Program& program, const StmtPath& loop, std::int64_t from, std::int64_t extent);

// tensor_concat_to_fuse_operators without its inverse.
Result<Step> join_nests(const Program& program, const AxisGroup& group);
// tensor_split_to_decouple_operators without copies and without its inverse.
Result<Step> cut_nest(const Program& program, const Target& target, const StmtPath& loop, std::int64_t at);

}  // namespace cairn
