// General schedule templates (cpu.md "Composite proposals"): each applies to any nest of a kind, never to an
// operator. A template lists its choices for a nest and applies one to a schedule.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "search/schedule.h"

namespace cairn {

// One choice of parameters of a template for a nest; prints as "tile 12x32x256 stage ac par row".
struct NestChoice {
  enum class Kind : std::uint8_t { keep, tile, sweep };
  Kind kind = Kind::keep;
  // tile: register rows and lanes, reduction block, operands staged, the loop that becomes parallel
  std::int64_t rows = 0, lanes = 0, depth = 0;
  bool stage_rows = false, stage_lanes = false;
  enum class Axis : std::uint8_t { none, outer, row, lane } parallel = Axis::none;
  bool peel = false;
  // sweep: vector length, local temporaries, spatial loops outermost
  bool local_temporaries = false, rotate = false;
  std::string text() const;
};

// A nest with reuse: a perfect band over one self-update with a reduction loop, a lane loop (unit stride in
// the result) and a row loop (in the result, and not in every operand).
struct ReuseNest {
  std::vector<std::string> outer;        // other loops of the result, outermost first
  std::vector<std::string> reductions;   // but `depth`
  std::string row, lane, depth;
  std::int64_t row_extent = 0, lane_extent = 0, depth_extent = 0, outer_extent = 1;
  std::string result;
  std::vector<std::string> row_operands;   // move with row (or depth), not with lane
  std::vector<std::string> lane_operands;  // move with lane
  int element_bytes = 4;
};
std::optional<ReuseNest> match_reuse_nest(const Program& program, std::size_t nest);

// Choices for a nest, in a fixed order; never empty (`keep` is last).
std::vector<NestChoice> list_choices(const Program& program, std::size_t nest, const Target& target);
// A choice for a nest and what it leads to when only this nest is scheduled.
struct RankedChoice {
  NestChoice choice;
  double seconds = 0;              // predicted for the whole program
  std::vector<Action> actions;     // empty: the program as it is
  Digest hash;                     // of the program it leads to
};
// The choices that the nest accepts, one for each resulting program, best predicted first.
std::vector<RankedChoice> rank_choices(const Program& program, std::size_t nest, const Target& target);
// Applies a choice; false if an essential step is refused (the schedule is then as before).
bool apply_choice(Schedule& schedule, std::size_t nest, const NestChoice& choice);

bool apply_tile(Schedule& schedule, std::size_t nest, const NestChoice& choice);
bool apply_sweep(Schedule& schedule, std::size_t nest, const NestChoice& choice);
// Vectorises every innermost loop of the nest that allows it (splitting it to `lanes` first) and unrolls the
// short loops around register tiles.
void finish_innermost(Schedule& schedule, std::size_t nest, std::int64_t lanes);

// Ways to restructure a program before nests are scheduled.
enum class Restructure : std::uint8_t { none, inline_only, fuse_only, inline_and_fuse };
std::string_view restructure_name(Restructure r);
void apply_restructure(Schedule& schedule, Restructure r);

}  // namespace cairn
