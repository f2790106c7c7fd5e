// The tile template: register tiles, cache blocks, staged operands, vectors, threads: the path of cpu.md for
// any nest with reuse.
#include <algorithm>

#include "analysis/affine.h"
#include "analysis/cost_internal.h"
#include "ir/interval.h"
#include "ir/self_update.h"
#include "ir/subscripts.h"
#include "ir/walk.h"
#include "search/templates.h"

namespace cairn {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The only equation below a band, through tests; null if there are several statements.
const Stmt* only_equation(const Stmt& s) {
  const Stmt* at = &s;
  while (!at->is_equation()) {
    if (at->body.size() != 1) return nullptr;
    at = at->body[0].get();
  }
  return at;
}

struct Read {
  std::string tensor;
  const std::vector<ExprPtr>* subscripts;
};

std::vector<Read> reads_of(const Expr& e, const Expr* skip) {
  std::vector<Read> reads;
  visit_expr(e, [&](const Expr& x) {
    if (&x == skip) return false;
    if (x.op == Op::read) reads.push_back({x.name, &x.args});
    return x.op != Op::read;
  });
  return reads;
}

std::string join(const std::vector<std::string>& items, char separator) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : std::string(1, separator)) + item;
  return text;
}

// Reorders the nest's band to `order` unless it has it already.
bool reorder(Schedule& schedule, std::size_t nest, const std::vector<std::string>& order) {
  std::vector<std::string> now;
  for (const Stmt* loop : band_of_nest(schedule.program(), nest)) now.push_back(loop->var);
  if (now == order) return true;
  std::vector<std::string> addresses;
  for (const std::string& var : order) addresses.push_back(address_in(nest, var));
  return schedule.apply("loop_reorder", Args{{"order", join(addresses, '+')}});
}

// A panel of this operand is transposed if its last subscript does not move with the lane.
const char* panel_order(const Program& program, std::size_t nest, const std::string& tensor, const std::string& lane) {
  for (const EquationRef& ref : collect_equations({program.body()[nest]})) {
    for (const Read& read : reads_of(*ref.equation->rhs, nullptr)) {
      if (read.tensor == tensor && !read.subscripts->empty() && !uses_var(*read.subscripts->back(), lane)) return "1x0";
    }
  }
  return "-";
}

// Drops the tail tests of the tile's update on these loops where its operands are staged with padding.
void pad_tile(Schedule& schedule, std::size_t nest, const std::vector<std::string>& vars) {
  for (const std::string& var : vars) {
    for (const EquationRef& ref : collect_equations(schedule.program().body())) {
      const Tensor* target = schedule.program().find(ref.equation->tensor);
      if (ref.path[0] != nest || !target || target->role != Role::tmp || !match_self_update(*ref.equation)) continue;
      const std::string address = equation_address(schedule.program().body(), ref.path);
      if (schedule.apply("pad_to_tile", Args{{"equation", address}, {"loop", address_in(nest, var)}})) break;
    }
  }
}

}  // namespace

std::optional<ReuseNest> match_reuse_nest(const Program& program, std::size_t nest) {
  const std::vector<const Stmt*> band = band_of_nest(program, nest);
  if (band.size() < 3) return std::nullopt;
  for (const Stmt* loop : band) {
    if (loop->kind != LoopKind::L || loop->mark.type != LoopMark::Type::none) return std::nullopt;
  }
  const Stmt* equation = only_equation(*program.body()[nest]);
  if (!equation) return std::nullopt;
  const auto update = match_self_update(*equation);
  if (!update) return std::nullopt;
  auto shapes = infer_shapes(program);
  if (!shapes.ok()) return std::nullopt;
  const std::vector<Read> reads = reads_of(*equation->rhs, update->self);
  ReuseNest match;
  match.result = equation->tensor;
  const Tensor* tensor = program.find(equation->tensor);
  match.element_bytes = tensor ? static_cast<int>(dtype_bytes(tensor->dtype)) : 4;
  std::vector<const Stmt*> spatial, reduction;
  for (const Stmt* loop : band) (subscripts_use(equation->subscripts, loop->var) ? spatial : reduction).push_back(loop);
  if (reduction.empty() || spatial.size() < 2) return std::nullopt;
  const auto shape = shapes->find(equation->tensor);
  if (shape == shapes->end()) return std::nullopt;
  const Stmt* lane = nullptr;
  for (const Stmt* loop : spatial) {
    const auto stride = cost::stride_of(equation->subscripts, shape->second, loop->var);
    if (stride && *stride == 1) lane = loop;
  }
  if (!lane) return std::nullopt;
  // The row loop: not in some operand that moves with the lane, so that the lane's vector is used again.
  const Stmt* row = nullptr;
  for (const Stmt* loop : spatial) {
    if (loop == lane) continue;
    const bool reused = std::any_of(reads.begin(), reads.end(), [&](const Read& r) {
      return subscripts_use(*r.subscripts, lane->var) && !subscripts_use(*r.subscripts, loop->var);
    });
    if (reused && (!row || loop->extent >= row->extent)) row = loop;
  }
  if (!row) return std::nullopt;
  const Stmt* depth = reduction.back();
  for (const Stmt* loop : reduction) {
    if (loop->extent > depth->extent) depth = loop;
  }
  for (const Stmt* loop : spatial) {
    if (loop == lane || loop == row) continue;
    match.outer.push_back(loop->var);
    match.outer_extent *= loop->extent;
  }
  for (const Stmt* loop : reduction) {
    if (loop != depth) match.reductions.push_back(loop->var);
  }
  match.row = row->var;
  match.lane = lane->var;
  match.depth = depth->var;
  match.row_extent = row->extent;
  match.lane_extent = lane->extent;
  match.depth_extent = depth->extent;
  for (const Read& r : reads) {
    const bool with_lane = subscripts_use(*r.subscripts, lane->var);
    if (!with_lane && !subscripts_use(*r.subscripts, row->var)) continue;
    auto& operands = with_lane ? match.lane_operands : match.row_operands;
    if (!contains(operands, r.tensor)) operands.push_back(r.tensor);
  }
  return match;
}

bool apply_tile(Schedule& schedule, std::size_t nest, const NestChoice& choice) {
  const auto match = match_reuse_nest(schedule.program(), nest);
  if (!match) return false;
  const ReuseNest m = *match;
  // 1. canonical order: outer, row, lane, other reductions, depth
  std::vector<std::string> order = m.outer;
  order.insert(order.end(), {m.row, m.lane});
  order.insert(order.end(), m.reductions.begin(), m.reductions.end());
  order.push_back(m.depth);
  if (!reorder(schedule, nest, order)) return false;

  // 2. register tile and reduction block
  const std::int64_t rows = std::min(choice.rows, m.row_extent), lanes = std::min(choice.lanes, m.lane_extent),
                     depth = std::min(choice.depth, m.depth_extent);
  const bool split_row = rows < m.row_extent, split_lane = lanes < m.lane_extent, split_depth = depth < m.depth_extent;
  std::string row_point = m.row, lane_point = m.lane, depth_point = m.depth;
  if (split_row || split_lane || split_depth) {
    const std::vector<std::string> tiled{address_in(nest, m.row), address_in(nest, m.lane), address_in(nest, m.depth)};
    const std::string sizes = std::to_string(rows) + "x" + std::to_string(lanes) + "x" + std::to_string(depth);
    if (!schedule.apply("loop_tiling", Args{{"loops", join(tiled, '+')}, {"sizes", sizes}, {"tail", choice.peel ? "peel" : "guard"}})) {
      return false;
    }
    // Point loops are the names that are new, in the order row, lane, depth of those that were split.
    std::vector<std::string> fresh;
    for (const Stmt* loop : band_of_nest(schedule.program(), nest)) {
      if (!contains(order, loop->var)) fresh.push_back(loop->var);
    }
    std::size_t next = 0;
    for (const auto& [split, point] : {std::pair{split_row, &row_point}, {split_lane, &lane_point}, {split_depth, &depth_point}}) {
      if (!split) continue;
      if (next == fresh.size()) return false;
      *point = fresh[next++];
    }
  }

  // 3. the parallel loop: an outer loop, or blocks of row or lane tiles, one a core
  const int cores = schedule.target().cores;
  std::string parallel, inner_row = split_row ? m.row : "", inner_lane = split_lane ? m.lane : "";
  const auto split_for_cores = [&](const std::string& var, std::int64_t tiles, std::string* inner) {
    if (tiles <= 1) return false;
    const std::int64_t block = (tiles + cores - 1) / cores;
    parallel = var;
    if (block <= 1) {
      inner->clear();
      return true;
    }
    std::vector<std::string> before;
    for (const Stmt* loop : band_of_nest(schedule.program(), nest)) before.push_back(loop->var);
    if (!schedule.apply("loop_split", Args{{"loop", address_in(nest, var)}, {"factor", std::to_string(block)}})) return false;
    for (const Stmt* loop : band_of_nest(schedule.program(), nest)) {
      if (!contains(before, loop->var)) *inner = loop->var;
    }
    return true;
  };
  if (choice.parallel == NestChoice::Axis::outer && !m.outer.empty()) parallel = m.outer.front();
  if (choice.parallel == NestChoice::Axis::row && split_row && cores > 1) {
    if (!split_for_cores(m.row, (m.row_extent + rows - 1) / rows, &inner_row)) return false;
  }
  if (choice.parallel == NestChoice::Axis::lane && split_lane && cores > 1) {
    if (!split_for_cores(m.lane, (m.lane_extent + lanes - 1) / lanes, &inner_lane)) return false;
  }

  // 4. outer, parallel blocks, reduction block, lane tiles, row tiles, other reductions, register tile
  std::vector<std::string> loops = m.outer;
  if (!parallel.empty() && !contains(loops, parallel)) loops.push_back(parallel);
  const std::string depth_tile = split_depth ? m.depth : "";
  for (const std::string& var : {depth_tile, inner_lane, inner_row}) {
    if (!var.empty() && !contains(loops, var)) loops.push_back(var);
  }
  const std::string innermost_tile = loops.empty() ? "" : loops.back();
  loops.insert(loops.end(), m.reductions.begin(), m.reductions.end());
  loops.insert(loops.end(), {depth_point, row_point, lane_point});
  if (!reorder(schedule, nest, loops)) return false;

  // 5. the result's tile in registers; operands as panels where asked
  if (!innermost_tile.empty()) {
    if (!schedule.apply("cache_read_write", Args{{"tensor", m.result}, {"loop", address_in(nest, innermost_tile)}, {"scope", "l"}, {"mode", "write"}})) {
      return false;
    }
    const std::string row_place = !depth_tile.empty() ? depth_tile : !parallel.empty() ? parallel : innermost_tile;
    if (choice.stage_rows) {
      for (const std::string& tensor : m.row_operands) {
        schedule.apply("cache_read_write", Args{{"tensor", tensor}, {"loop", address_in(nest, row_place)}, {"scope", "s"}, {"mode", "read"}});
      }
    }
    if (choice.stage_lanes && !inner_lane.empty()) {
      for (const std::string& tensor : m.lane_operands) {
        Args panel{{"tensor", tensor}, {"loop", address_in(nest, inner_lane)}, {"scope", "s"}, {"mode", "read"}};
        Args transposed = panel;
        transposed.set("order", panel_order(schedule.program(), nest, tensor, lane_point));
        if (!schedule.apply("cache_read_write", std::move(transposed))) schedule.apply("cache_read_write", std::move(panel));
      }
    }
    pad_tile(schedule, nest, {row_point, lane_point});
  }

  // 6. vectors, registers, threads
  finish_innermost(schedule, nest, lanes);
  if (!parallel.empty() && !schedule.apply("loop_parallelization", Args{{"loop", address_in(nest, parallel)}, {"kind", "P"}})) return false;
  return true;
}

}  // namespace cairn
