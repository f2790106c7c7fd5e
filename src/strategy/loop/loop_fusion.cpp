// loop_fusion: two nested loops collapse into one.
//
//   L^{n}_{i=0}L^{m}_{j=0}[S(i,j)]  =>  L^{n*m}_{i=0}[S(i//m,i%m)]
//
// The fused loop keeps the outer name. Where i and j occur only as i*m+j the division goes, and a test
// i<c that then stands alone becomes the extent: fusing what loop_split made gives the program it came from.
//
// Legal when
// (1) the outer loop holds nothing but the inner one (a perfect pair),
// (2) both have the same kind, L, P or U,
// (3) neither has a mark.
// The iterations keep their order: exact.
#include <fmt/core.h>

#include "base/check.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

// Replaces outer, inner by one variable: outer*m+inner pairs directly, else outer -> v//m, inner -> v%m.
class Collapse {
 public:
  Collapse(std::string outer, std::string inner, std::int64_t m) : outer_(std::move(outer)), inner_(std::move(inner)), m_(m) {}

  ExprPtr rewrite(const ExprPtr& e) const {
    if (!uses_var(*e, outer_) && !uses_var(*e, inner_)) return e;
    if (is_index_expr(*e)) {
      if (ExprPtr joined = join(*e)) return joined;
    }
    if (e->op == Op::loop_var) {
      return make_expr(e->name == outer_ ? Op::floor_div : Op::mod, {make_var(outer_), make_int(m_)});
    }
    std::vector<ExprPtr> args;
    args.reserve(e->args.size());
    for (const ExprPtr& arg : e->args) args.push_back(rewrite(arg));
    switch (e->op) {
      case Op::read: return make_read(e->name, std::move(args), e->pos);
      case Op::cast: return make_cast(e->dtype, std::move(args[0]), e->pos);
      default: return make_expr(e->op, std::move(args), e->pos);
    }
  }

 private:
  ExprPtr join(const Expr& e) const {
    std::optional<LinearForm> form = linear_form(e);
    if (!form) return nullptr;
    const std::int64_t a = form->coefficient(outer_);
    const std::int64_t b = form->coefficient(inner_);
    std::int64_t product = 0;
    if (__builtin_mul_overflow(b, m_, &product) || a != product || b == 0) return nullptr;
    LinearForm joined;
    joined.constant = form->constant;
    for (const auto& term : form->terms) {
      if (term.first == inner_) continue;
      joined.terms.emplace_back(term.first, term.first == outer_ ? b : term.second);
    }
    return linear_expr(joined);
  }

  std::string outer_, inner_;
  std::int64_t m_;
};

// The inner loop if `loop` holds nothing else.
const Stmt* sole_loop(const Stmt& loop) {
  return loop.body.size() == 1 && loop.body[0]->is_loop() ? loop.body[0].get() : nullptr;
}

bool can_collapse(const Stmt& loop) {
  return loop.kind == LoopKind::L || loop.kind == LoopKind::P || loop.kind == LoopKind::U;
}

std::vector<Args> list_sites(const Program& program, const Target&) {
  std::vector<Args> out;
  for (const StmtPath& path : collect_loops(program.body())) {
    const Stmt& loop = *stmt_at(program.body(), path);
    const Stmt* inner = sole_loop(loop);
    if (!inner || inner->kind != loop.kind || !can_collapse(loop)) continue;
    if (loop.mark.type != LoopMark::Type::none || inner->mark.type != LoopMark::Type::none) continue;
    out.push_back(Args{{"loop", loop_address(program.body(), path)}});
  }
  return out;
}

// Takes a conjunct `var<c` (the tail test of a split) out of a lone test; returns c, or the extent.
std::int64_t absorb_bound(const std::string& var, std::int64_t extent, Body* body) {
  if (body->size() != 1 || !(*body)[0]->is_test()) return extent;
  const StmtPtr test = (*body)[0];
  std::vector<ExprPtr> rest;
  std::int64_t bound = extent;
  for (const ExprPtr& part : split_conjunction(test->cond)) {
    const bool limits = part->op == Op::lt && part->args[0]->op == Op::loop_var && part->args[0]->name == var &&
                        part->args[1]->op == Op::int_literal && part->args[1]->int_value > 0;
    if (limits) {
      bound = std::min(bound, part->args[1]->int_value);
    } else {
      rest.push_back(part);
    }
  }
  *body = rest.empty() ? test->body : Body{make_test(join_conjunction(rest), test->body, test->pos)};
  return bound;
}

Result<Step> apply(const Program& program, const Target&, const Args& args) {
  CAIRN_TRY(const StmtPath path, find_loop(program.body(), args.get("loop")));
  const StmtPtr outer = shared_at(program.body(), path);
  const Stmt* inner = sole_loop(*outer);
  if (!inner) {
    return refuse(program, outer->pos, 1,
                  fmt::format("loop {} does not hold exactly one loop; fuse a perfect pair", outer->var));
  }
  if (outer->kind != inner->kind || !can_collapse(*outer)) {
    return refuse(program, outer->pos, 2,
                  fmt::format("loops {} and {} have kinds {} and {}; both must be L, P or U alike", outer->var,
                              inner->var, kind_name(outer->kind), kind_name(inner->kind)));
  }
  if (outer->mark.type != LoopMark::Type::none || inner->mark.type != LoopMark::Type::none) {
    return refuse(program, outer->pos, 3,
                  fmt::format("loop {} or {} carries a mark; take it back first (kind=L)", outer->var, inner->var));
  }
  std::int64_t extent = 0;
  if (__builtin_mul_overflow(outer->extent, inner->extent, &extent)) {
    return refuse(program, outer->pos, 1, fmt::format("loops {} and {} have too many iterations", outer->var, inner->var));
  }
  const Collapse collapse(outer->var, inner->var, inner->extent);
  std::vector<LoopRange> ranges = ranges_above(program.body(), path);
  std::vector<LoopRange> old_ranges = ranges;
  old_ranges.push_back({outer->var, outer->extent});
  ranges.push_back({outer->var, extent});
  const std::vector<std::string> touched{outer->var};
  Body body = rewrite_ranged(inner->body, ranges, [&](const ExprPtr& e, const std::vector<LoopRange>& all) {
    const ExprPtr changed = collapse.rewrite(e);
    return changed == e ? e : simplify_value(changed, all, touched);
  });
  const std::int64_t bound = absorb_bound(outer->var, extent, &body);
  Step step;
  step.after = with_replaced(program, path, Body{with_body(*loop_like(*outer, outer->kind, bound, outer->var), std::move(body))});
  step.proved = conditions_up_to(3);
  // A split gives the inner loop a fresh name, and terms of one subscript stand in the order of their names.
  const StmtPtr renamed = rename_loop_var(outer->body[0], fresh_var(step.after));
  old_ranges.push_back({renamed->var, renamed->extent});
  const bool comes_back = is_simplified(renamed->body, old_ranges, {outer->var, renamed->var});
  if (comes_back && bound == extent && outer->kind != LoopKind::P && inner->extent > 1 && outer->extent > 1) {
    step.inverse = Action{"loop_split", Args{{"loop", loop_address(step.after.body(), path)},
                                             {"factor", std::to_string(inner->extent)},
                                             {"tail", "guard"}}};
  }
  return step;
}

}  // namespace

extern const Strategy strategy_loop_fusion{
    "loop_fusion", Level::op, Direction::parallelism, Exactness::exact,
    "two nested loops collapse into one; undoes loop_split",
    {{"loop", ArgType::loop, "the outer loop of a perfect pair", {}, ""}},
    list_sites, apply};

}  // namespace cairn
