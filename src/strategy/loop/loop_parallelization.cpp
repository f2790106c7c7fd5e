// loop_parallelization: a serial loop gets kind P; kind=L takes it back.
//
//   L^{64}_{i=0}[S]  =>  P^{64}_{i=0}[S]
//
// Legal when
// (1) the loop's kind is L without a mark (P for kind=L),
// (2) the loop carries no dependence but reductions and scans of the allowed form (leir.md "Promises"),
// (3) storage stays legal (the outermost P owns s and l).
// Exact without such chains and for max, min and integers, else the step reassociates.
#include <fmt/core.h>

#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/marks.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  for (const StmtPath& path : collect_loops(program.body())) {
    const Stmt& loop = *stmt_at(program.body(), path);
    const std::string address = loop_address(program.body(), path);
    if (loop.kind == LoopKind::P) out.push_back(Args{{"loop", address}, {"kind", "L"}});
    if (loop.kind != LoopKind::L || loop.mark.type != LoopMark::Type::none || loop.extent < 2) continue;
    if (loop_of_kind_above(program.body(), path, {LoopKind::V, LoopKind::M})) continue;
    if (!check_promise(program, path, LoopKind::P, target).ok) continue;
    out.push_back(Args{{"loop", address}, {"kind", "P"}});
  }
  return out;
}

Result<Step> apply(const Program& program, const Target& target, const Args& args) {
  CAIRN_TRY(const StmtPath path, find_loop(program.body(), args.get("loop")));
  return apply_mark(program, target, path, args.get("kind") == "L" ? LoopKind::L : LoopKind::P, LoopKind::P, "loop_parallelization");
}

}  // namespace

extern const Strategy strategy_loop_parallelization{
    "loop_parallelization", Level::op, Direction::parallelism, Exactness::reassociates,
    "a loop runs in parallel; kind=L takes it back",
    {{"loop", ArgType::loop, "the loop", {}, ""},
     {"kind", ArgType::choice, "P, or L to take it back", {"P", "L"}, "P"}},
    list_sites, apply};

}  // namespace cairn
