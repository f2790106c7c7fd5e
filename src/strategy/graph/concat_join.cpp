// The second half of ConcatMatcher: expressions of several nests become one over the joined axis.
#include <fmt/core.h>

#include <algorithm>

#include "strategy/edit/simplify.h"
#include "strategy/graph/concat_match.h"

namespace cairn {
namespace {

bool same_node(const Expr& a, const Expr& b) {
  const bool nan = a.float_value != a.float_value && b.float_value != b.float_value;
  return a.op == b.op && a.dtype == b.dtype && a.int_value == b.int_value && (a.float_value == b.float_value || nan) && a.args.size() == b.args.size();
}

}  // namespace

const ConcatMatcher::Written* ConcatMatcher::find_written(const Exprs& e) const {
  const auto at = written_.find(e[0]->name);
  return at == written_.end() ? nullptr : &at->second;
}

Result<StmtPtr> ConcatMatcher::join_equation(const Stmts& stmts) {
  const Stmt& first = *stmts[0];
  const Written& written = written_.find(first.tensor)->second;
  const bool copied = written.kind == Kind::copied;
  std::vector<ExprPtr> subscripts;
  for (std::size_t d = 0; d < first.subscripts.size(); ++d) {
    Exprs subs;
    for (const Stmt* s : stmts) subs.push_back(s->subscripts[d]);
    subs = renamed_all(subs);
    if (copied && !std::all_of(subs.begin(), subs.end(), [](const ExprPtr& s) { return is_index_expr(*s); })) {
      return refuse_at(first.pos, 3, fmt::format("{} is written at a subscript that reads a tensor", first.tensor));
    }
    if (copied && d == joined_[written.joined].dim) {
      subscripts.push_back(make_var(plain_axis(subs)->var));
    } else {
      CAIRN_TRY(ExprPtr sub, join(subs));
      subscripts.push_back(std::move(sub));
    }
  }
  Exprs rhs;
  for (const Stmt* s : stmts) rhs.push_back(s->rhs);
  CAIRN_TRY(ExprPtr value, join(renamed_all(rhs)));
  return make_equation(copied ? joined_[written.joined].name : first.tensor, std::move(subscripts), std::move(value), first.pos);
}

Result<ExprPtr> ConcatMatcher::join(const Exprs& e) {
  const ExprPtr& first = e[0];
  const bool axis = std::any_of(e.begin(), e.end(), [&](const ExprPtr& x) { return uses_axis(*x); });
  if (axis && windows_ && first->op != Op::int_literal && !is_index_expr(*first) && is_index_condition(*first)) return join_bounds(e);
  if (is_index_expr(*first) || is_index_condition(*first)) {
    const bool same = axis ? counts_on(e) : std::all_of(e.begin(), e.end(), [&](const ExprPtr& x) { return same_expr(x, first); });
    if (same) return first;
    return refuse_at(first->pos, axis ? 5 : 1, axis ? "an index value or condition on the axis would not count on from one nest to the next"
                                                    : "the nests differ in a literal or an index expression here");
  }
  for (const ExprPtr& x : e) {
    if (!same_node(*x, *first)) return refuse_at(x->pos, 1, fmt::format("the nests differ here: {} and {}", op_name(first->op), op_name(x->op)));
  }
  if (first->op == Op::read) return join_read(e);
  std::vector<ExprPtr> args;
  for (std::size_t a = 0; a < first->args.size(); ++a) {
    Exprs sub;
    for (const ExprPtr& x : e) sub.push_back(x->args[a]);
    CAIRN_TRY(ExprPtr arg, join(sub));
    args.push_back(std::move(arg));
  }
  if (args == first->args) return first;
  if (first->op == Op::cast) return make_cast(first->dtype, std::move(args[0]), first->pos);
  return make_expr(first->op, std::move(args), first->pos);
}

Result<ExprPtr> ConcatMatcher::join_read(const Exprs& e) {
  const Expr& first = *e[0];
  JoinedTensor window;
  window.pos = first.pos;
  for (const ExprPtr& x : e) window.tensors.push_back(x->name);
  const Written* written = find_written(e);
  for (std::size_t k = 0; k < e.size(); ++k) {
    const bool is_written = written_by_[k].contains(window.tensors[k]);
    if (is_written == (written != nullptr) && (!written || written->tensors[k] == window.tensors[k])) continue;
    return refuse_at(e[k]->pos, 5, fmt::format("{} and {} stand in one place, and only one is what its nest computes there", first.name, window.tensors[k]));
  }
  const bool one_tensor = std::all_of(window.tensors.begin(), window.tensors.end(), [&](const std::string& t) { return t == first.name; });

  std::vector<ExprPtr> subscripts;
  std::vector<std::size_t> axis_dims;
  std::optional<Plain> plain;
  bool on = true;
  for (std::size_t d = 0; d < first.args.size(); ++d) {
    Exprs subs;
    for (const ExprPtr& x : e) subs.push_back(x->args[d]);
    if (is_index_expr(*subs[0]) && std::any_of(subs.begin(), subs.end(), [&](const ExprPtr& s) { return uses_axis(*s); })) {
      axis_dims.push_back(d);
      plain = plain_axis(subs);
      on &= counts_on(subs);
      subscripts.push_back(subs[0]);
      continue;
    }
    CAIRN_TRY(ExprPtr sub, join(subs));
    subscripts.push_back(std::move(sub));
  }
  if (axis_dims.empty()) {
    if (written && written->kind != Kind::without_axis) {
      return refuse_at(first.pos, 3, fmt::format("an element of {} is read across the axis it is computed along", first.name));
    }
    if (!written && !one_tensor) {
      const auto other = std::find_if(window.tensors.begin(), window.tensors.end(), [&](const std::string& t) { return t != first.name; });
      return refuse_at(first.pos, 5, fmt::format("{} and {} do not have the axis and are different tensors", first.name, *other));
    }
    return make_read(first.name, std::move(subscripts), first.pos);
  }
  if (windows_ && !written) {
    Exprs subs;
    for (const ExprPtr& x : e) subs.push_back(x->args[axis_dims[0]]);
    window.dim = axis_dims[0];
    window.starts.assign(e.size(), 0);
    window.stride = axis_dims.size() == 1 ? stride_of(subs) : 0;
    if (window.stride < 1) {
      return refuse_at(first.pos, 4, fmt::format("{} and {} are not read through one window: a subscript with equal stride, dilation and padding", first.name, window.tensors[1]));
    }
    has_windows_ = has_windows_ || subs[0]->op != Op::loop_var;
    CAIRN_TRY(const std::size_t whole, add_joined(std::move(window)));
    return make_read(joined_[whole].name, std::move(subscripts), first.pos);
  }
  if (on && !windows_ && (written ? written->kind == Kind::shared_elements : one_tensor)) return make_read(first.name, std::move(subscripts), first.pos);
  const bool single = axis_dims.size() == 1 && plain && std::all_of(e.begin(), e.end(), [&](const ExprPtr& x) { return is_index_expr(*x->args[axis_dims[0]]); });
  if (!single) return refuse_at(first.pos, 4, fmt::format("{} has the axis elsewhere than in one subscript, alone or plus a constant", first.name));
  window.dim = axis_dims[0];
  window.starts = plain->starts;
  subscripts[window.dim] = make_var(plain->var);
  if (written) {
    const bool same = written->kind == Kind::copied && joined_[written->joined].dim == window.dim && joined_[written->joined].starts == window.starts;
    if (!same) return refuse_at(first.pos, 3, fmt::format("{} is read at another place of the axis than it is computed at", first.name));
    return make_read(joined_[written->joined].name, std::move(subscripts), first.pos);
  }
  CAIRN_TRY(const std::size_t at, add_joined(std::move(window)));
  return make_read(joined_[at].name, std::move(subscripts), first.pos);
}

}  // namespace cairn
