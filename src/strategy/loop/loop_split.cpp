// loop_split: a loop becomes an outer and an inner loop.
//
//   L^{n}_{i=0}[S(i)]  =>  L^{ceil(n/f)}_{i=0}L^{f}_{a=0}[T^{i*f+a<n}[S(i*f+a)]]
//
// The outer loop keeps name, kind and mark; the inner one has the first fresh name and kind L (U below a U
// loop: `created` names it). tail=peel gives whole blocks, then a loop of the rest named like the inner one.
//
// Legal when
// (1) the loop's kind is L, P, U or B on a block axis,
// (2) the factor lies between 2 and the extent less 1,
// (3) a count mark fits the outer extent.
// The iterations keep their order: exact.
#include <fmt/core.h>

#include "ir/walk.h"
#include "strategy/edit/split.h"
#include "strategy/edit/refuse.h"
#include "strategy/edit/tables.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  const TileTable tiles(target);
  for (const StmtPath& path : collect_loops(program.body())) {
    const Stmt& loop = *stmt_at(program.body(), path);
    if (!can_split(loop)) continue;
    const std::string address = loop_address(program.body(), path);
    for (const std::int64_t factor : tiles.factors(loop.extent)) {
      const bool even = loop.extent % factor == 0;
      out.push_back(Args{{"loop", address}, {"factor", std::to_string(factor)}, {"tail", "guard"}});
      if (!even) out.push_back(Args{{"loop", address}, {"factor", std::to_string(factor)}, {"tail", "peel"}});
    }
  }
  return out;
}

// The variable occurs only in sums with constant factors: fusing the split gives the same expressions again. A
// quotient or remainder may be simplified differently, and so may what is not in simplest form now.
bool comes_back(const Body& body, const std::vector<LoopRange>& loops, const std::string& var) {
  bool linear = is_simplified(body, loops, {var});
  const auto look = [&](const ExprPtr& root) {
    visit_expr(*root, [&](const Expr& e) {
      const bool whole = is_index_expr(e) && uses_var(e, var);
      if (whole) linear &= linear_form(e).has_value();
      return !whole;
    });
    return root;
  };
  std::vector<LoopRange> none;
  rewrite_ranged(body, none, [&](const ExprPtr& e, const std::vector<LoopRange>&) { return look(e); });
  return linear;
}

Result<Step> apply(const Program& program, const Target&, const Args& args) {
  CAIRN_TRY(const StmtPath path, find_loop(program.body(), args.get("loop")));
  const StmtPtr loop = shared_at(program.body(), path);
  const std::int64_t factor = args.get_int("factor");
  if (!can_split(*loop)) {
    return refuse(program, loop->pos, 1,
                  fmt::format("loop {} has kind {}{}; only L, P, U and block axes can be split: unmark it first",
                              loop->var, kind_name(loop->kind), loop->kind == LoopKind::B ? " on a thread axis" : ""));
  }
  if (factor < 2 || factor >= loop->extent) {
    return refuse(program, loop->pos, 2,
                  fmt::format("loop {} has extent {}, the factor must lie between 2 and {}, not be {}", loop->var,
                              loop->extent, loop->extent - 1, factor));
  }
  const bool peel = args.get("tail") == "peel" && loop->extent % factor != 0;
  const std::int64_t blocks = peel ? loop->extent / factor : ceil_div(loop->extent, factor);
  if (loop->mark.type == LoopMark::Type::count && loop->mark.count > blocks) {
    return refuse(program, loop->pos, 3,
                  fmt::format("loop {} has mark {}, which the outer extent {} cannot hold", loop->var,
                              loop->mark.count, blocks));
  }
  const std::string inner = fresh_var(program);
  Step step;
  step.after = with_replaced(program, path, split_loop(loop, factor, inner, peel, ranges_above(program.body(), path)));
  step.proved = conditions_up_to(3);
  step.created = {inner};
  std::vector<LoopRange> ranges = ranges_above(program.body(), path);
  ranges.push_back({loop->var, loop->extent});
  const bool same_kind = loop->kind == LoopKind::L || loop->kind == LoopKind::U;
  if (!peel && same_kind && loop->mark.type == LoopMark::Type::none && comes_back(loop->body, ranges, loop->var)) {
    step.inverse = Action{"loop_fusion", Args{{"loop", loop_address(step.after.body(), path)}}};
  }
  return step;
}

}  // namespace

extern const Strategy strategy_loop_split{
    "loop_split", Level::op, Direction::parallelism, Exactness::exact,
    "a loop becomes an outer and an inner loop; a tail is guarded or peeled",
    {{"loop", ArgType::loop, "the loop to split", {}, ""},
     {"factor", ArgType::integer, "extent of the inner loop", {}, ""},
     {"tail", ArgType::choice, "what becomes of an uneven end", {"guard", "peel"}, "guard"}},
    list_sites, apply};

}  // namespace cairn
