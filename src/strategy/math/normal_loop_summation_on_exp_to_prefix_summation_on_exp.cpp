// normal_loop_summation_on_exp_to_prefix_summation_on_exp: the sum of exp(x-m) with the final maximum m becomes a
// running, rescaled sum in the loop of the maximum, both kept at every step.
//
//   L_i L_d [M_{i}=max(M_{i},x)]  L_i L_d [S_{i}=S_{i}+exp(x-M_{i})]
//   =>  L_i [L_d [O_{i,d}=max(O_{i,d-1},x);
//                 R_{i,d}=R_{i,d-1}*exp(O_{i,d-1}-O_{i,d})+exp(x-O_{i,d})]; M_{i}=O_{i,n-1}; S_{i}=R_{i,n-1}]
//
// (with starts and guards). A prefix of -inf contributes 0; a row that is -inf throughout gives NaN, as before. Other
// readers of M and S get the final values. Exponentials stored in a temporary are looked through; the temporary stays
// for its other readers.
//
// Legal when
// (1) the equation sums exp(x-m), one float operand, m the maximum of rows (or 0 where it is infinite: logsumexp),
// (2) of both exactly one loop reduces, serial (L or U), and nothing else inside these loops names the two,
// (3) both start there: no prior value, no other writer but the neutral element set for exactly these elements,
// (4) both run over the same instances under the same tests and take the same x,
// (5) nothing that x reads is written, and the sum is not read, between the two,
// (6) storing the maximum does not round x, nor an exponential stored on the way,
// (7) the loop of the maximum holds nothing but it under loops and tests.
// The sum of the same terms scaled step by step: algebraic; changes_precision where the sum's dtype is narrower than its
// compute type, since other partial sums are rounded.
#include <fmt/core.h>

#include "ir/walk.h"
#include "strategy/edit/refuse.h"
#include "strategy/edit/softmax_pattern.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

Result<Step> rewrite(const EquationIndex& index, const StmtPath& path, const Target* promises) {
  const Program& program = index.program();
  CAIRN_TRY(const SoftmaxRows rows, find_softmax_rows(index, path));
  CAIRN_CHECKED(check_exponentials(program, rows));
  const RowReduction& row = rows.maximum;
  if (!is_pure_chain(row)) {
    return refuse(program, row.axis->pos, 7, fmt::format("loop {} holds more than the reduction of {}; split it off first (operator_fission)",
                                                       row.axis->var, row.tensor()));
  }
  const Tensor& maximum = *program.find(row.tensor());
  const Tensor& sum = *program.find(rows.sum.tensor());
  const Tensor top{fresh_tensor(program), Role::tmp, maximum.dtype, maximum.scope, std::nullopt, false, kNoPos, {}};
  const Tensor run{fresh_tensor(program, {top.name}), Role::tmp, sum.dtype, sum.scope, std::nullopt, false, kNoPos, {}};
  const HistoryAxis top_axis(row, row.update().subscripts), run_axis(row, rows.sum_subscripts);
  const ExprPtr lowest = neutral_element(UpdateOp::max, maximum.dtype);
  const ExprPtr x = guard_operand(row, row.operand, lowest);
  const ExprPtr here = make_read(top.name, top_axis.here()), before = top_axis.previous(top.name, lowest);
  const SourcePos pos = rows.sum.update().pos;
  const ExprPtr earlier = operator_mul(run_axis.previous(run.name, make_int(0)), rescale_factor(rows.term.shift, before, here));
  const Body step{make_equation(top.name, top_axis.here(), make_expr(Op::max, {before, x}), row.update().pos),
                  make_equation(run.name, run_axis.here(), operator_add(earlier, running_term(rows.term.shift, x, here)), pos)};
  const ExprPtr final_max = make_read(top.name, top_axis.last());
  const Body copy{make_equation(row.tensor(), row.update().subscripts, final_max, row.update().pos),
                  make_equation(rows.sum.tensor(), rows.sum_subscripts, final_sum(rows.term.shift, final_max, make_read(run.name, run_axis.last())), pos)};
  PathEdits edits;
  Body now = rebuild_axis(row, step);
  for (const StmtPtr& stmt : wrap_row(row, copy)) now.push_back(stmt);
  edits.replace(row.axis_path, std::move(now));
  return join_softmax_rows(program, rows, std::move(edits), {top, run}, 7, promises);
}

std::vector<Args> list_sites(const Program& program, const Target& target) {
  return list_equation_sites(program, target, may_sum_exponentials, rewrite);
}

Result<Step> apply(const Program& program, const Target&, const Args& args) { return apply_at_equation(program, args, rewrite); }

}  // namespace

extern const Strategy strategy_normal_loop_summation_on_exp_to_prefix_summation_on_exp{
    "normal_loop_summation_on_exp_to_prefix_summation_on_exp", Level::math, Direction::algebra, Exactness::changes_precision,
    "the sum of exp(x-m) with the final maximum becomes a running, rescaled sum",
    {{"equation", ArgType::equation, "the sum of exponentials", {}, ""}},
    list_sites, apply};

}  // namespace cairn
