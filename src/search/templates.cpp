#include "search/templates.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "analysis/cost.h"
#include "ir/canon.h"
#include "ir/self_update.h"
#include "ir/walk.h"

namespace cairn {

std::string NestChoice::text() const {
  const char* axes[] = {"none", "outer", "row", "lane"};
  const char* axis = axes[static_cast<std::size_t>(parallel)];
  if (kind == Kind::keep) return "keep";
  if (kind == Kind::tile) {
    return fmt::format("tile {}x{}x{}{}{} parallel {}", rows, lanes, depth, stage_rows ? " stage-rows" : "",
                       stage_lanes ? " stage-lanes" : "", axis);
  }
  return fmt::format("sweep {}{}{} parallel {}", lanes, local_temporaries ? " local" : "", rotate ? " rotate" : "", axis);
}

std::vector<NestChoice> list_choices(const Program& program, std::size_t nest, const Target& target) {
  std::vector<NestChoice> choices;
  const auto lanes_of = [&target](int bytes) {
    return static_cast<std::int64_t>(target.vector_bytes.empty() ? 16 / bytes : target.vector_bytes.back() / bytes);
  };
  if (const auto match = match_reuse_nest(program, nest)) {
    std::vector<NestChoice::Axis> axes;
    if (target.cores == 1) axes.push_back(NestChoice::Axis::none);
    else if (match->outer_extent >= target.cores) axes.push_back(NestChoice::Axis::outer);
    if (target.cores > 1 && match->row_extent >= 2 * target.cores) axes.push_back(NestChoice::Axis::row);
    if (target.cores > 1 && match->lane_extent >= 32 * target.cores) axes.push_back(NestChoice::Axis::lane);
    if (axes.empty()) axes.push_back(NestChoice::Axis::none);
    for (const Target::RegisterTile& tile : target.register_tiles(match->element_bytes)) {
      for (const std::int64_t depth : {256, 128, 512}) {
        for (const NestChoice::Axis axis : axes) {
          for (const auto& [rows, lanes] : {std::pair{false, true}, {true, true}, {false, false}}) {
            NestChoice c;
            c.kind = NestChoice::Kind::tile;
            c.rows = tile.rows;
            c.lanes = tile.lanes;
            c.depth = depth;
            c.stage_rows = rows;
            c.stage_lanes = lanes;
            c.parallel = axis;
            choices.push_back(c);
          }
        }
      }
    }
  }
  int bytes = 4;
  bool reduces = false;
  for (const EquationRef& ref : collect_equations(Body{program.body()[nest]})) {
    if (const Tensor* t = program.find(ref.equation->tensor)) bytes = static_cast<int>(std::max<std::int64_t>(1, dtype_bytes(t->dtype)));
    reduces |= match_self_update(*ref.equation).has_value();
  }
  const std::int64_t lanes = lanes_of(bytes);
  for (const std::int64_t width : {lanes, 4 * lanes, 2 * lanes, std::int64_t{1}}) {
    for (const bool rotate : {false, true}) {
      if (rotate && !reduces) continue;
      for (const bool local : {true, false}) {
        for (const NestChoice::Axis axis : {NestChoice::Axis::outer, NestChoice::Axis::none}) {
          if (axis == NestChoice::Axis::outer && target.cores == 1) continue;
          NestChoice c;
          c.kind = NestChoice::Kind::sweep;
          c.lanes = width;
          c.local_temporaries = local;
          c.rotate = rotate;
          c.parallel = axis;
          choices.push_back(c);
        }
      }
    }
  }
  choices.push_back(NestChoice{});
  return choices;
}

std::vector<RankedChoice> rank_choices(const Program& program, std::size_t nest, const Target& target) {
  std::vector<RankedChoice> ranked;
  std::set<Digest> known;
  ApplyMemo memo;
  for (const NestChoice& choice : list_choices(program, nest, target)) {
    Schedule schedule(program, target, &memo);
    if (!apply_choice(schedule, nest, choice)) continue;
    const Digest hash = canonical_hash(schedule.program());
    if (!known.insert(hash).second) continue;
    ranked.push_back({choice, predict_cost(schedule.program(), target).seconds, schedule.actions(), hash});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return ranked;
}

bool apply_choice(Schedule& schedule, std::size_t nest, const NestChoice& choice) {
  const auto start = schedule.mark();
  bool done = true;
  switch (choice.kind) {
    case NestChoice::Kind::keep: break;
    case NestChoice::Kind::tile: done = apply_tile(schedule, nest, choice); break;
    case NestChoice::Kind::sweep: done = apply_sweep(schedule, nest, choice); break;
  }
  if (!done) schedule.rewind(start);
  return done;
}

}  // namespace cairn
