#include "strategy/edit/softmax_pattern.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "ir/text.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"

namespace cairn {

namespace {
constexpr int kMaxDepth = 8;

ExprPtr infinity(bool negative) { return make_float(negative ? -__builtin_inf() : __builtin_inf()); }

bool is_literal(const Expr& e, double value) {
  return (e.op == Op::float_literal && e.float_value == value) || (e.op == Op::int_literal && static_cast<double>(e.int_value) == value);
}

// if_then_else(abs(m)==inf,0,m) for a read m; null for anything else.
ExprPtr match_finite_shift(const Expr& e) {
  if (e.op != Op::select || !is_literal(*e.args[1], 0) || e.args[2]->op != Op::read) return nullptr;
  const Expr& cond = *e.args[0];
  if (cond.op != Op::eq || !is_literal(*cond.args[1], __builtin_inf()) || cond.args[0]->op != Op::abs) return nullptr;
  return same_expr(cond.args[0]->args[0], e.args[2]) ? e.args[2] : nullptr;
}

bool has_max_update(const EquationIndex& index, const std::string& tensor) {
  const std::vector<const EquationPlace*> writers = index.writers(tensor);
  return std::any_of(writers.begin(), writers.end(), [](const EquationPlace* w) {
    const std::optional<SelfUpdate> match = match_self_update(*w->stmt);
    return match && match->op == UpdateOp::max;
  });
}

const EquationPlace* update_of_tensor(const EquationIndex& index, const std::string& tensor) {
  const EquationPlace* found = nullptr;
  for (const EquationPlace* writer : index.writers(tensor)) {
    if (match_self_update(*writer->stmt)) found = writer;
  }
  return found;
}

// x - z in its spellings.
bool split_difference(const Expr& e, ExprPtr* x, ExprPtr* z) {
  if (e.op == Op::sub) {
    *x = e.args[0];
    *z = e.args[1];
    return true;
  }
  if (e.op != Op::add) return false;
  for (std::size_t k = 0; k < 2; ++k) {
    if (e.args[k]->op != Op::neg) continue;
    *z = e.args[k]->args[0];
    *x = e.args[1 - k];
    return true;
  }
  return false;
}
}  // namespace

ExprPtr look_through(const EquationIndex& index, ExprPtr e, const StmtPath& use, Dtype target, std::vector<std::string>* through, bool* rounded) {
  for (int depth = 0; depth < kMaxDepth && e->op == Op::read; ++depth) {
    ExprPtr value = index.value_of(*e, use);
    if (!value) break;
    const Dtype dtype = index.program().find(e->name)->dtype;
    *rounded |= !is_stored_exactly(dtype) || compute_type(dtype) != compute_type(target);
    if (std::find(through->begin(), through->end(), e->name) == through->end()) through->push_back(e->name);
    e = std::move(value);
  }
  return e;
}

std::optional<ExpTerm> match_exp_term(const EquationIndex& index, ExprPtr e, const StmtPath& use, Dtype target) {
  ExpTerm term;
  e = look_through(index, std::move(e), use, target, &term.through, &term.rounded);
  if (e->op != Op::exp) return std::nullopt;
  ExprPtr z;
  const ExprPtr argument = look_through(index, e->args[0], use, target, &term.through, &term.rounded);
  if (!split_difference(*argument, &term.x, &z)) return std::nullopt;
  if (z->op == Op::read && !has_max_update(index, z->name)) z = look_through(index, z, use, target, &term.through, &term.rounded);
  if (ExprPtr m = match_finite_shift(*z)) {
    term.shift = Shift::finite;
    z = std::move(m);
  }
  if (z->op != Op::read || !has_max_update(index, z->name)) return std::nullopt;
  term.maximum = z;
  return term;
}

bool same_tests(const RowReduction& a, const RowReduction& b, const VarMatch& a_to_b) {
  const auto gather = [](const RowReduction& row, std::size_t skip) {
    std::vector<ExprPtr> all;
    for (const auto* part : {&row.outer_tests, &row.row_tests, &row.step_tests}) all.insert(all.end(), part->begin(), part->end());
    return std::vector<ExprPtr>(all.begin() + static_cast<std::ptrdiff_t>(std::min(skip, all.size())), all.end());
  };
  const std::vector<ExprPtr> left = a_to_b.apply(gather(a, 0)), right = gather(b, 0);
  const auto within = [](const std::vector<ExprPtr>& x, const std::vector<ExprPtr>& y) {
    return std::all_of(x.begin(), x.end(), [&](const ExprPtr& e) {
      return std::any_of(y.begin(), y.end(), [&](const ExprPtr& f) { return same_expr(e, f); });
    });
  };
  return within(left, right) && within(right, left);
}

bool is_operand_of(const EquationIndex& index, const ExprPtr& x, const StmtPath& use, const VarMatch& map, const RowReduction& maximum) {
  if (same_expr(map.apply(x), maximum.operand)) return true;
  const Dtype dtype = index.program().find(maximum.tensor())->dtype;
  std::vector<std::string> through;
  bool rounded = false;
  const ExprPtr other = look_through(index, maximum.operand, maximum.place->path, dtype, &through, &rounded);
  const ExprPtr own = look_through(index, x, use, dtype, &through, &rounded);
  return !rounded && same_expr(map.apply(own), other);
}

bool is_unread_between(const EquationIndex& index, std::string_view tensor, const StmtPath& from, const StmtPath& to,
                       const std::vector<StmtPath>& allowed) {
  for (const StmtPath& reader : index.readers(tensor)) {
    if (reader > from && reader < to && std::find(allowed.begin(), allowed.end(), reader) == allowed.end()) return false;
  }
  return true;
}

Result<void> check_maximum_type(const Program& program, const RowReduction& maximum) {
  const Dtype dtype = program.find(maximum.tensor())->dtype;
  if (is_stored_exactly(dtype)) {
    bool wide = false;
    visit_expr(*maximum.operand, [&](const Expr& e) {
      if (e.op != Op::read) return true;
      const Tensor* t = program.find(e.name);
      wide |= t && t->dtype == Dtype::f64 && dtype != Dtype::f64;
      return true;
    });
    if (!wide) return {};
  } else {
    // x unchanged by the store: elements of that dtype, chosen by masks.
    const std::function<bool(const Expr&)> fits = [&](const Expr& e) {
      if (e.op == Op::read) return program.find(e.name) && program.find(e.name)->dtype == dtype;
      if (e.op == Op::float_literal) return e.float_value * 2 == e.float_value;
      return e.op == Op::select && fits(*e.args[1]) && fits(*e.args[2]);
    };
    if (fits(*maximum.operand)) return {};
  }
  return refuse(program, maximum.update().pos, 6, fmt::format("storing the maximum {} in {} rounds its operand", maximum.tensor(), dtype_name(dtype)));
}

Result<SoftmaxRows> find_softmax_rows(const EquationIndex& index, const StmtPath& path) {
  const Program& program = index.program();
  const EquationPlace* place = index.at(path);
  const Stmt& update = *place->stmt;
  const std::optional<SelfUpdate> match = match_self_update(update);
  const Tensor* target = program.find(update.tensor);
  if (!match || match->op != UpdateOp::add || match->others.size() != 1 || match->others[0].inverse || !target || !is_float(target->dtype)) {
    return refuse(program, update.pos, 1, fmt::format("{} is not a sum of one float operand", update.tensor));
  }
  std::optional<ExpTerm> term = match_exp_term(index, match->others[0].expr, path, target->dtype);
  if (!term) {
    return refuse(program, update.pos, 1, fmt::format("{} does not sum exp(x-m) with m the maximum of rows", update.tensor));
  }
  const EquationPlace* max_place = update_of_tensor(index, term->maximum->name);
  if (!(max_place->path < path)) {
    return refuse(program, update.pos, 4, fmt::format("the maximum {} is computed after the sum {}", term->maximum->name, update.tensor));
  }
  CAIRN_TRY(RowReduction maximum, find_row_reduction(index, max_place->path, UpdateOp::max));
  CAIRN_TRY(RowReduction sum, find_row_reduction(index, path, UpdateOp::add));
  SoftmaxRows rows{std::move(maximum), std::move(sum), *std::move(term), VarMatch(place->loops, max_place->loops), {}};

  const bool apart = !is_prefix(rows.maximum.axis_path, rows.sum.axis_path) && !is_prefix(rows.sum.axis_path, rows.maximum.axis_path);
  const bool instances = apart && rows.to_maximum.join(*rows.sum.axis, *rows.maximum.axis) &&
                         rows.to_maximum.unify(rows.term.maximum->args, rows.maximum.update().subscripts) && rows.to_maximum.covers_from() &&
                         rows.to_maximum.covers_to() && has_own_elements(rows.sum, common_loops(place->loops, max_place->loops));
  if (!instances) {
    return refuse(program, update.pos, 4, fmt::format("{} and {} do not reduce the same instances: their loops do not correspond one to one",
                                                      rows.maximum.tensor(), rows.sum.tensor()));
  }
  if (!same_tests(rows.sum, rows.maximum, rows.to_maximum)) {
    return refuse(program, update.pos, 4, fmt::format("{} and {} stand under different tests", rows.maximum.tensor(), rows.sum.tensor()));
  }
  if (!is_operand_of(index, rows.term.x, path, rows.to_maximum, rows.maximum)) {
    return refuse(program, update.pos, 4, fmt::format("{} takes the maximum of {}, {} sums the exponential of {}", rows.maximum.tensor(),
                                                      print_expr(*rows.maximum.operand), rows.sum.tensor(), print_expr(*rows.to_maximum.apply(rows.term.x))));
  }
  rows.sum_subscripts = rows.to_maximum.apply(update.subscripts);

  bool kept = index.keeps_all(*rows.maximum.operand, max_place->path, path);
  for (const auto* tests : {&rows.maximum.outer_tests, &rows.maximum.row_tests, &rows.maximum.step_tests}) {
    for (const ExprPtr& test : *tests) kept = kept && index.keeps_all(*test, max_place->path, path);
  }
  if (!kept) {
    return refuse(program, update.pos, 5, fmt::format("what {} reads may be rewritten before {} is summed", rows.maximum.tensor(), rows.sum.tensor()));
  }
  const StmtPath from = rows.sum.start ? std::min(*rows.sum.start, max_place->path) : max_place->path;
  if (!is_unread_between(index, rows.sum.tensor(), from, path, {path})) {
    return refuse(program, update.pos, 5, fmt::format("{} is read between the maximum and its own sum", rows.sum.tensor()));
  }
  CAIRN_CHECKED(check_maximum_type(program, rows.maximum));
  return rows;
}

Result<void> check_exponentials(const Program& program, const SoftmaxRows& rows) {
  if (!rows.term.rounded) return {};
  const std::string& sum = rows.sum.tensor();
  return refuse(program, rows.sum.update().pos, 6, fmt::format("an exponential that {} sums is stored in another type than {} is computed in", sum, sum));
}

bool may_sum_exponentials(const EquationPlace& place) {
  const Expr& rhs = *place.stmt->rhs;
  if (rhs.op != Op::add) return false;
  const auto is_self = [&](const Expr& e) { return e.op == Op::read && e.name == place.stmt->tensor; };
  const auto fits = [](const Expr& e) { return e.op == Op::exp || e.op == Op::read; };
  return (is_self(*rhs.args[0]) && fits(*rhs.args[1])) || (is_self(*rhs.args[1]) && fits(*rhs.args[0]));
}

ExprPtr is_void(const ExprPtr& m) { return make_expr(Op::eq, {m, infinity(true)}); }

ExprPtr shifted(Shift shift, const ExprPtr& m) {
  if (shift == Shift::plain) return m;
  return make_expr(Op::select, {make_expr(Op::eq, {make_expr(Op::abs, {m}), infinity(false)}), make_int(0), m});
}

ExprPtr rescale_factor(Shift shift, const ExprPtr& old, const ExprPtr& m) {
  // While every x so far was -inf the sum is 0, and a factor of 1 keeps it (0*inf would not).
  const ExprPtr factor = make_expr(Op::exp, {make_expr(Op::sub, {shifted(shift, old), shifted(shift, m)})});
  return make_expr(Op::select, {is_void(shift == Shift::plain ? m : old), make_int(1), factor});
}

ExprPtr running_term(Shift shift, const ExprPtr& x, const ExprPtr& m) {
  const ExprPtr term = make_expr(Op::exp, {make_expr(Op::sub, {x, shifted(shift, m)})});
  return shift == Shift::plain ? make_expr(Op::select, {is_void(m), make_int(0), term}) : term;
}

ExprPtr final_sum(Shift shift, const ExprPtr& m, const ExprPtr& sum) {
  if (shift == Shift::finite) return sum;  // a row of -inf sums to 0 there
  return make_expr(Op::select, {is_void(m), make_float(__builtin_nan("")), sum});
}

Result<Step> join_softmax_rows(const Program& program, const SoftmaxRows& rows, PathEdits edits, const std::vector<Tensor>& created, int conditions,
                               const Target* promises) {
  const RowReduction& row = rows.maximum;
  const std::string& sum = rows.sum.tensor();
  edits.remove(rows.sum.place->path);
  if (rows.sum.start) edits.remove(*rows.sum.start);
  if (row.start) edits.remove(*row.start);
  Step out;
  out.after = program;
  for (const Tensor& tensor : created) {
    out.after.set_tensor(tensor);
    out.created.push_back(tensor.name);
  }
  out.after.set_body(edits.apply(program.body()));
  // Other partial sums are rounded where the sum is narrower than what it is computed in.
  out.exactness = is_stored_exactly(program.find(sum)->dtype) ? Exactness::algebraic : Exactness::changes_precision;
  out.same_instances = false;
  out.proved = conditions_up_to(conditions);
  if (promises && !keeps_promises(row, sum, out.after, *promises)) return no_site(program, row.update().pos, "a loop around would break its promise");
  return out;
}

}  // namespace cairn
