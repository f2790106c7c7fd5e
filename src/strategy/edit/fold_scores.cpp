#include "strategy/edit/fold_scores.h"

#include <algorithm>
#include <map>

#include "ir/subscripts.h"
#include "ir/walk.h"

namespace cairn {

namespace {
class Folder {
 public:
  Folder(const EquationIndex& index, const RowReduction& maximum, const StmtPath& use, std::vector<StmtPath> removed,
         std::vector<std::string> tensors, std::vector<std::string> vars, FoldedScores* out)
      : index_(index), maximum_(maximum), use_(use), gone_(std::move(removed)), tensors_(std::move(tensors)), vars_(std::move(vars)), out_(*out) {}

  ExprPtr fold(const ExprPtr& e) {
    if (e->op == Op::read) return fold_read(e);
    if (e->args.empty()) return e;
    std::vector<ExprPtr> args;
    for (const ExprPtr& arg : e->args) args.push_back(fold(arg));
    if (args == e->args) return e;
    return e->op == Op::cast ? make_cast(e->dtype, std::move(args[0]), e->pos) : make_expr(e->op, std::move(args), e->pos);
  }

 private:
  ExprPtr fold_read(const ExprPtr& read) {
    const auto known = scalars_.find(read->name);
    if (known != scalars_.end()) return same_expr(*known->second.first, *read) ? known->second.second : read;
    const Tensor* tensor = index_.program().find(read->name);
    if (!tensor || tensor->role != Role::tmp || !is_float(tensor->dtype) || index_.writers(read->name).empty()) return read;
    std::vector<StmtPath> allowed = gone_;
    for (const EquationPlace* writer : index_.writers(read->name)) allowed.push_back(writer->path);  // a sum reads itself
    if (!is_read_only_by(index_, read->name, allowed) || !used_once(*read)) return read;
    if (ExprPtr value = index_.value_of(*read, use_)) {
      if (!reads_once(*value)) return read;
      forget(index_.writers(read->name)[0]->path);
      const ExprPtr scalar = make_scalar(*read, *tensor);
      value = fold(value);
      out_.statements.push_back(make_equation(scalar->name, {}, std::move(value)));
      return scalar;
    }
    return fold_sum(read, *tensor);
  }

  // X_{rows} = X + e over one loop: the loop moves into the step.
  ExprPtr fold_sum(const ExprPtr& read, const Tensor& tensor) {
    const std::vector<const EquationPlace*> writers = index_.writers(read->name);
    const EquationPlace& update = *writers.back();
    if (!(update.path < use_)) return read;
    const Result<RowReduction> sum = find_row_reduction(index_, update.path, UpdateOp::add);
    if (!sum || !sum->row_tests.empty() || !sum->step_tests.empty() || !index_.keeps_all(*sum->operand, update.path, use_)) return read;
    const std::vector<const Stmt*>& loops = update.loops;
    const StmtPath shared = common_body(update.path, use_);
    for (std::size_t d = shared.size(); d + 1 < update.path.size(); ++d) {
      if (stmt_at(index_.program().body(), StmtPath(update.path.begin(), update.path.begin() + static_cast<std::ptrdiff_t>(d) + 1))->is_test()) return read;
    }
    // Its loops but the axis become the subscripts of the read, which are rows and the axis of the maximum.
    std::vector<std::pair<std::string, ExprPtr>> map;
    for (std::size_t k = 0; k < read->args.size(); ++k) {
      const Expr& left = *update.stmt->subscripts[k];
      if (left.op == Op::int_literal && same_expr(left, *read->args[k])) continue;
      if (left.op != Op::loop_var || std::any_of(map.begin(), map.end(), [&](const auto& m) { return m.first == left.name; })) return read;
      map.emplace_back(left.name, read->args[k]);
    }
    for (const Stmt* loop : loops) {
      if (loop == sum->axis) continue;
      const auto found = std::find_if(map.begin(), map.end(), [&](const auto& m) { return m.first == loop->var; });
      const bool outside = std::find(maximum_.place->loops.begin(), maximum_.place->loops.end(), loop) != maximum_.place->loops.end();
      if (found == map.end() && !outside) return read;
      if (found != map.end() && outside && !(found->second->op == Op::loop_var && found->second->name == loop->var)) return read;
    }
    std::string axis = sum->axis->var;
    if (std::find(vars_.begin(), vars_.end(), axis) != vars_.end()) {
      axis = fresh_var(index_.program(), vars_);
      out_.vars.push_back(axis);
    }
    vars_.push_back(axis);
    if (axis != sum->axis->var) map.emplace_back(sum->axis->var, make_var(axis));
    forget(update.path);
    if (sum->start) forget(*sum->start);
    const ExprPtr scalar = make_scalar(*read, tensor);
    const ExprPtr operand = substitute_vars(sum->operand, map);
    const Stmt& like = *sum->axis;
    out_.statements.push_back(make_equation(scalar->name, {}, make_int(0)));
    out_.statements.push_back(make_loop(like.kind, like.extent, axis, {make_equation(scalar->name, {}, operator_add(scalar, operand))}, like.mark, like.pos));
    return scalar;
  }

  // Each element belongs to one row and key, so that nothing is computed twice.
  bool used_once(const Expr& read) const {
    const std::vector<const Stmt*>& around = index_.writers(read.name).back()->loops;
    return std::all_of(maximum_.place->loops.begin(), maximum_.place->loops.end(), [&](const Stmt* loop) {
      if (std::find(around.begin(), around.end(), loop) != around.end()) return true;
      return subscripts_use(read.args, loop->var);
    });
  }

  // Every tensor occurs with one list of subscripts, so that a scalar can stand for it.
  static bool reads_once(const Expr& value) {
    std::map<std::string, const Expr*> seen;
    bool once = true;
    visit_expr(value, [&](const Expr& e) {
      if (e.op != Op::read) return true;
      const auto [it, fresh] = seen.emplace(e.name, &e);
      once &= fresh || same_expr(*it->second, e);
      return true;
    });
    return once;
  }

  void forget(const StmtPath& path) {
    gone_.push_back(path);
    out_.removed.push_back(path);
  }

  ExprPtr make_scalar(const Expr& read, const Tensor& like) {
    const std::string name = fresh_tensor(index_.program(), tensors_);
    tensors_.push_back(name);
    out_.scalars.push_back(Tensor{name, Role::tmp, like.dtype, Scope::l, std::nullopt, false, kNoPos, {}});
    const ExprPtr scalar = make_read(name, {});
    scalars_[read.name] = {make_read(read.name, read.args), scalar};
    return scalar;
  }

  const EquationIndex& index_;
  const RowReduction& maximum_;
  const StmtPath& use_;
  std::vector<StmtPath> gone_;
  std::vector<std::string> tensors_, vars_;
  FoldedScores& out_;
  std::map<std::string, std::pair<ExprPtr, ExprPtr>> scalars_;   // tensor -> the read, what stands for it
};
}  // namespace

FoldedScores fold_scores(const EquationIndex& index, const RowReduction& maximum, const StmtPath& use, std::vector<StmtPath> removed,
                         std::vector<std::string> taken_tensors, std::vector<std::string> taken_vars) {
  FoldedScores out;
  Folder folder(index, maximum, use, std::move(removed), std::move(taken_tensors), std::move(taken_vars), &out);
  out.value = folder.fold(maximum.operand);
  return out;
}

}  // namespace cairn
