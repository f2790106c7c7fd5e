// normal_loop_max_to_prefix_max: a maximum over a loop keeps its running value at every step.
//
//   L_i L_d [M_{i}=max(M_{i},x)]
//   =>  L_i [L_d [O_{i,d}=max(if_then_else(d>0,O_{i,d-1},-inf),x)]; M_{i}=O_{i,n-1}]
//
// The history O has the dtype and scope of M and one more dimension; the copy stands right behind the loop, under the
// loops inside it. A test on the loop moves into the operand as -inf; an explicit start (M=-inf) goes. mode=final takes a
// history back: the inverse where no test moved and no start went.
//
// Legal when
// (1) the equation is a self-update of a float tensor by max with one operand,
// (2) exactly one loop reduces it, serial (L or U), and nothing else inside the loop names the tensor,
// (3) the tensor starts there: no prior value, no other writer but -inf set for exactly these elements, not read before,
// (4) the loop holds nothing but the update under loops and tests,
// (5) mode=final: the equation keeps a history that one copy of its last element alone reads, and the maximum without it
//     has this very history.
// The same maxima in the same order: exact, NaN included.
#include <fmt/core.h>

#include "ir/canon.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"
#include "strategy/edit/softmax_pattern.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

Result<Step> rewrite(const EquationIndex& index, const StmtPath& path, const Target* promises) {
  const Program& program = index.program();
  CAIRN_TRY(const RowReduction row, find_row_reduction(index, path, UpdateOp::max));
  if (!is_pure_chain(row)) {
    return refuse(program, row.axis->pos, 4, fmt::format("loop {} holds more than the reduction of {}; split it off first (operator_fission)",
                                                       row.axis->var, row.tensor()));
  }
  const Stmt& update = row.update();
  Tensor history = *program.find(row.tensor());
  history = Tensor{fresh_tensor(program), Role::tmp, history.dtype, history.scope, std::nullopt, false, kNoPos, {}};
  const HistoryAxis axis(row, update.subscripts);
  const ExprPtr operand = guard_operand(row, row.operand, neutral_element(UpdateOp::max, history.dtype));
  const ExprPtr before = axis.previous(history.name, neutral_element(UpdateOp::max, history.dtype));
  const Body step{make_equation(history.name, axis.here(), make_expr(Op::max, {before, operand}), update.pos)};
  const Body copy{make_equation(row.tensor(), update.subscripts, make_read(history.name, axis.last()), update.pos)};
  PathEdits edits;
  Body now = rebuild_axis(row, step);
  for (const StmtPtr& stmt : wrap_row(row, copy)) now.push_back(stmt);
  edits.replace(row.axis_path, std::move(now));
  if (row.start) edits.remove(*row.start);
  Step out;
  out.after = program;
  out.after.set_tensor(history);
  out.after.set_body(edits.apply(program.body()));
  out.same_instances = false;
  out.proved = conditions_up_to(4);
  out.created = {history.name};
  if (promises && !keeps_promises(row, history.name, out.after, *promises)) return no_site(program, row.update().pos, "a loop around would break its promise");
  return out;
}

// The running value that a history's equation goes on from: O_{i,d-1} of O_{i,d}=max(if_then_else(d>0,O_{i,d-1},-inf),x).
bool is_history(const Program& program, const Stmt& equation) {
  const Tensor* tensor = program.find(equation.tensor);
  if (equation.rhs->op != Op::max || !tensor || tensor->role != Role::tmp || equation.subscripts.empty()) return false;
  const Expr& before = *equation.rhs->args[0];
  return before.op == Op::select && before.args[1]->op == Op::read && before.args[1]->name == equation.tensor;
}

// mode=final; condition (5).
Result<Step> drop_history(const Program& program, const StmtPath& path) {
  const Stmt& step = *stmt_at(program.body(), path);
  const auto no = [&] { return refuse(program, step.pos, 5, fmt::format("{} is not the history of a maximum, read only where its last element is copied", step.tensor)); };
  if (!is_history(program, step)) return no();
  std::optional<StmtPath> copy;
  for (const EquationRef& ref : collect_equations(program.body())) {
    if (ref.path == path || !mentions_below(*ref.equation, step.tensor)) continue;
    const Expr& value = *ref.equation->rhs;
    if (copy || value.op != Op::read || value.name != step.tensor || ref.path < path) return no();
    copy = ref.path;
  }
  if (!copy) return no();
  const Stmt& last = *stmt_at(program.body(), *copy);
  Substitution names;
  for (std::size_t d = 0; d + 1 < step.subscripts.size(); ++d) {
    const Expr& here = *last.rhs->args[d];
    if (here.op == Op::loop_var) names.emplace_back(here.name, step.subscripts[d]);
  }
  std::vector<ExprPtr> subscripts;
  for (const ExprPtr& s : last.subscripts) subscripts.push_back(substitute_vars(s, names));
  const ExprPtr running = make_expr(Op::max, {make_read(last.tensor, subscripts), step.rhs->args[1]});
  Step out;
  out.after = program;
  const Body shorter = replace_at(program.body(), *copy, {});   // it stands behind: the path still holds
  out.after.set_body(replace_at(shorter, path, {make_equation(last.tensor, subscripts, running, step.pos)}));
  out.after.remove_tensor(step.tensor);
  const Result<Step> again = rewrite(EquationIndex(out.after), path, nullptr);
  if (!again || canonical_hash(again->after) != canonical_hash(program)) return no();
  out.same_instances = false;
  out.proved = conditions_up_to(5);
  out.inverse = Action{"normal_loop_max_to_prefix_max", Args{{"equation", equation_address(out.after.body(), path)}, {"mode", "prefix"}}};
  return out;
}

std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out = list_equation_sites(program, target, [](const EquationPlace& place) { return place.stmt->rhs->op == Op::max; }, rewrite);
  for (Args& args : out) args.add("mode", "prefix");
  for (const EquationRef& ref : collect_equations(program.body())) {
    if (!is_history(program, *ref.equation) || !drop_history(program, ref.path)) continue;
    out.push_back(Args{{"equation", equation_address(program.body(), ref.path)}, {"mode", "final"}});
  }
  return out;
}

Result<Step> apply(const Program& program, const Target&, const Args& args) {
  if (args.get("mode") == "final") {
    CAIRN_TRY(const StmtPath path, find_equation(program.body(), args.get("equation")));
    return drop_history(program, path);
  }
  CAIRN_TRY(Step step, apply_at_equation(program, args, rewrite));
  for (const EquationRef& ref : collect_equations(step.after.body())) {
    if (ref.equation->tensor != step.created[0]) continue;
    const Result<Step> back = drop_history(step.after, ref.path);
    if (!back || canonical_hash(back->after) != canonical_hash(program)) continue;
    step.inverse = Action{"normal_loop_max_to_prefix_max", Args{{"equation", equation_address(step.after.body(), ref.path)}, {"mode", "final"}}};
  }
  return step;
}

}  // namespace

extern const Strategy strategy_normal_loop_max_to_prefix_max{
    "normal_loop_max_to_prefix_max", Level::math, Direction::algebra, Exactness::exact,
    "a maximum over a loop keeps its running value at every step",
    {{"equation", ArgType::equation, "the reduction by max; mode=final: the history", {}, ""},
     {"mode", ArgType::choice, "keep every running value, or the final one alone", {"prefix", "final"}, "prefix"}},
    list_sites, apply};

}  // namespace cairn
