// ConcatMatcher on operands that are read through windows: strides, bounds, and the rows these leave equal.
#include <fmt/core.h>

#include <algorithm>

#include "ir/interval.h"
#include "strategy/edit/simplify.h"
#include "strategy/edit/split.h"
#include "strategy/graph/concat_match.h"

namespace cairn {
namespace {

// A comparison as form >= 0, or nullopt.
std::optional<LinearForm> bound_form(const Expr& e) {
  const bool less = e.op == Op::lt || e.op == Op::le;
  if (!less && e.op != Op::gt && e.op != Op::ge) return std::nullopt;
  const ExprPtr& high = less ? e.args[1] : e.args[0];
  const ExprPtr& low = less ? e.args[0] : e.args[1];
  std::optional<LinearForm> form = linear_form(*make_expr(Op::sub, {high, low}));
  if (form && (e.op == Op::lt || e.op == Op::gt)) --form->constant;
  return form;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -ceil_div(-a, b); }

}  // namespace

std::int64_t ConcatMatcher::stride_of(const Exprs& e) const {
  const std::optional<LinearForm> first = linear_form(*e[0]);
  if (!first) return 0;
  for (const ExprPtr& x : e) {
    const std::optional<LinearForm> form = linear_form(*x);
    if (!form || !(*form == *first)) return 0;
  }
  return first->coefficient(axis_vars_[0]);
}

Result<bool> ConcatMatcher::spread() {
  CAIRN_TRY(const auto shapes, infer_shapes(program_));
  bool moved = false;
  for (const JoinedTensor& joined : joined_) {
    for (std::size_t k = 0; joined.stride != 0 && k < nests_.size(); ++k) {
      const std::int64_t span = ceil_div(shapes.find(joined.tensors[k])->second[joined.dim], joined.stride);
      moved |= span > std::max(extents_[k], spans_[k]);
      spans_[k] = std::max(spans_[k], span);
    }
  }
  return moved;
}

Result<ExprPtr> ConcatMatcher::join_bounds(const Exprs& e) {
  for (const ExprPtr& x : e) {
    if (x->op != e[0]->op) return refuse_at(x->pos, 1, "the nests differ in a condition here");
  }
  if (e[0]->op != Op::logical_and) return join_bound(e);
  std::vector<ExprPtr> sides;
  for (std::size_t side = 0; side < 2; ++side) {
    Exprs sub;
    for (const ExprPtr& x : e) sub.push_back(x->args[side]);
    CAIRN_TRY(ExprPtr joined, join(sub));
    sides.push_back(std::move(joined));
  }
  return make_expr(Op::logical_and, std::move(sides), e[0]->pos);
}

// A lower bound is the first nest's, an upper bound the last one's, counted on. In the other nests the rows where both
// their own bound and the joined one always hold stay as they are (over all iterations of the other loops: exact
// bounds of an affine form on a box).
Result<ExprPtr> ConcatMatcher::join_bound(const Exprs& e) {
  const std::string& axis = axis_vars_[0];
  std::vector<LinearForm> forms;
  for (const ExprPtr& x : e) {
    const std::optional<LinearForm> form = bound_form(*x);
    if (!form || (!forms.empty() && form->terms != forms[0].terms)) {
      return refuse_at(x->pos, 5, "a condition on the axis is not a bound that differs by a constant only");
    }
    forms.push_back(*form);
  }
  const std::int64_t step = forms[0].coefficient(axis);
  if (step == 0) return refuse_at(e[0]->pos, 5, "a condition on the axis is not a bound of it");
  std::int64_t rest = 0;   // least value of the other terms
  for (const auto& [var, coef] : forms[0].terms) {
    if (var == axis) continue;
    const auto range = std::find_if(ranges_[0].begin(), ranges_[0].end(), [&](const LoopRange& r) { return r.var == var; });
    if (range == ranges_[0].end()) return refuse_at(e[0]->pos, 5, "a condition on the axis has a variable without a range");
    rest += std::min<std::int64_t>(0, coef * (range->extent - 1));
  }
  const std::size_t last = e.size() - 1;
  for (std::size_t k = 0; k <= last; ++k) {
    Rows& rows = rows_[k];
    if (step > 0 && k > 0) {
      const auto from = [&](std::int64_t constant) { return ceil_div(std::max<std::int64_t>(-(rest + constant), 0), step); };
      rows.lo = std::max({rows.lo, from(forms[k].constant), from(forms[0].constant) - offsets_[k]});
    }
    if (step < 0 && k < last) {
      const auto end = [&](std::int64_t constant) { return floor_div(rest + constant, -step) + 1; };
      rows.hi = std::min({rows.hi, end(forms[k].constant), end(forms[last].constant) + offsets_[last] - offsets_[k]});
    }
    rows.hi = std::max(rows.hi, rows.lo);
  }
  if (step > 0) return e[0];
  // The last nest's bound, counted on: on a literal where there is one.
  const Expr& bound = *e[last];
  std::vector<ExprPtr> sides = bound.args;
  for (std::size_t side = 0; side < 2; ++side) {
    if (sides[side]->op != Op::int_literal) continue;
    sides[side] = make_int(sides[side]->int_value + linear_form(*sides[1 - side])->coefficient(axis) * offsets_[last]);
    return make_expr(bound.op, std::move(sides), bound.pos);
  }
  const Substitution back{{axis, sub_index(make_var(axis), make_int(offsets_[last]))}};
  return substitute_vars(e[last], back);
}

}  // namespace cairn
