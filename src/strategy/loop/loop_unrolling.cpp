// loop_unrolling: a loop gets kind U, wholly or by a factor; kind=L takes it back.
//
//   L^{8}_{i=0}[S]  =>  U^{8}_{i=0}[S]      L^{64}_{i=0}[S]  =>  U^{64,8}_{i=0}[S]
//
// Legal when
// (1) the loop's kind is L without a mark (U for kind=L),
// (2) the factor is 0 (the whole loop), or between 2 and the extent,
// (3) the equations that the unrolled bodies around and below it repeat stay within 4096.
// The order stays: exact.
#include <fmt/core.h>

#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

constexpr std::int64_t kCodeLimit = 4096;

std::int64_t copies_of(const Stmt& loop) {
  if (loop.kind != LoopKind::U) return 1;
  return loop.mark.type == LoopMark::Type::count ? loop.mark.count : loop.extent;
}

// Equations after unrolling, saturated far above the limit.
std::int64_t unrolled_equations(const Body& body) {
  std::int64_t total = 0;
  for (const StmtPtr& stmt : body) {
    const std::int64_t inner = stmt->is_equation() ? 1 : unrolled_equations(stmt->body);
    const std::int64_t copies = stmt->is_loop() ? copies_of(*stmt) : 1;
    total = std::min<std::int64_t>(total + std::min<std::int64_t>(inner, 1 << 20) * std::min<std::int64_t>(copies, 1 << 20),
                                   std::int64_t{1} << 40);
  }
  return total;
}

std::int64_t copies_above(const Body& body, const StmtPath& path) {
  std::int64_t copies = 1;
  for (const Stmt* loop : loops_above(body, path)) copies = std::min<std::int64_t>(copies * copies_of(*loop), 1 << 20);
  return copies;
}

Action action_for(const Body& body, const StmtPath& path, std::string kind, std::int64_t factor) {
  return Action{"loop_unrolling", Args{{"loop", loop_address(body, path)}, {"factor", std::to_string(factor)}, {"kind", std::move(kind)}}};
}

std::vector<Args> list_sites(const Program& program, const Target&) {
  std::vector<Args> out;
  for (const StmtPath& path : collect_loops(program.body())) {
    const Stmt& loop = *stmt_at(program.body(), path);
    if (loop.kind == LoopKind::U) {
      out.push_back(action_for(program.body(), path, "L", 0).args);
      continue;
    }
    if (loop.kind != LoopKind::L || loop.mark.type != LoopMark::Type::none || loop.extent < 2) continue;
    const std::int64_t around = copies_above(program.body(), path) * unrolled_equations(loop.body);
    if (loop.extent <= 64 && around * loop.extent <= kCodeLimit) {
      out.push_back(action_for(program.body(), path, "U", 0).args);
    }
    for (const std::int64_t factor : {2, 4, 8, 16}) {
      if (factor >= loop.extent || around * factor > kCodeLimit) continue;
      out.push_back(action_for(program.body(), path, "U", factor).args);
    }
  }
  return out;
}

Result<Step> apply(const Program& program, const Target&, const Args& args) {
  CAIRN_TRY(const StmtPath path, find_loop(program.body(), args.get("loop")));
  const StmtPtr loop = shared_at(program.body(), path);
  const bool back = args.get("kind") == "L";
  const std::int64_t factor = args.get_int("factor");
  const bool fits = back ? loop->kind == LoopKind::U : loop->kind == LoopKind::L && loop->mark.type == LoopMark::Type::none;
  if (!fits) {
    return refuse(program, loop->pos, 1, fmt::format("loop {} has kind {}{}; {}", loop->var, kind_name(loop->kind),
                                                     loop->mark.type == LoopMark::Type::none ? "" : " and a mark",
                                                     back ? "only a U loop can be taken back" : "only a plain L loop can be unrolled"));
  }
  if (!back && factor != 0 && (factor < 2 || factor > loop->extent)) {
    return refuse(program, loop->pos, 2, fmt::format("loop {} has extent {}; the factor must be 0 or between 2 and {}, not {}",
                                                     loop->var, loop->extent, loop->extent, factor));
  }
  const std::int64_t copies = factor == 0 ? loop->extent : factor;
  const std::int64_t repeated = std::min<std::int64_t>(copies, 1 << 20) * copies_above(program.body(), path) * unrolled_equations(loop->body);
  if (!back && repeated > kCodeLimit) {
    return refuse(program, loop->pos, 3, fmt::format("unrolling loop {} would repeat {} equations, at most {} are allowed; use a factor",
                                                     loop->var, repeated, kCodeLimit));
  }
  LoopMark mark;
  if (!back && factor != 0 && factor != loop->extent) mark = {LoopMark::Type::count, factor};
  Step step;
  step.after = with_replaced(program, path, Body{with_body(*loop_like(*loop, back ? LoopKind::L : LoopKind::U, loop->extent, loop->var, mark), loop->body)});
  step.proved = conditions_up_to(3);
  const std::int64_t old_factor = loop->mark.type == LoopMark::Type::count ? loop->mark.count : 0;
  step.inverse = action_for(step.after.body(), path, back ? "U" : "L", back ? old_factor : 0);
  return step;
}

}  // namespace

extern const Strategy strategy_loop_unrolling{
    "loop_unrolling", Level::op, Direction::throughput, Exactness::exact,
    "a loop is unrolled, wholly or by a factor; kind=L takes it back",
    {{"loop", ArgType::loop, "the loop", {}, ""},
     {"factor", ArgType::integer, "bodies a step; 0 unrolls the whole loop", {}, "0"},
     {"kind", ArgType::choice, "U, or L to take it back", {"U", "L"}, "U"}},
    list_sites, apply};

}  // namespace cairn
