#include "strategy/edit/split.h"

#include <utility>

namespace cairn {

bool can_split(const Stmt& loop) {
  if (loop.kind == LoopKind::B) return !loop.var.empty() && loop.var[0] == 'b';
  return loop.kind == LoopKind::L || loop.kind == LoopKind::P || loop.kind == LoopKind::U;
}

LoopKind inner_kind(const Stmt& loop) { return loop.kind == LoopKind::U ? LoopKind::U : LoopKind::L; }

Body split_loop(const StmtPtr& loop, std::int64_t factor, const std::string& inner, bool peel,
                const std::vector<LoopRange>& above) {
  const std::int64_t rest = loop->extent % factor;
  const std::int64_t blocks = peel ? loop->extent / factor : ceil_div(loop->extent, factor);
  const ExprPtr index = add_index(mul_index(make_var(loop->var), factor), make_var(inner));
  std::vector<LoopRange> ranges = above;
  ranges.push_back({loop->var, blocks});
  ranges.push_back({inner, factor});
  Body body = substitute_and_simplify(loop->body, {{loop->var, index}}, ranges, {});
  if (rest != 0 && !peel) body = Body{make_test(less_than(index, loop->extent), std::move(body), loop->pos)};
  body = Body{with_body(*loop_like(*loop, inner_kind(*loop), factor, inner), std::move(body))};
  Body out{with_body(*loop_like(*loop, loop->kind, blocks, loop->var, loop->mark), std::move(body))};
  if (rest != 0 && peel) {
    ranges = above;
    ranges.push_back({inner, rest});
    const ExprPtr at_end = add_index(make_var(inner), make_int(blocks * factor));
    Body tail = substitute_and_simplify(loop->body, {{loop->var, at_end}}, ranges, {});
    const LoopKind kind = loop->kind == LoopKind::B ? LoopKind::L : loop->kind;
    out.push_back(with_body(*loop_like(*loop, kind, rest, inner), std::move(tail)));
  }
  return out;
}

}  // namespace cairn
