// Accumulators: elements that an innermost serial loop updates in place live in named variables meanwhile.
#include <algorithm>
#include <functional>

#include <fmt/core.h>

#include "base/check.h"
#include "lower/emitter.h"

namespace cairn {

namespace {
constexpr std::size_t kMaxTile = 64;   // scalars
constexpr std::size_t kMaxVectors = 32;

// A mention of a tensor inside the loop, with the unrolled and vector loops between.
struct Mention {
  const Stmt* equation = nullptr;
  const std::vector<ExprPtr>* subscripts = nullptr;
  bool write = false;
  std::vector<const Stmt*> inner;
};
struct Scan {
  std::map<std::string, std::vector<Mention>> mentions;
  bool simple = true;       // nothing but unrolled and vector loops, tests, equations
  bool tests = false;
};

void scan_reads(const Expr& root, const Stmt* equation, const std::vector<const Stmt*>& inner, Scan* scan) {
  visit_expr(root, [&](const Expr& e) {
    if (e.op == Op::read) scan->mentions[e.name].push_back({equation, &e.args, false, inner});
    return true;
  });
}

void scan_body(const Body& body, std::int64_t max_unroll, std::vector<const Stmt*>& inner, Scan* scan) {
  for (const StmtPtr& s : body) {
    if (s->is_equation()) {
      scan->mentions[s->tensor].push_back({s.get(), &s->subscripts, true, inner});
      scan_reads(*s->rhs, s.get(), inner, scan);
      for (const ExprPtr& sub : s->subscripts) scan_reads(*sub, s.get(), inner, scan);
      continue;
    }
    if (s->is_test()) {
      scan->tests = true;
      scan_reads(*s->cond, nullptr, inner, scan);
    } else if (s->kind != LoopKind::V && !is_unrolled_whole(*s, max_unroll)) {
      scan->simple = false;
    }
    if (s->is_loop()) inner.push_back(s.get());
    scan_body(s->body, max_unroll, inner, scan);
    if (s->is_loop()) inner.pop_back();
  }
}
}  // namespace

// Per tensor written in the loop: all its mentions at a common base plus constants (and lanes), none moving
// with the loop. `partial`: some iterations may do nothing, so an element may not be touched without need.
std::vector<RegisterTile> CEmitter::open_tiles(const Stmt& loop, bool partial, bool only_lane_sums) {
  std::vector<RegisterTile> tiles;
  Scan scan;
  std::vector<const Stmt*> inner;
  scan_body(loop.body, plan_.max_unroll, inner, &scan);
  if (!scan.simple || mode_ != LaneMode::scalar) return tiles;
  for (const auto& [name, mentions] : scan.mentions) {
    if (std::none_of(mentions.begin(), mentions.end(), [](const Mention& m) { return m.write; })) continue;
    if (auto tile = plan_tile(loop, name, partial || scan.tests, [&mentions = mentions](const MentionFn& visit) {
          for (const Mention& m : mentions) {
            if (!visit(m.equation, *m.subscripts, m.write, m.inner)) return false;
          }
          return true;
        });
        tile && (tile->lane_sum || !only_lane_sums)) {
      tiles.push_back(*std::move(tile));
    }
  }
  if (tiles.empty()) return tiles;
  open(std::string("{"));
  for (const RegisterTile& tile : tiles) load_tile(tile);
  tiles_.insert(tiles_.end(), tiles.begin(), tiles.end());
  return tiles;
}

std::optional<RegisterTile> CEmitter::plan_tile(const Stmt& loop, const std::string& name, bool guarded,
                                                const MentionVisitor& each_mention) {
  const Place& place = plan_.places.at(name);
  const bool registers = place.kind == Place::Kind::registers;
  if (!registers && find_tile(name) != nullptr) return std::nullopt;
  if (registers && find_tile(name)->lane_sum) return std::nullopt;
  RegisterTile tile;
  tile.tensor = name;
  std::optional<AffineTerms> base;
  std::set<std::int64_t> offsets;
  bool lane_mentions = false, reduced_over_lanes = false, plain = false;
  int lanes = 0;
  std::int64_t chunks = 1;
  const bool fits = each_mention([&](const Stmt* equation, const std::vector<ExprPtr>& subscripts, bool write,
                                     const std::vector<const Stmt*>& inner) {
    if (guarded && !registers && (in_parallel_ || !in_bounds_with(name, subscripts, inner, loop))) return false;
    AffineTerms outer;
    std::vector<std::pair<std::int64_t, std::int64_t>> unrolled;  // coef, extent
    std::int64_t constant = 0;
    int width = 0, vector_loops = 0;
    bool lane = false;
    for (const Stmt* s : inner) vector_loops += s->kind == LoopKind::V;
    if (vector_loops > 1) return false;
    for (const Stmt* s : inner) {
      if (s->kind == LoopKind::V) width = lanes_of(*s);
    }
    if (vector_loops == 1 && width == 0) return false;
    for (std::size_t d = 0; d < subscripts.size(); ++d) {
      if (place.strides[d] == 0) continue;
      const auto form = affine_terms(*subscripts[d]);
      if (!form) return false;
      constant += form->constant * place.strides[d];
      for (const auto& [var, coef] : form->terms) outer.terms[var] += coef * place.strides[d];
    }
    if (outer.coefficient(loop.var) != 0) return false;
    for (const Stmt* s : inner) {
      const auto it = outer.terms.find(s->var);
      if (it == outer.terms.end()) continue;
      if (s->kind == LoopKind::V) {
        if (it->second != 1) return false;
        lane = true;
        unrolled.emplace_back(width, s->extent / width);
      } else {
        unrolled.emplace_back(it->second, s->extent);
      }
      outer.terms.erase(it);
    }
    if (base && !(base->terms == outer.terms)) return false;
    if (!base) base = outer;
    if (width != 0 && (lane || write)) {
      if (lanes != 0 && lanes != width) return false;
      lanes = width;
    }
    lane_mentions |= lane;
    if (width != 0 && !lane) {
      const auto update = equation == nullptr || equation->tensor != name ? std::nullopt : match_self_update(*equation);
      if (!update || (reduced_over_lanes && tile.op != update->op)) return false;
      tile.op = update->op;
      for (const Stmt* s : inner) {
        if (s->kind == LoopKind::V) chunks = std::max(chunks, s->extent / width);
      }
      reduced_over_lanes = true;
    }
    plain |= width == 0;
    std::vector<std::int64_t> values{constant};
    for (const auto& [coef, extent] : unrolled) {
      std::vector<std::int64_t> next;
      for (const std::int64_t v : values) {
        for (std::int64_t i = 0; i < extent; ++i) next.push_back(v + coef * i);
      }
      values = std::move(next);
      if (values.size() > 4096) return false;
    }
    offsets.insert(values.begin(), values.end());
    return offsets.size() <= kMaxTile;
  });
  if (!fits || !base || (reduced_over_lanes && (lane_mentions || plain)) || (lane_mentions && plain)) return std::nullopt;
  if (registers && !reduced_over_lanes) return std::nullopt;
  tile.lanes = lane_mentions || reduced_over_lanes ? lanes : 0;
  tile.lane_sum = reduced_over_lanes;
  if (tile.lane_sum && chunks <= kUnrolledVectors && offsets.size() <= 4) tile.parts = static_cast<int>(std::min<std::int64_t>(chunks, 4));
  if (tile.lanes > 0 && offsets.size() > kMaxVectors) return std::nullopt;
  if (lane_mentions) {
    const std::int64_t first = *offsets.begin();
    for (const std::int64_t o : offsets) {
      if ((o - first) % lanes != 0) return std::nullopt;
    }
  }
  for (const auto& [var, coef] : base->terms) {
    const VarBinding* b = find_binding(var);
    IndexForm f;
    f.constant = b->offset;
    if (!b->text.empty()) f.terms.emplace_back(b->text, 1);
    if (b->lane) return std::nullopt;
    tile.base.add(f, coef);
  }
  // Offsets count from the first element, so that they are multiples of the lanes.
  tile.base.constant += *offsets.begin();
  int number = 0;
  for (const std::int64_t o : offsets) {
    const std::string stem = place.name + (offsets.size() == 1 ? "_acc" : fmt::format("_acc{}", number++));
    tile.names[o - *offsets.begin()] = stem;
  }
  return tile;
}

bool CEmitter::in_bounds_with(const std::string& tensor, const std::vector<ExprPtr>& subscripts,
                              const std::vector<const Stmt*>& inner, const Stmt& loop) const {
  VarRanges ranges = ranges_;
  ranges[loop.var] = {0, loop.extent - 1};
  for (const Stmt* s : inner) ranges[s->var] = {0, s->extent - 1};
  const Place& place = plan_.places.at(tensor);
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    const auto range = interval_of(*subscripts[d], ranges);
    if (!range || range->lo < 0 || range->hi >= place.full_shape[d]) return false;
  }
  return true;
}

void CEmitter::load_tile(const RegisterTile& tile) {
  const Place& place = plan_.places.at(tile.tensor);
  const Dtype dtype = place.tensor->dtype;
  const int saved = lanes_;
  lanes_ = tile.lanes;
  for (const auto& [offset, name] : tile.names) {
    IndexForm at = tile.base;
    at.constant += offset;
    const std::string index = print_index(at).text;
    if (tile.lane_sum) {
      for (int part = 0; part < tile.parts; ++part) {
        line(fmt::format("{} {} = {};", vector_type(dtype), part_name(tile, name, part), neutral_vector(tile)));
      }
    } else if (tile.lanes > 0) {
      line(fmt::format("{} {} = *(const {} *)&{}[{}];", vector_type(dtype), name, vector_type(dtype, true), place.name, index));
    } else {
      line(fmt::format("{} {} = {}[{}];", c_type(dtype), name, place.name, index));
    }
  }
  lanes_ = saved;
}

void CEmitter::close_tiles(const std::vector<RegisterTile>& tiles) {
  if (tiles.empty()) return;
  tiles_.resize(tiles_.size() - tiles.size());
  for (const RegisterTile& tile : tiles) {
    const Place& place = plan_.places.at(tile.tensor);
    const Dtype dtype = place.tensor->dtype;
    const int saved = lanes_;
    lanes_ = tile.lanes;
    for (const auto& [offset, name] : tile.names) {
      IndexForm at = tile.base;
      at.constant += offset;
      const std::string index = print_index(at).text;
      if (tile.lane_sum) {
        RegisterTile* held = find_tile(tile.tensor);
        const std::string element = held != nullptr ? tile_ref(*held, at, true)->lvalue : fmt::format("{}[{}]", place.name, index);
        const std::string sum = part_name(tile, name, 0);
        for (int part = 1; part < tile.parts; ++part) {
          line(combine_vectors(tile.op, dtype, sum, part_name(tile, name, part)));
        }
        line(combine_lanes(tile, element, sum));
      } else if (tile.lanes > 0) {
        line(fmt::format("*({} *)&{}[{}] = {};", vector_type(dtype, true), place.name, index, name));
      } else {
        line(fmt::format("{}[{}] = {};", place.name, index, name));
      }
    }
    lanes_ = saved;
  }
  close();
}

}  // namespace cairn
