#include "strategy/edit/row_reduction.h"

#include <fmt/core.h>

#include <algorithm>

#include "analysis/dependence.h"
#include "base/check.h"
#include "ir/subscripts.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"
#include "verify/verify.h"

namespace cairn {

namespace {
// A literal equal to the neutral element of the operator.
bool is_start_value(const Expr& e, UpdateOp op) {
  if (op == UpdateOp::max || op == UpdateOp::min) {
    return e.op == Op::float_literal && e.float_value == (op == UpdateOp::max ? -__builtin_inf() : __builtin_inf());
  }
  const double wanted = op == UpdateOp::mul ? 1 : 0;
  if (e.op == Op::int_literal) return static_cast<double>(e.int_value) == wanted;
  return e.op == Op::float_literal && e.float_value == wanted;
}

// Finds the other writer, an explicit start, and checks that it covers what the update touches. (3)
Result<void> find_start(const EquationIndex& index, const EquationPlace& update, UpdateOp op, std::optional<StmtPath>* start) {
  const Program& program = index.program();
  const std::string& name = update.stmt->tensor;
  const std::vector<const EquationPlace*> writers = index.writers(name);
  const Tensor& tensor = *program.find(name);
  if (tensor.role == Role::io) {
    return refuse(program, update.stmt->pos, 3, fmt::format("{} is io: its value before goes on, the reduction does not start here", name));
  }
  if (writers.size() == 1) return {};
  if (writers.size() > 2 || writers[1] != &update || !is_start_value(*writers[0]->stmt->rhs, op)) {
    return refuse(program, update.stmt->pos, 3,
                  fmt::format("{} has {} writers; expected the reduction alone, or the neutral element before it", name, writers.size()));
  }
  const EquationPlace& first = *writers[0];
  const std::size_t common = common_loops(first.loops, update.loops);
  VarMatch match(first.loops, update.loops);
  const StmtPath body = common_body(first.path, update.path);
  const std::size_t depth = body.size();
  bool tested = false;
  for (std::size_t d = depth; d + 1 < first.path.size(); ++d) {
    tested |= stmt_at(program.body(), StmtPath(first.path.begin(), first.path.begin() + static_cast<std::ptrdiff_t>(d) + 1))->is_test();
  }
  // Every loop of the start must become one of the update's, and the subscripts then agree.
  const bool covers = !tested && match.unify(first.stmt->subscripts, update.stmt->subscripts) && match.covers_from() && first.loops.size() >= common;
  if (!covers) {
    return refuse(program, first.stmt->pos, 3, fmt::format("the start of {} does not set exactly the elements of the reduction", name));
  }
  for (const StmtPath& reader : index.readers(name)) {
    if (reader > first.path && reader < update.path) {
      return refuse(program, stmt_at(program.body(), reader)->pos, 3, fmt::format("{} is read between its start and the reduction", name));
    }
  }
  *start = first.path;
  return {};
}

// May the condition differ between iterations of the axis?
bool changes_along(const Expr& cond, const Stmt& axis) {
  bool changes = uses_var(cond, axis.var);
  visit_expr(cond, [&](const Expr& e) {
    changes |= e.op == Op::read && writes_below(axis, e.name);
    return !changes;
  });
  return changes;
}

// Does a loop carry a dependence of the tensor?
bool carries(const Program& program, const StmtPath& loop, const std::string& tensor) {
  const std::vector<Dependence> all = carried_dependences(program, loop);
  return std::any_of(all.begin(), all.end(), [&](const Dependence& d) { return d.source.tensor == tensor; });
}
}  // namespace

Result<RowReduction> find_row_reduction(const EquationIndex& index, const StmtPath& path, UpdateOp op) {
  const Program& program = index.program();
  RowReduction row;
  row.place = index.at(path);
  CAIRN_CHECK(row.place != nullptr);
  const Stmt& update = row.update();
  const std::string& name = update.tensor;
  const Tensor* tensor = program.find(name);
  const std::optional<SelfUpdate> match = match_self_update(update);
  row.op = op;
  if (!match || match->op != op || match->others.size() != 1 || match->others[0].inverse || !tensor || !is_float(tensor->dtype)) {
    return refuse(program, update.pos, 1, fmt::format("{} is not a reduction of floats by {} with one operand", name, update_op_name(op)));
  }
  row.operand = match->others[0].expr;
  CAIRN_CHECKED(find_start(index, *row.place, op, &row.start));
  const std::size_t fixed = row.start ? common_body(*row.start, path).size() : 0;

  // The loops that could reduce stand below the start.
  std::vector<const Stmt*> reducing;
  const Body* level = &program.body();
  for (std::size_t d = 0; d + 1 < path.size(); ++d) {
    const Stmt& around = *(*level)[path[d]];
    level = &around.body;
    if (around.is_loop() && d >= fixed && !subscripts_use(update.subscripts, around.var)) reducing.push_back(&around);
  }
  if (reducing.size() != 1) {
    if (reducing.empty()) return refuse(program, update.pos, 2, fmt::format("no loop reduces {}", name));
    return refuse(program, update.pos, 2, fmt::format("loops {} and {} both reduce {}; expected one", reducing[0]->var, reducing[1]->var, name));
  }
  row.axis = reducing[0];
  if (row.axis->kind != LoopKind::L && row.axis->kind != LoopKind::U) {
    return refuse(program, row.axis->pos, 2, fmt::format("loop {}, which reduces {}, has kind {}; a running form needs it serial (kind=L)", row.axis->var, name,
                                                         kind_name(row.axis->kind)));
  }
  row.axis_path = path_of_loop(program.body(), path, *row.axis);
  level = &program.body();
  for (std::size_t d = 0; d + 1 < path.size(); ++d) {
    const Stmt& around = *(*level)[path[d]];
    level = &around.body;
    const bool below = d >= row.axis_path.size();
    if (around.is_loop()) {
      if (below) row.inner.push_back(&around);
      const bool own = d < fixed || &around == row.axis || subscripts_name(update.subscripts, around.var);
      if (!own && carries(program, StmtPath(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(d) + 1), name)) {
        return refuse(program, around.pos, 2, fmt::format("loop {} reduces {} too: its iterations share elements", around.var, name));
      }
      continue;
    }
    for (ExprPtr& part : split_conjunction(around.cond)) {
      if (!below) {
        row.outer_tests.push_back(std::move(part));
      } else {
        (changes_along(*part, *row.axis) ? row.step_tests : row.row_tests).push_back(std::move(part));
      }
    }
  }
  for (const StmtPath& reader : index.readers(name)) {
    if (is_prefix(row.axis_path, reader) && reader != path) {
      return refuse(program, stmt_at(program.body(), reader)->pos, 2, fmt::format("{} is read while loop {} still reduces it", name, row.axis->var));
    }
  }
  return row;
}

bool has_own_elements(const RowReduction& row, std::size_t shared) {
  const std::vector<const Stmt*>& loops = row.place->loops;
  for (std::size_t k = shared; k < loops.size(); ++k) {
    if (loops[k] == row.axis) continue;
    // Loops above an explicit start were not asked whether they share elements.
    const std::vector<ExprPtr>& subscripts = row.update().subscripts;
    if (!(row.start ? subscripts_name(subscripts, loops[k]->var) : subscripts_use(subscripts, loops[k]->var))) return false;
  }
  return true;
}

Body wrap_row(const RowReduction& row, Body equations) {
  if (!row.row_tests.empty()) equations = Body{make_test(join_conjunction(row.row_tests), std::move(equations))};
  for (auto it = row.inner.rbegin(); it != row.inner.rend(); ++it) equations = Body{with_body(**it, std::move(equations))};
  return equations;
}

Body rebuild_axis(const RowReduction& row, Body equations) { return Body{with_body(*row.axis, wrap_row(row, std::move(equations)))}; }

bool is_pure_chain(const RowReduction& row) {
  const Stmt* stmt = row.axis;
  while (!stmt->is_equation()) {
    if (stmt->body.size() != 1) return false;
    stmt = stmt->body[0].get();
  }
  return true;
}

ExprPtr guard_operand(const RowReduction& row, const ExprPtr& e, const ExprPtr& otherwise) {
  return row.step_tests.empty() ? e : make_expr(Op::select, {join_conjunction(row.step_tests), e, otherwise});
}

std::vector<ExprPtr> lane_subscripts(const RowReduction& row) {
  std::vector<ExprPtr> out;
  for (const Stmt* loop : row.place->loops) {
    if (loop->kind == LoopKind::V) out.push_back(make_var(loop->var));
  }
  return out;
}

bool keeps_promises(const RowReduction& row, const std::string& other, const Program& after, const Target& target) {
  const bool serial = std::all_of(row.place->loops.begin(), row.place->loops.end(),
                                  [](const Stmt* l) { return l->kind == LoopKind::L || l->kind == LoopKind::U; });
  const auto global = [&](const std::string& name) { return !after.find(name) || after.find(name)->scope == Scope::g; };
  return (serial && global(row.tensor()) && global(other)) || check_program(after, target).ok();
}

std::vector<ExprPtr> HistoryAxis::at(const ExprPtr& step) const {
  std::vector<ExprPtr> out = subscripts_;
  out.push_back(step);
  return out;
}

ExprPtr HistoryAxis::previous(const std::string& tensor, const ExprPtr& otherwise) const {
  const ExprPtr d = make_var(row_.axis->var);
  const ExprPtr read = make_read(tensor, at(make_expr(Op::sub, {d, make_int(1)})));
  return make_expr(Op::select, {make_expr(Op::gt, {d, make_int(0)}), read, otherwise});
}

namespace {
Body insert_at(const Body& body, const StmtPath& path, const Body& statements) {
  const StmtPath parent = parent_of(path);
  const StmtPtr holder = parent.empty() ? nullptr : shared_at(body, parent);
  Body now = holder ? holder->body : body;
  CAIRN_CHECK(path.back() <= now.size());
  now.insert(now.begin() + static_cast<std::ptrdiff_t>(path.back()), statements.begin(), statements.end());
  return holder ? replace_at(body, parent, {with_body(*holder, std::move(now))}) : now;
}
}  // namespace

Body PathEdits::apply(const Body& body) const {
  std::vector<const Edit*> order;
  for (const Edit& edit : edits_) order.push_back(&edit);
  std::stable_sort(order.begin(), order.end(), [](const Edit* a, const Edit* b) { return b->path < a->path; });
  Body out = body;
  for (const Edit* edit : order) {
    Body now;
    if (edit->only_insert) {
      out = insert_at(out, edit->path, edit->before);
      continue;
    }
    if (edit->replacement) {
      now = *edit->replacement;
    } else {
      now = edit->before;
      now.push_back(shared_at(out, edit->path));
      now.insert(now.end(), edit->after.begin(), edit->after.end());
    }
    out = replace_at(out, edit->path, now);
  }
  return out;
}

std::vector<Args> list_equation_sites(const Program& program, const Target& target, bool (*may)(const EquationPlace&), EquationRewrite rewrite) {
  std::vector<Args> out;
  const EquationIndex index(program);
  for (std::size_t k = 0; k < index.equations().size(); ++k) {
    const EquationPlace& place = index.equations()[k];
    if (may(place) && rewrite(index, place.path, &target)) out.push_back(Args{{"equation", fmt::format("s{}", k)}});
  }
  return out;
}

Result<Step> apply_at_equation(const Program& program, const Args& args, EquationRewrite rewrite) {
  CAIRN_TRY(const StmtPath path, find_equation(program.body(), args.get("equation")));
  return rewrite(EquationIndex(program), path, nullptr);
}

}  // namespace cairn
