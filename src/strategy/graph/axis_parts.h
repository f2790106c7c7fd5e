// Joining nests along an axis and cutting one: what the two strategies ask of each other to find their inverses.
#pragma once
#include "strategy/strategy.h"

namespace cairn {

// Nests of the program's body with the axis at one place in each (path within the nest, 0 for the nest itself first).
struct AxisGroup {
  std::vector<std::uint32_t> nests;
  StmtPath axis;
};
// tensor_concat_to_fuse_operators without its inverse.
Result<Step> join_nests(const Program& program, const AxisGroup& group);
std::string axes_text(const Program& program, const AxisGroup& group);
// tensor_split_to_decouple_operators without copies and without its inverse.
Result<Step> cut_nest(const Program& program, const Target& target, const StmtPath& loop, std::int64_t at);

}  // namespace cairn
