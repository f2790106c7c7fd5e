#include "strategy/math/reduction_factor.h"

#include <fmt/core.h>

#include <algorithm>

#include "analysis/algebra/chain.h"
#include "analysis/algebra/prove.h"
#include "ir/canon.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"
#include "strategy/math/reduction_site.h"

namespace cairn {
namespace {

using algebra::ChainKind;
using algebra::Leaf;

bool is_one(const Expr& e) { return algebra::is_neutral(ChainKind::product, e); }
bool is_literal(const Expr& e) { return e.op == Op::int_literal || e.op == Op::float_literal; }

StmtPath extended(StmtPath path, std::uint32_t index) {
  path.push_back(index);
  return path;
}

bool has_loop(const std::vector<const Stmt*>& loops, const std::string& var) {
  return std::any_of(loops.begin(), loops.end(), [&](const Stmt* loop) { return loop->var == var; });
}

// The nest X=X*s behind the loops.
Body scaling_nest(const Program& program, const Reduction& reduction, const Factor& factor) {
  const Stmt& update = *stmt_at(program.body(), reduction.updates[0]);
  std::vector<StmtPtr> loops;
  for (const Stmt* loop : reduction.element) {
    const bool split = loop->kind == LoopKind::P || loop->kind == LoopKind::B;
    loops.push_back(loop_like(*loop, split ? loop->kind : LoopKind::L, loop->extent, loop->var));
  }
  const ExprPtr value = make_expr(factor.divides ? Op::div : Op::mul, {make_read(update.tensor, update.subscripts), factor.expr});
  return build_band(loops, reduction.tests, Body{make_equation(update.tensor, update.subscripts, value)});
}

// The update with fn applied to each operand beside X; null if fn gives null.
StmtPtr map_operands(const Stmt& equation, const std::function<ExprPtr(const ExprPtr&)>& fn) {
  const SelfUpdate update = *match_self_update(equation);
  ExprPtr rhs = equation.rhs;
  std::vector<Leaf> leaves;
  if (update.op == UpdateOp::add) {
    leaves = algebra::leaves_of(rhs, ChainKind::sum);
  } else {
    for (std::uint32_t k = 0; k < 2; ++k) leaves.push_back({rhs->args[k], false, {k}});
  }
  for (const Leaf& leaf : leaves) {
    if (leaf.expr.get() == update.self) continue;
    ExprPtr now = fn(leaf.expr);
    if (!now) return nullptr;
    rhs = algebra::replace_node(rhs, leaf.path, now);
  }
  return make_equation(equation.tensor, equation.subscripts, rhs, equation.pos);
}

// kInvariant: the factor is one value for all updates of an element.
Result<void> check_invariant(const Program& program, const Reduction& reduction, const Factor& factor) {
  const SourcePos pos = stmt_at(program.body(), reduction.updates[0])->pos;
  const Stmt& root = *stmt_at(program.body(), reduction.root);
  std::optional<Error> error;
  visit_expr(*factor.expr, [&](const Expr& e) {
    if (error) return false;
    if (e.op == Op::loop_var && has_loop(reduction.reduced, e.name)) {
      error = refuse(program, pos, kInvariant, fmt::format("{} changes with loop {}, which reduces {}", factor_text(factor), e.name, reduction.tensor));
    }
    if (e.op == Op::read && writes_below(root, e.name)) {
      error = refuse(program, pos, kInvariant, fmt::format("{}, which {} reads, is written inside the loops", e.name, factor_text(factor)));
    }
    return true;
  });
  if (error) return *std::move(error);
  return {};
}

// A sum in a narrow type may leave its range once the factor is taken out of it, or put into it.
SideCondition fits_when_scaled(const Program& program, const algebra::Place& place, const Factor& factor, bool divide) {
  const ExprPtr sum = make_read(place.equation->tensor, place.equation->subscripts);
  const ExprPtr scaled = make_cast(program.find(place.equation->tensor)->dtype, make_expr(divide ? Op::div : Op::mul, {sum, factor.expr}));
  return {algebra::describe_condition(program, make_expr(Op::lt, {make_expr(Op::abs, {scaled}), make_float(__builtin_inf())}), place), false, true};
}

}  // namespace

Result<Step> factor_out(const Program& program, const StmtPath& equation, const Factor& factor, const StmtPath& loop) {
  const Stmt& first = *stmt_at(program.body(), equation);
  const Dtype dtype = program.find(first.tensor)->dtype;
  if (!is_prefix(loop, equation) || loop == equation) return no_site(program, first.pos, "the loop is not around the equation");
  CAIRN_TRY(const Reduction reduction, find_reduction(program, loop, first.tensor));
  if (reduction.updates[0] != equation) return no_site(program, first.pos, fmt::format("name the first update of {} inside the loop", first.tensor));
  const bool order = reduction.op == UpdateOp::max || reduction.op == UpdateOp::min;
  if (compute_type(dtype) == ComputeType::i64 && (factor.divides || order)) {
    return refuse(program, first.pos, kHasFactor, fmt::format("{} is an integer; only a product leaves a sum of integers", first.tensor));
  }
  Body body = program.body();
  bool something = false;
  for (const StmtPath& path : reduction.updates) {
    const Stmt& update = *stmt_at(program.body(), path);
    const StmtPtr now = map_operands(update, [&](const ExprPtr& operand) {
      ExprPtr rest = cofactor_of(operand, factor);
      something |= rest && !is_literal(*rest);
      return rest;
    });
    if (!now) return refuse(program, update.pos, kHasFactor,
                  fmt::format("not every term that updates {} has the factor {}", first.tensor, factor_text(factor)));
    body = replace_at(body, path, {now});
  }
  if (!something) return refuse(program, first.pos, kHasFactor, fmt::format("without {} nothing would be left to add up", factor_text(factor)));
  CAIRN_CHECKED(check_invariant(program, reduction, factor));
  CAIRN_CHECKED(check_once(program, reduction));
  Body nest = scaling_nest(program, reduction, factor);
  StmtPath scaling = loop;
  ++scaling.back();
  Step step;
  step.after = program;
  Body both{shared_at(body, loop)};
  both.insert(both.end(), nest.begin(), nest.end());
  step.after.set_body(replace_at(body, loop, both));
  while (!stmt_at(step.after.body(), scaling)->is_equation()) scaling = extended(scaling, 0);
  CAIRN_CHECKED(check_start(program, step.after, reduction, scaling));

  algebra::Prover prover(program);
  const algebra::Place place = algebra::place_of(program, reduction.updates[0]);
  const auto record = [&](const ExprPtr& condition) {
    if (prover.prove(condition, place) != algebra::Truth::yes) step.recorded.push_back({algebra::describe_condition(program, condition, place), false, true});
  };
  if (order && prover.prove(make_expr(Op::ge, {factor.expr, make_int(0)}), place) != algebra::Truth::yes) {
    return refuse(program, first.pos, kOrder,
                  fmt::format("{} is not proved to be 0 or more, which a factor of a {} must be", factor_text(factor), update_op_name(reduction.op)));
  }
  step.exactness = Exactness::algebraic;
  step.same_instances = false;
  step.proved = conditions_up_to(kOrder);
  if (compute_type(dtype) == ComputeType::i64) return step;   // both sides wrap alike
  const ExprPtr size = make_expr(Op::abs, {factor.expr}), infinity = make_float(__builtin_inf());
  record(make_expr(Op::lt, {size, infinity}));
  if (factor.divides || order) record(make_expr(Op::ne, {factor.expr, make_int(0)}));
  if (dtype_bytes(dtype) <= 2) step.recorded.push_back(fits_when_scaled(program, place, factor, !factor.divides));
  // Over the reals nothing overflows; a term times the factor may where the sum times the factor does not.
  else if (step.recorded.empty()) step.recorded.push_back({fmt::format("no overflow or underflow at {}", equation_address(program.body(), reduction.updates[0])), false});
  return step;
}

Result<Step> factor_in(const Program& program, const StmtPath& scaling, FactorBack* back) {
  const Stmt& equation = *stmt_at(program.body(), scaling);
  const std::optional<SelfUpdate> scale = match_self_update(equation);
  if (!scale || scale->op != UpdateOp::mul) return refuse(program, equation.pos, kHasFactor, "the equation scales no tensor");
  if (scale->others.size() != 1) return refuse(program, equation.pos, kHasFactor,
                fmt::format("{} is scaled by {} factors; one at a time", equation.tensor, scale->others.size()));
  // The statement before the nest that holds nothing but the scaling.
  StmtPath root = scaling;
  while (root.size() > 1 && stmt_at(program.body(), parent_of(root))->body.size() == 1) root = parent_of(root);
  if (root.back() == 0) return refuse(program, equation.pos, kHasFactor, "nothing stands before the scaling");
  StmtPath loops = root;
  --loops.back();
  if (!writes_below(*stmt_at(program.body(), loops), equation.tensor) || stmt_at(program.body(), loops)->is_equation()) {
    return refuse(program, equation.pos, kHasFactor, fmt::format("the statement before the scaling does not update {} in loops", equation.tensor));
  }
  CAIRN_TRY(const Reduction reduction, find_reduction(program, loops, equation.tensor));
  const Stmt& first = *stmt_at(program.body(), reduction.updates[0]);
  Substitution names;
  for (std::size_t d = 0; d < first.subscripts.size(); ++d) {
    const Expr& here = *equation.subscripts[d];
    if (here.op == Op::loop_var) names.emplace_back(here.name, first.subscripts[d]);
  }
  const Factor factor{substitute_vars(scale->others[0].expr, names), scale->others[0].inverse};
  const std::vector<const Stmt*> around = loops_above(program.body(), reduction.updates[0]);
  std::string unknown;
  visit_expr(*factor.expr, [&](const Expr& e) {
    if (e.op == Op::loop_var && !has_loop(around, e.name)) unknown = e.name;
    return true;
  });
  if (!unknown.empty()) return refuse(program, equation.pos, kInvariant,
                fmt::format("the factor uses loop {}, which does not tell an element of {}", unknown, equation.tensor));
  Body body = program.body();
  for (const StmtPath& path : reduction.updates) {
    const StmtPtr now = map_operands(*stmt_at(program.body(), path), [&](const ExprPtr& operand) {
      if (!factor.divides && is_one(*operand)) return factor.expr;
      return make_expr(factor.divides ? Op::div : Op::mul, {operand, factor.expr});
    });
    body = replace_at(body, path, {now});
  }
  Step step;
  step.after = program;
  step.after.set_body(replace_at(body, root, {}));
  // The other way must be legal and lead back here: then both programs mean the same.
  Result<Step> forward = factor_out(step.after, reduction.updates[0], factor, loops);
  if (!forward) return std::move(forward.error());
  if (canonical_hash(forward->after) != canonical_hash(program)) {
    return refuse(program, equation.pos, kOnce, fmt::format("the scaling does not meet exactly the elements of {} that the loops update", equation.tensor));
  }
  step.exactness = forward->exactness;
  // The conditions speak of the program before, whose sums are the ones without the factor.
  const algebra::Place place = algebra::place_of(program, reduction.updates[0]);
  step.recorded = forward->recorded;
  const Dtype dtype = program.find(first.tensor)->dtype;
  if (dtype_bytes(dtype) <= 2 && is_float(dtype)) step.recorded.back() = fits_when_scaled(program, place, factor, factor.divides);
  step.same_instances = false;
  step.proved = conditions_up_to(kOrder);
  *back = {reduction.updates[0], loops, factor};
  return step;
}

}  // namespace cairn
