#include "strategy/edit/attention_pattern.h"

#include <fmt/core.h>

#include <algorithm>

#include "ir/subscripts.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"

namespace cairn {

namespace {
constexpr int kMaxDepth = 8;

bool is_zero(const Expr& e) { return (e.op == Op::int_literal && e.int_value == 0) || (e.op == Op::float_literal && e.float_value == 0); }

// The read in m==-inf, or null.
ExprPtr match_void(const Expr& cond) {
  if (cond.op != Op::eq || cond.args[0]->op != Op::read) return nullptr;
  const Expr& literal = *cond.args[1];
  return literal.op == Op::float_literal && literal.float_value == -__builtin_inf() ? cond.args[0] : nullptr;
}

// Takes the product apart into the exponential, other factors and divisors, looking through stored weights.
class Factors {
 public:
  Factors(const EquationIndex& index, const StmtPath& use, Dtype target) : index_(index), use_(use), target_(target) {}

  void collect(const ExprPtr& e, bool inverse, int depth = 0) {
    if (e->op == Op::mul || e->op == Op::div) {
      collect(e->args[0], inverse, depth);
      collect(e->args[1], inverse != (e->op == Op::div), depth);
      return;
    }
    if (e->op == Op::select && !inverse && !void_read && is_zero(*e->args[1])) {
      if (ExprPtr m = match_void(*e->args[0]); m && leads_to_exp(e->args[2], depth)) {
        void_read = std::move(m);
        collect(e->args[2], inverse, depth);
        return;
      }
    }
    if (e->op == Op::read && !inverse && depth < kMaxDepth) {
      if (const ExprPtr value = index_.value_of(*e, use_); value && value->op != Op::exp && leads_to_exp(value, depth + 1)) {
        const Dtype dtype = index_.program().find(e->name)->dtype;
        rounded |= !is_stored_exactly(dtype) || compute_type(dtype) != compute_type(target_);
        through.push_back(e->name);
        collect(value, inverse, depth + 1);
        return;
      }
    }
    all.push_back({e, inverse});
  }

  std::vector<WeightedRows::Factor> all;
  ExprPtr void_read;
  std::vector<std::string> through;
  bool rounded = false;

 private:
  bool leads_to_exp(const ExprPtr& e, int depth) const {
    if (depth > kMaxDepth) return false;
    switch (e->op) {
      case Op::exp: return true;
      case Op::mul: return leads_to_exp(e->args[0], depth) || leads_to_exp(e->args[1], depth);
      case Op::div: return leads_to_exp(e->args[0], depth);
      case Op::select: return match_void(*e->args[0]) && is_zero(*e->args[1]) && leads_to_exp(e->args[2], depth);
      case Op::read: {
        const ExprPtr value = index_.value_of(*e, use_);
        return value && leads_to_exp(value, depth + 1);
      }
      default: return false;
    }
  }

  const EquationIndex& index_;
  const StmtPath& use_;
  Dtype target_;
};

bool same_list(const std::vector<ExprPtr>& a, const std::vector<ExprPtr>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const ExprPtr& x, const ExprPtr& y) { return same_expr(x, y); });
}

std::vector<ExprPtr> all_tests(const RowReduction& row) {
  std::vector<ExprPtr> out = row.outer_tests;
  out.insert(out.end(), row.row_tests.begin(), row.row_tests.end());
  out.insert(out.end(), row.step_tests.begin(), row.step_tests.end());
  return out;
}

// Condition (4) for the tests: the maximum's all stand around the product; others choose rows and values only.
bool split_tests(const WeightedRows& found, std::vector<ExprPtr>* others) {
  const std::vector<ExprPtr> wanted = all_tests(found.softmax.maximum);
  std::vector<bool> seen(wanted.size(), false);
  for (const ExprPtr& test : all_tests(found.product)) {
    const ExprPtr now = found.to_maximum.apply(test);
    bool matched = false;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      if (!same_expr(now, wanted[k])) continue;
      seen[k] = true;
      matched = true;
    }
    if (matched) continue;
    if (!is_index_condition(*test) || uses_var(*test, found.product.axis->var)) return false;
    others->push_back(test);
  }
  return std::find(seen.begin(), seen.end(), false) == seen.end();
}

bool written_below(const EquationIndex& index, const Expr& e, const StmtPath& root) {
  bool written = false;
  visit_expr(e, [&](const Expr& node) {
    if (node.op == Op::read) {
      for (const EquationPlace* writer : index.writers(node.name)) written |= is_prefix(root, writer->path);
    }
    return !written;
  });
  return written;
}

// Conditions (5) and (7): what goes, and who else reads it.
Result<void> find_removed(const EquationIndex& index, const std::vector<std::string>& through, WeightedRows* found) {
  const Program& program = index.program();
  const RowReduction& maximum = found->softmax.maximum;
  const RowReduction& sum = found->softmax.sum;
  found->removed = {maximum.place->path, sum.place->path, found->product.place->path};
  for (const RowReduction* row : std::initializer_list<const RowReduction*>{&maximum, &sum, &found->product}) {
    if (row->start) found->removed.push_back(*row->start);
  }
  std::vector<std::string> open = through;
  for (bool again = true; again;) {
    again = false;
    for (auto it = open.begin(); it != open.end();) {
      if (!is_read_only_by(index, *it, found->removed)) {
        ++it;
        continue;
      }
      found->removed.push_back(index.writers(*it)[0]->path);
      it = open.erase(it);
      again = true;
    }
  }
  for (const std::string& name : open) {
    return refuse(program, index.writers(name)[0]->stmt->pos, 7, fmt::format("{}, which would go, is read elsewhere", name));
  }
  for (const RowReduction* row : {&maximum, &sum}) {
    bool& keep = row == &maximum ? found->keep_maximum : found->keep_sum;
    keep = program.find(row->tensor())->role != Role::tmp;
    for (const StmtPath& reader : index.readers(row->tensor())) {
      if (std::find(found->removed.begin(), found->removed.end(), reader) != found->removed.end()) continue;
      keep = true;
      if (is_prefix(found->body, reader) && reader > row->place->path && !(reader > found->root && !is_prefix(found->root, reader))) {
        return refuse(program, stmt_at(program.body(), reader)->pos, 5, fmt::format("{} is read before the weighted sum is complete", row->tensor()));
      }
    }
  }
  return {};
}
}  // namespace

bool may_weigh(const EquationPlace& place) {
  const Expr& rhs = *place.stmt->rhs;
  if (rhs.op != Op::add) return false;
  return std::any_of(rhs.args.begin(), rhs.args.end(), [](const ExprPtr& e) { return e->op == Op::mul || e->op == Op::div; });
}

bool is_read_only_by(const EquationIndex& index, std::string_view tensor, const std::vector<StmtPath>& removed) {
  const std::vector<StmtPath> readers = index.readers(tensor);
  return std::all_of(readers.begin(), readers.end(), [&](const StmtPath& p) { return std::find(removed.begin(), removed.end(), p) != removed.end(); });
}

Result<WeightedRows> find_weighted_rows(const EquationIndex& index, const StmtPath& path) {
  const Program& program = index.program();
  const Stmt& update = *index.at(path)->stmt;
  const std::optional<SelfUpdate> match = match_self_update(update);
  const Tensor* target = program.find(update.tensor);
  const auto no_weights = [&] {
    return refuse(program, update.pos, 1, fmt::format("{} does not sum exp(x-m)/s times values, m and s the maximum and the sum of the rows", update.tensor));
  };
  if (!match || match->op != UpdateOp::add || match->others.size() != 1 || match->others[0].inverse || !target || !is_float(target->dtype)) return no_weights();
  Factors factors(index, path, target->dtype);
  factors.collect(match->others[0].expr, false);
  std::optional<ExpTerm> term;
  ExprPtr divisor;
  std::vector<WeightedRows::Factor> rest;
  for (const WeightedRows::Factor& factor : factors.all) {
    if (!term && !factor.inverse && (term = match_exp_term(index, factor.expr, path, target->dtype))) continue;
    rest.push_back(factor);
  }
  if (!term) return no_weights();
  const EquationPlace* sum = nullptr;
  for (auto it = rest.begin(); it != rest.end() && !sum; ++it) {
    if (!it->inverse || it->expr->op != Op::read) continue;
    for (const EquationPlace* writer : index.writers(it->expr->name)) {
      const std::optional<SelfUpdate> adds = match_self_update(*writer->stmt);
      if (!adds || adds->op != UpdateOp::add || adds->others.size() != 1) continue;
      const std::optional<ExpTerm> summed = match_exp_term(index, adds->others[0].expr, writer->path, target->dtype);
      if (summed && summed->maximum->name == term->maximum->name) sum = writer;
    }
    if (sum) {
      divisor = it->expr;
      rest.erase(it);
      break;
    }
  }
  if (!sum || (factors.void_read && !same_expr(factors.void_read, term->maximum))) return no_weights();
  CAIRN_TRY(SoftmaxRows softmax, find_softmax_rows(index, sum->path));
  CAIRN_TRY(RowReduction product, find_row_reduction(index, path, UpdateOp::add));
  const std::vector<const Stmt*>& own = product.place->loops;
  VarMatch map(own, softmax.maximum.place->loops);
  WeightedRows found{std::move(softmax), std::move(product), std::move(map), {}, {}, std::move(rest), *std::move(term), factors.void_read != nullptr,
                     {}, {}, {}, false, false, false};
  const RowReduction& maximum = found.softmax.maximum;
  const bool same = !is_prefix(found.product.axis_path, sum->path) && found.to_maximum.join(*found.product.axis, *maximum.axis) &&
                    found.to_maximum.unify(found.term.maximum->args, maximum.update().subscripts) && found.to_maximum.covers_to() &&
                    found.term.shift == found.softmax.term.shift && sum->path < path &&
                    same_list(found.to_maximum.apply(divisor->args), found.softmax.sum_subscripts) &&
                    has_own_elements(found.product, common_loops(own, maximum.place->loops));
  if (!same) {
    return refuse(program, update.pos, 4, fmt::format("{} does not take the rows of {} and {} one to one", update.tensor, maximum.tensor(), sum->stmt->tensor));
  }
  for (const Stmt* loop : own) {
    if (found.to_maximum.image(*loop)) continue;
    const bool named = subscripts_use(update.subscripts, loop->var);
    if (!named) return refuse(program, update.pos, 4, fmt::format("loop {} around {} is neither a row nor an axis of the values", loop->var, update.tensor));
    found.values.push_back(loop);
  }
  if (!is_operand_of(index, found.term.x, path, found.to_maximum, maximum)) {
    return refuse(program, update.pos, 4, fmt::format("{} weighs by another x than {} is the maximum of", update.tensor, maximum.tensor()));
  }
  if (!split_tests(found, &found.value_tests)) {
    return refuse(program, update.pos, 4, fmt::format("{} and {} stand under different tests", maximum.tensor(), update.tensor));
  }

  found.body = common_body(maximum.place->path, path);
  found.root = StmtPath(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(found.body.size()) + 1);
  bool written = !index.keeps_all(*maximum.operand, maximum.place->path, path);
  for (const ExprPtr& test : all_tests(maximum)) written |= !index.keeps_all(*test, maximum.place->path, path);
  for (const WeightedRows::Factor& factor : found.factors) {
    written |= written_below(index, *factor.expr, found.root) || reads_tensor(*factor.expr, maximum.tensor()) || reads_tensor(*factor.expr, sum->stmt->tensor);
  }
  if (written) {
    return refuse(program, update.pos, 5, fmt::format("what {} and {} read may be rewritten before the weighted sum is complete", maximum.tensor(),
                                                      update.tensor));
  }
  std::vector<std::string> through = factors.through;
  for (const ExpTerm* t : {&found.term, &found.softmax.term}) {
    for (const std::string& name : t->through) {
      if (std::find(through.begin(), through.end(), name) == through.end()) through.push_back(name);
    }
    found.rounded |= t->rounded;
  }
  CAIRN_CHECKED(find_removed(index, through, &found));
  for (const RowReduction* row : std::initializer_list<const RowReduction*>{&maximum, &found.softmax.sum, &found.product}) {
    const Dtype dtype = program.find(row->tensor())->dtype;
    found.rounded |= !is_stored_exactly(dtype) || compute_type(dtype) != compute_type(target->dtype);
  }
  found.rounded |= factors.rounded;
  return found;
}

}  // namespace cairn
