// loop_tiling: several loops of a band are split; tile loops stand outside, point loops inside.
//
//   L^{n}_{i=0}L^{m}_{j=0}[S(i,j)]  =>  L^{n/a}_{i=0}L^{m/c}_{j=0}L^{a}_{p=0}L^{c}_{q=0}[S(i*a+p,j*c+q)]
//
// Tile loops keep the names and stand, in band order, where the first tiled loop stood; the other loops and
// the point loops (fresh names, in band order) follow in the band's order. A size equal to the extent leaves
// its loop whole, inside. Uneven sizes: a test at the depth of the point loop (guard), or the rest of each
// axis as nests of their own with the same sizes (peel), or whole blocks of staged operands that are 0 outside their
// tensors, of which only the store is guarded (pad: cache_read_write and pad_to_tile in the innermost tile loop).
// tail=join takes tiles back: pairs of a tile and a point loop become one loop where the point loop stood.
//
// Legal when
// (1) the named loops belong to one band, at least two of them, of kind L, P or U and without marks,
// (2) each size lies between 1 and the extent, and at least one splits,
// (3) the part of the band from the first to the last of them is permutable, or the new order keeps every
//     dependence, those of one reduction excepted,
// (4) pad: the band holds one self-update, its result and the operands with an uneven axis can be staged, and what its
//     tests keep out then touches nothing that is read, or adds 0,
// (5) join: tile and point loops of one band, in pairs that collapse to the given extents.
// Exact when for each element the order of its self-updates is unchanged, else it reassociates (exact for
// max, min and integers).
#include <fmt/core.h>

#include <algorithm>

#include "ir/canon.h"
#include "ir/walk.h"
#include "strategy/edit/order.h"
#include "strategy/edit/refuse.h"
#include "strategy/edit/split.h"
#include "strategy/loop/tile_tail.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

struct Tiling {
  Band band;                          // from the first to the last tiled loop
  std::vector<std::int64_t> sizes;    // per loop of the band; 0: not split
  std::vector<std::string> points;    // name of the point loop; empty: not split
};

// A sub-band over one block of each axis: `origin` is added, extents may be shorter.
struct Part {
  std::vector<std::int64_t> origin, extent;
};

struct Tiled {
  std::vector<StmtPtr> loops;   // tile loops, then point and whole loops
  std::vector<ExprPtr> tests;
  Body body;
};

// Splits in place, tile and point loop adjacent: the same order of iterations as before.
Tiled tile_part(const Tiling& tiling, const Part& part, const std::vector<LoopRange>& above, bool adjacent) {
  const std::size_t n = tiling.band.loops.size();
  Substitution map;
  std::vector<LoopRange> ranges = above;
  std::vector<StmtPtr> tiles, points;
  Tiled out;
  for (std::size_t k = 0; k < n; ++k) {
    const Stmt& loop = *tiling.band.loops[k];
    const std::int64_t size = tiling.sizes[k], extent = part.extent[k];
    const bool split = size != 0 && extent > size;
    ExprPtr index = make_var(loop.var);
    std::string inner = loop.var;
    if (split) {
      const std::int64_t blocks = ceil_div(extent, size);
      inner = tiling.points[k];
      index = add_index(mul_index(index, size), make_var(inner));
      tiles.push_back(loop_like(loop, loop.kind, blocks, loop.var));
      ranges.push_back({loop.var, blocks});
      if (adjacent) out.loops.push_back(tiles.back());
      if (extent % size != 0) out.tests.push_back(less_than(index, extent));
    } else if (size != 0) {
      inner = tiling.points[k];
      index = make_var(inner);
    }
    const std::int64_t inner_extent = split ? size : extent;
    points.push_back(loop_like(loop, split ? inner_kind(loop) : loop.kind, inner_extent, inner));
    ranges.push_back({inner, inner_extent});
    if (adjacent) out.loops.push_back(points.back());
    if (part.origin[k] != 0) index = add_index(index, make_int(part.origin[k]));
    if (split || size != 0 || part.origin[k] != 0) map.emplace_back(loop.var, index);
  }
  if (!adjacent) {
    out.loops = tiles;
    out.loops.insert(out.loops.end(), points.begin(), points.end());
  }
  Body body = tiling.band.body;
  if (!tiling.band.tests.empty()) body = Body{make_test(join_conjunction(tiling.band.tests), std::move(body))};
  body = substitute_and_simplify(body, map, ranges, {});
  if (!tiling.band.tests.empty() && body.size() == 1 && body[0]->is_test()) {
    for (ExprPtr& test : split_conjunction(body[0]->cond)) out.tests.push_back(std::move(test));
    Body inner = body[0]->body;
    body = std::move(inner);
  }
  out.body = std::move(body);
  return out;
}

// All parts: whole blocks and rests of every axis, the outermost axis changing slowest.
std::vector<Part> list_parts(const Tiling& tiling, bool peel) {
  std::vector<Part> parts(1);
  for (std::size_t k = 0; k < tiling.sizes.size(); ++k) {
    const std::int64_t extent = tiling.band.loops[k]->extent, size = tiling.sizes[k];
    const std::int64_t rest = size == 0 || !peel ? 0 : extent % size;
    std::vector<Part> next;
    for (const Part& part : parts) {
      Part whole = part;
      whole.origin.push_back(0);
      whole.extent.push_back(extent - rest);
      next.push_back(std::move(whole));
      if (rest == 0) continue;
      Part tail = part;
      tail.origin.push_back(extent - rest);
      tail.extent.push_back(rest);
      next.push_back(std::move(tail));
    }
    parts = std::move(next);
  }
  return parts;
}

Result<Tiling> read_tiling(const Program& program, const Args& args) {
  const std::vector<std::string> names = args.get_list("loops");
  const std::vector<std::int64_t> sizes = args.get_ints("sizes");
  std::vector<StmtPath> paths;
  for (const std::string& name : names) {
    CAIRN_TRY(StmtPath path, find_loop(program.body(), name));
    paths.push_back(std::move(path));
  }
  std::vector<std::size_t> by_depth(paths.size());
  for (std::size_t k = 0; k < by_depth.size(); ++k) by_depth[k] = k;
  std::sort(by_depth.begin(), by_depth.end(), [&](std::size_t a, std::size_t b) { return paths[a].size() < paths[b].size(); });
  const StmtPath& top = paths[by_depth[0]];
  const SourcePos pos = stmt_at(program.body(), top)->pos;
  if (names.size() != sizes.size()) {
    return Error{Code::usage, fmt::format("loop_tiling: {} loops but {} sizes; give one size a loop", names.size(), sizes.size()), {}, {}};
  }
  Tiling tiling;
  const Band whole = band_at(program.body(), top);
  std::size_t last = 0, found = 0;
  std::vector<std::int64_t> all(whole.loops.size(), 0);
  for (std::size_t k = 0; k < whole.loops.size(); ++k) {
    for (const std::size_t at : by_depth) {
      if (stmt_at(program.body(), paths[at]) != whole.loops[k].get() || all[k] != 0) continue;
      all[k] = sizes[at];
      last = k;
      ++found;
      const Stmt& loop = *whole.loops[k];
      if (sizes[at] < 1 || sizes[at] > loop.extent) {
        return refuse(program, loop.pos, 2, fmt::format("loop {} has extent {}; its size must lie between 1 and {}, not be {}",
                                                        loop.var, loop.extent, loop.extent, sizes[at]));
      }
    }
  }
  if (found != names.size() || found < 2) {
    return refuse(program, pos, 1, fmt::format("{} of the {} named loops form one band from {} down; name two or more loops of "
                                               "one band, each once", found, names.size(), loop_address(program.body(), top)));
  }
  tiling.band = band_at(program.body(), top, last + 1);
  tiling.sizes.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  bool splits = false;
  for (std::size_t k = 0; k <= last; ++k) {
    const Stmt& loop = *tiling.band.loops[k];
    if (tiling.sizes[k] == loop.extent) tiling.sizes[k] = 0;
    splits |= tiling.sizes[k] != 0;
    const bool kind_ok = loop.kind == LoopKind::L || loop.kind == LoopKind::P || loop.kind == LoopKind::U;
    if (all[k] != 0 && (!kind_ok || loop.mark.type != LoopMark::Type::none)) {
      return refuse(program, loop.pos, 1, fmt::format("loop {} has kind {} or a mark; tile L, P or U loops: take it back first (kind=L)",
                                                      loop.var, kind_name(loop.kind)));
    }
  }
  if (!splits) return refuse(program, pos, 2, "every size equals its loop's extent; at least one must split its loop");
  std::vector<std::string> taken;
  for (std::size_t k = 0; k <= last; ++k) {
    tiling.points.push_back(tiling.sizes[k] == 0 ? "" : fresh_var(program, taken));
    if (tiling.sizes[k] != 0) taken.push_back(tiling.points.back());
  }
  return tiling;
}

// Does the order of the tiles keep all dependences? First the whole band, then the new order itself.
Legality check_tiling(const Program& program, const Tiling& tiling, const Tiled& adjacent, const Tiled& tiled) {
  Legality legality = check_fully_permutable(program, tiling.band);
  if (legality.ok && !legality.reorders_reduction) return legality;
  const Program split = with_replaced(program, tiling.band.path, build_sunk(adjacent.loops, adjacent.tests, adjacent.body));
  std::vector<std::size_t> order;
  for (const StmtPtr& loop : tiled.loops) {
    for (std::size_t k = 0; k < adjacent.loops.size(); ++k) {
      if (adjacent.loops[k]->var == loop->var) order.push_back(k);
    }
  }
  return check_permutation(split, tiling.band.path, order);
}

constexpr std::size_t kMaxSites = 64;   // of one band

// The choices of loops and sizes for one band, each once; a choice that splits nothing is none.
class Choices {
 public:
  Choices(const std::vector<std::string>& names, const std::vector<std::int64_t>& extents) : names_(names), extents_(extents) {}
  bool full() const { return sites_.size() == kMaxSites; }
  void add(const std::vector<std::size_t>& loops, std::vector<std::int64_t> sizes) {
    bool uneven = false, splits = false;
    for (std::size_t k = 0; k < loops.size(); ++k) {
      const std::int64_t extent = extents_[loops[k]];
      sizes[k] = std::min(sizes[k], extent);
      uneven |= extent % sizes[k] != 0;
      splits |= sizes[k] < extent;
    }
    if (!splits || full()) return;
    Choice choice{loops, std::move(sizes)};
    if (std::find(known_.begin(), known_.end(), choice) != known_.end()) return;
    std::string chosen, texts;
    for (std::size_t k = 0; k < loops.size(); ++k) {
      chosen += (k == 0 ? "" : "+") + names_[loops[k]];
      texts += (k == 0 ? "" : "x") + std::to_string(choice.second[k]);
    }
    known_.push_back(std::move(choice));
    for (const char* tail : {"guard", "peel"}) {
      if (full() || (!uneven && tail[0] == 'p')) break;
      sites_.push_back(Args{{"loops", chosen}, {"sizes", texts}, {"tail", tail}});
    }
  }
  const std::vector<Args>& sites() const { return sites_; }

 private:
  using Choice = std::pair<std::vector<std::size_t>, std::vector<std::int64_t>>;
  const std::vector<std::string>& names_;
  const std::vector<std::int64_t>& extents_;
  std::vector<Choice> known_;
  std::vector<Args> sites_;
};

// Two loops take a register tile or a square block; three a register tile and a block of the third.
void add_choices(std::size_t loops, const std::vector<Target::RegisterTile>& tiles, Choices* choices) {
  for (std::size_t a = 0; a + 1 < loops; ++a) {
    for (std::size_t b = a + 1; b < loops; ++b) {
      for (std::size_t t = 0; t < tiles.size() && t < 3; ++t) {
        choices->add({a, b}, {tiles[t].rows, tiles[t].lanes});
        for (std::size_t c = b + 1; c < loops; ++c) {
          for (const std::int64_t block : {64, 256}) choices->add({a, b, c}, {tiles[t].rows, tiles[t].lanes, block});
        }
      }
      for (const std::int64_t block : {8, 32, 128}) choices->add({a, b}, {block, block});
      if (choices->full()) return;
    }
  }
}

std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  const Body& body = program.body();
  const std::vector<Target::RegisterTile> tiles = target.register_tiles(4);
  std::vector<StmtPath> seen;
  for (const StmtPath& path : collect_loops(body)) {
    if (std::find(seen.begin(), seen.end(), path) != seen.end()) continue;
    const Band band = band_at(body, path);
    std::vector<std::string> names;
    std::vector<std::int64_t> extents;
    StmtPath at = path;
    for (const Stmt* stmt = stmt_at(body, at); names.size() < band.loops.size(); stmt = stmt->body[0].get()) {
      if (stmt->is_loop()) {
        seen.push_back(at);
        names.push_back(loop_address(body, at));
        extents.push_back(stmt->extent);
      }
      at.push_back(0);
    }
    const bool plain = std::all_of(band.loops.begin(), band.loops.end(), [](const StmtPtr& l) {
      return (l->kind == LoopKind::L || l->kind == LoopKind::P) && l->mark.type == LoopMark::Type::none;
    });
    if (names.size() < 2 || !plain) continue;
    Choices choices(names, extents);
    add_choices(names.size(), tiles, &choices);
    out.insert(out.end(), choices.sites().begin(), choices.sites().end());
  }
  return out;
}

// The action that joins the tiles again, if it does.
std::optional<Action> find_inverse(const Program& before, const Target& target, const Tiling& tiling, const Step& step) {
  std::string pairs, extents;
  for (std::size_t k = 0; k < tiling.sizes.size(); ++k) {
    if (tiling.sizes[k] == 0) continue;
    const Stmt& loop = *tiling.band.loops[k];
    if (loop.kind != inner_kind(loop)) return std::nullopt;   // a P loop keeps P outside
    StmtPath path = tiling.band.path;
    for (const std::string& var : {loop.var, tiling.points[k]}) {
      while (stmt_at(step.after.body(), path)->is_test() || stmt_at(step.after.body(), path)->var != var) path.push_back(0);
      pairs += (pairs.empty() ? "" : "+") + loop_address(step.after.body(), path);
    }
    extents += (extents.empty() ? "" : "x") + std::to_string(loop.extent);
  }
  Action back{"loop_tiling", Args{{"loops", pairs}, {"sizes", extents}, {"tail", "join"}}};
  const Result<Step> joined = join_tiles(step.after, target, back.args);
  if (!joined || canonical_hash(joined->after) != canonical_hash(before)) return std::nullopt;
  return back;
}

Result<Step> apply(const Program& program, const Target& target, const Args& args) {
  if (args.get("tail") == "join") return join_tiles(program, target, args);
  CAIRN_TRY(const Tiling tiling, read_tiling(program, args));
  const std::vector<LoopRange> above = ranges_above(program.body(), tiling.band.path);
  Part whole;
  bool uneven = false;
  for (std::size_t k = 0; k < tiling.sizes.size(); ++k) {
    whole.origin.push_back(0);
    whole.extent.push_back(tiling.band.loops[k]->extent);
    uneven |= tiling.sizes[k] != 0 && whole.extent[k] % tiling.sizes[k] != 0;
  }
  const bool peel = uneven && args.get("tail") == "peel";
  const Tiled tiled = tile_part(tiling, whole, above, false);
  const Legality legality = check_tiling(program, tiling, tile_part(tiling, whole, above, true), tiled);
  if (!legality.ok) return refuse_because(legality.reason, 3);
  if (peel) {
    const Legality permutable = check_fully_permutable(program, tiling.band);
    if (!permutable.ok) return refuse_because(permutable.reason, 3, "the rests cannot be peeled off");
  }
  Body replacement;
  if (peel) {
    for (const Part& part : list_parts(tiling, true)) {
      Tiled one = tile_part(tiling, part, above, false);
      const Body built = build_band(one.loops, one.tests, std::move(one.body));
      replacement.insert(replacement.end(), built.begin(), built.end());
    }
  } else {
    replacement = build_band(tiled.loops, tiled.tests, tiled.body);
  }
  Step step;
  step.after = with_replaced(program, tiling.band.path, replacement);
  step.exactness = legality.reorders_reduction ? class_of_reorder(program, tiling.band.body) : Exactness::exact;
  step.proved = conditions_up_to(3);
  for (const std::string& name : tiling.points) {
    if (!name.empty()) step.created.push_back(name);
  }
  if (args.get("tail") == "pad") {
    StmtPath place = tiling.band.path;
    for (std::size_t tile = 1; tile < step.created.size();) {
      place.push_back(0);
      if (stmt_at(step.after.body(), place)->is_loop()) ++tile;
    }
    CAIRN_TRY(step, pad_tail(std::move(step), target, place));
    step.proved = conditions_up_to(4);
  } else if (!peel) {
    step.inverse = find_inverse(program, target, tiling, step);
  }
  return step;
}

}  // namespace

extern const Strategy strategy_loop_tiling{
    "loop_tiling", Level::op, Direction::data_reuse, Exactness::reassociates,
    "several loops of a band are split, point loops inside; a tail is guarded, peeled or padded",
    {{"loops", ArgType::loops, "two or more loops of one band; tail=join: tile and point loops, in pairs", {}, ""},
     {"sizes", ArgType::integers, "extent of each point loop; tail=join: of each joined loop", {}, ""},
     {"tail", ArgType::choice, "what becomes of uneven ends; join: tiles become one loop again", {"guard", "peel", "pad", "join"}, "guard"}},
    list_sites, apply};

}  // namespace cairn
