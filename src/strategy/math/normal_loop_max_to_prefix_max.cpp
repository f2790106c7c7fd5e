// normal_loop_max_to_prefix_max: a maximum over a loop keeps its running value at every step.
//
//   L_i L_d [M_{i}=max(M_{i},x)]
//   =>  L_i [L_d [O_{i,d}=max(if_then_else(d>0,O_{i,d-1},-inf),x)]; M_{i}=O_{i,n-1}]
//
// The history O has the dtype and scope of M and one more dimension; the copy stands right behind the loop, under the
// loops inside it. A test on the loop moves into the operand as -inf; an explicit start (M=-inf) goes.
//
// Legal when
// (1) the equation is a self-update of a float tensor by max with one operand,
// (2) exactly one loop reduces it, serial (L or U), and nothing else inside the loop names the tensor,
// (3) the tensor starts there: no prior value, no other writer but -inf set for exactly these elements, not read before,
// (4) the loop holds nothing but the update under loops and tests.
// The same maxima in the same order: exact, NaN included.
#include <fmt/core.h>

#include "ir/walk.h"
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

std::vector<Args> list_sites(const Program& program, const Target& target) {
  return list_equation_sites(program, target, [](const EquationPlace& place) { return place.stmt->rhs->op == Op::max; }, rewrite);
}

Result<Step> apply(const Program& program, const Target&, const Args& args) { return apply_at_equation(program, args, rewrite); }

}  // namespace

extern const Strategy strategy_normal_loop_max_to_prefix_max{
    "normal_loop_max_to_prefix_max", Level::math, Direction::algebra, Exactness::exact,
    "a maximum over a loop keeps its running value at every step",
    {{"equation", ArgType::equation, "the reduction by max", {}, ""}},
    list_sites, apply};

}  // namespace cairn
