// loop_peel: the first or last iterations of a loop are split off; mode=join puts them back.
//
//   L^{n}_{i=0}[S(i)]  =>  L^{c}_{i=0}[S(i)] L^{n-c}_{i=0}[S(i+c)]                    (side=front)
//   L^{n}_{i=0}[S(i)]  =>  L^{n-c}_{i=0}[S(i)] L^{c}_{i=0}[S(i+n-c)]                  (side=back)
//
// A part of one iteration stands without its loop. Tests and choices that the smaller ranges decide go. For mode=join
// `loop` is the rest, and the part before (front) or after it (back) is `count` iterations.
//
// Legal when
// (1) the loop's kind is L, U or P, without a mark,
// (2) the count lies between 1 and the extent less 1,
// (3) mode=join: the statements next to the loop are its body at `count` iterations more.
// The iterations keep their order, and what stays inside an iteration of P stays there: exact.
#include <fmt/core.h>

#include <algorithm>

#include "ir/canon.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

bool can_peel(const Stmt& loop) {
  return (loop.kind == LoopKind::L || loop.kind == LoopKind::U || loop.kind == LoopKind::P) && loop.mark.type == LoopMark::Type::none;
}

// The body for `extent` iterations that start at `from`: a loop, or the statements alone for one iteration.
Body part_of(const Stmt& loop, const Body& body, std::int64_t from, std::int64_t extent, const std::vector<LoopRange>& above) {
  std::vector<LoopRange> ranges = above;
  if (extent == 1) return substitute_and_simplify(body, {{loop.var, make_int(from)}}, ranges, {});
  ranges.push_back({loop.var, extent});
  const ExprPtr index = from == 0 ? make_var(loop.var) : add_index(make_var(loop.var), make_int(from));
  Body moved = substitute_and_simplify(body, {{loop.var, index}}, ranges, {loop.var});
  if (moved.empty()) return {};
  return Body{with_body(*loop_like(loop, loop.kind, extent, loop.var), std::move(moved))};
}

bool same_body(const Body& a, const Body& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const StmtPtr& x, const StmtPtr& y) { return same_stmt(*x, *y); });
}

Args args_for(const std::string& loop, std::int64_t count, std::string side, std::string mode) {
  return Args{{"loop", loop}, {"count", std::to_string(count)}, {"side", std::move(side)}, {"mode", std::move(mode)}};
}

Result<void> check_kind(const Program& program, const Stmt& loop) {
  if (can_peel(loop)) return {};
  return refuse(program, loop.pos, 1, fmt::format("loop {} has kind {}{}; only L, P and U loops without a mark can be peeled", loop.var, kind_name(loop.kind),
                                                  loop.mark.type == LoopMark::Type::none ? "" : " and a mark"));
}

const Body& siblings_of(const Body& body, const StmtPath& path) {
  return path.size() == 1 ? body : stmt_at(body, parent_of(path))->body;
}

// Replaces the `count` statements from `first` on in the body that holds the statement at `path`.
Program replaced_range(const Program& program, const StmtPath& path, std::size_t first, std::size_t count, const Body& now) {
  const Body& old = siblings_of(program.body(), path);
  const auto at = [&](std::size_t k) { return old.begin() + static_cast<std::ptrdiff_t>(k); };
  Body level(old.begin(), at(first));
  level.insert(level.end(), now.begin(), now.end());
  level.insert(level.end(), at(first + count), old.end());
  Program out = program;
  if (path.size() == 1) {
    out.set_body(std::move(level));
  } else {
    const StmtPath parent = parent_of(path);
    out.set_body(replace_at(program.body(), parent, Body{with_body(*stmt_at(program.body(), parent), std::move(level))}));
  }
  return out;
}

// Condition (3): the joined loop, the index of its first statement and how many it replaces.
struct Joined {
  StmtPtr loop;
  std::size_t first = 0, count = 0;
};

std::optional<Joined> find_join(const Program& program, const StmtPath& path, std::int64_t count, bool front) {
  const Body& level = siblings_of(program.body(), path);
  const StmtPtr& loop = level[path.back()];
  const std::size_t pieces = count == 1 ? loop->body.size() : 1;
  const std::size_t at = path.back();
  if (front ? at < pieces : at + pieces >= level.size()) return std::nullopt;
  const std::size_t begin = front ? at - pieces : at + 1;
  Body piece(level.begin() + static_cast<std::ptrdiff_t>(begin), level.begin() + static_cast<std::ptrdiff_t>(begin + pieces));
  const std::vector<LoopRange> above = ranges_above(program.body(), path);
  std::int64_t whole = 0;
  if (__builtin_add_overflow(loop->extent, count, &whole)) return std::nullopt;
  std::vector<Body> candidates;
  std::vector<LoopRange> ranges = above;
  ranges.push_back({loop->var, whole});
  if (front) {
    const ExprPtr back = sub_index(make_var(loop->var), make_int(count));
    candidates.push_back(substitute_and_simplify(loop->body, {{loop->var, back}}, ranges, {loop->var}));
  } else {
    candidates.push_back(loop->body);
  }
  if (count > 1) {
    if (!piece[0]->is_loop() || piece[0]->extent != count || piece[0]->kind != loop->kind || piece[0]->mark.type != LoopMark::Type::none) return std::nullopt;
    if (piece[0]->var != loop->var) {
      const bool bound = std::any_of(above.begin(), above.end(), [&](const LoopRange& r) { return r.var == loop->var; });
      if (bound) return std::nullopt;
      piece[0] = rename_loop_var(piece[0], loop->var);
    }
    if (front) candidates.push_back(piece[0]->body);
  }
  for (const Body& body : candidates) {
    const Body rest = part_of(*loop, body, front ? count : 0, loop->extent, above);
    const Body other = part_of(*loop, body, front ? 0 : loop->extent, count, above);
    if (!same_body(rest, Body{with_body(*loop, loop->body)}) || !same_body(other, piece)) continue;
    return Joined{with_body(*loop_like(*loop, loop->kind, whole, loop->var), body), front ? begin : at, pieces + 1};
  }
  return std::nullopt;
}

Result<Step> join(const Program& program, const StmtPath& path, std::int64_t count, bool front) {
  const Stmt& loop = *stmt_at(program.body(), path);
  const std::optional<Joined> joined = count >= 1 && loop.extent > 1 ? find_join(program, path, count, front) : std::nullopt;
  if (!joined) {
    return refuse(program, loop.pos, 3, fmt::format("what stands {} loop {} is not its body at {} iterations more", front ? "before" : "after", loop.var, count));
  }
  Step step;
  step.after = replaced_range(program, path, joined->first, joined->count, Body{joined->loop});
  StmtPath at = path;
  at.back() = static_cast<std::uint32_t>(joined->first);
  step.proved = conditions_up_to(3);
  step.inverse = Action{"loop_peel", args_for(loop_address(step.after.body(), at), count, front ? "front" : "back", "peel")};
  return step;
}

Result<Step> apply(const Program& program, const Target&, const Args& args) {
  CAIRN_TRY(const StmtPath path, find_loop(program.body(), args.get("loop")));
  const Stmt& loop = *stmt_at(program.body(), path);
  CAIRN_CHECKED(check_kind(program, loop));
  const std::int64_t count = args.get_int("count");
  const bool front = args.get("side") == "front";
  if (args.get("mode") == "join") return join(program, path, count, front);
  if (count < 1 || count >= loop.extent) {
    return refuse(program, loop.pos, 2, fmt::format("loop {} has extent {}, the count must lie between 1 and {}, not be {}", loop.var, loop.extent,
                                                    loop.extent - 1, count));
  }
  const std::vector<LoopRange> above = ranges_above(program.body(), path);
  const std::int64_t cut = front ? count : loop.extent - count;
  const Body first = part_of(loop, loop.body, 0, cut, above), second = part_of(loop, loop.body, cut, loop.extent - cut, above);
  Body both = first;
  both.insert(both.end(), second.begin(), second.end());
  Step step;
  step.after = replaced_range(program, path, path.back(), 1, both);
  step.proved = conditions_up_to(3);
  if (loop.extent - count == 1 || first.empty() || second.empty()) return step;
  StmtPath rest = path;
  if (front) rest.back() += static_cast<std::uint32_t>(first.size());
  const Result<Step> back = join(step.after, rest, count, front);
  if (back && canonical_hash(back->after) == canonical_hash(program)) {
    step.inverse = Action{"loop_peel", args_for(loop_address(step.after.body(), rest), count, front ? "front" : "back", "join")};
  }
  return step;
}

// Cheap test before a join is tried: the same kinds of statements, writing the same tensors.
bool alike(const Body& a, std::size_t from_a, const Body& b, std::size_t from_b, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) {
    const Stmt &x = *a[from_a + k], &y = *b[from_b + k];
    if (x.type != y.type || x.tensor != y.tensor || x.extent != y.extent || x.body.size() != y.body.size()) return false;
    if (!alike(x.body, 0, y.body, 0, x.body.size())) return false;
  }
  return true;
}

void add_joins(const Program& program, const StmtPath& path, const std::string& address, std::vector<Args>* out) {
  const Body& level = siblings_of(program.body(), path);
  const Stmt& loop = *level[path.back()];
  const std::size_t at = path.back(), size = loop.body.size();
  if (loop.extent < 2) return;
  for (const bool front : {true, false}) {
    const std::string side = front ? "front" : "back";
    if (front ? at >= size : at + size < level.size()) {
      if (alike(level, front ? at - size : at + 1, loop.body, 0, size) && find_join(program, path, 1, front)) out->push_back(args_for(address, 1, side, "join"));
    }
    if (front ? at == 0 : at + 1 == level.size()) continue;
    const Stmt& piece = *level[front ? at - 1 : at + 1];
    if (!piece.is_loop() || piece.kind != loop.kind || piece.extent < 2 || piece.body.size() != size || !alike(piece.body, 0, loop.body, 0, size)) continue;
    if (find_join(program, path, piece.extent, front)) out->push_back(args_for(address, piece.extent, side, "join"));
  }
}

std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  const std::int64_t lanes = target.vector_bytes.back() / 4;
  for (const StmtPath& path : collect_loops(program.body())) {
    const Stmt& loop = *stmt_at(program.body(), path);
    if (!can_peel(loop)) continue;
    const std::string address = loop_address(program.body(), path);
    const auto add = [&](std::int64_t count, const char* side) { out.push_back(args_for(address, count, side, "peel")); };
    if (loop.extent > 1) {
      add(1, "front");
      add(1, "back");
      const std::int64_t rest = loop.extent % lanes;
      if (loop.extent > lanes && rest > 1) add(rest, "back");
    }
    add_joins(program, path, address, &out);
  }
  return out;
}

}  // namespace

extern const Strategy strategy_loop_peel{
    "loop_peel", Level::op, Direction::throughput, Exactness::exact,
    "the first or last iterations of a loop are split off, or joined again",
    {{"loop", ArgType::loop, "the loop; mode=join: the rest of it", {}, ""},
     {"count", ArgType::integer, "iterations that are split off", {}, "1"},
     {"side", ArgType::choice, "which iterations", {"front", "back"}, "front"},
     {"mode", ArgType::choice, "peel, or join to take it back", {"peel", "join"}, "peel"}},
    list_sites, apply};

}  // namespace cairn
