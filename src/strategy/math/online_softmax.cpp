// online_softmax: the maximum of rows and the sum of exp(x-m) become one pass that rescales the sum.
//
//   L_i L_d [M_{i}=max(M_{i},x)]  L_i L_d [S_{i}=S_{i}+exp(x-M_{i})]
//   =>  L_i [M_{i}=-inf; S_{i}=0;
//            L_d [J=M_{i}; M_{i}=max(M_{i},x); S_{i}=S_{i}*exp(J-M_{i}); S_{i}=S_{i}+exp(x-M_{i})]]
//
// M and S run in place, so that no history is kept: whoever reads them afterwards sees the final values, and S of a row
// that is -inf throughout is NaN, as before (a prefix of -inf contributes 0). Tests stay around the step.
// Exponentials stored in a temporary are looked through; the temporary stays for its other readers.
//
// Legal when
// (1) the equation sums exp(x-m), one float operand, m the maximum of rows (or 0 where it is infinite: logsumexp),
// (2) of both exactly one loop reduces, serial (L or U), and nothing else inside these loops names the two,
// (3) both start there: no prior value, no other writer but the neutral element set for exactly these elements,
// (4) both run over the same instances under the same tests and take the same x,
// (5) nothing that x reads is written, and the sum is not read, between the two,
// (6) storing the maximum does not round x, nor an exponential stored on the way.
// The sum of the same terms scaled step by step: algebraic; changes_precision where the sum's dtype is narrower than its
// compute type, since other partial sums are rounded.
#include <fmt/core.h>

#include "ir/walk.h"
#include "strategy/edit/band.h"
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
  const Shift shift = rows.term.shift;
  const Stmt& update = row.update();
  const SourcePos pos = rows.sum.update().pos;
  const std::string& sum = rows.sum.tensor();
  const Tensor old{fresh_tensor(program), Role::tmp, program.find(row.tensor())->dtype, Scope::l, std::nullopt, false, kNoPos, {}};
  const ExprPtr m = make_read(row.tensor(), update.subscripts), s = make_read(sum, rows.sum_subscripts), j = make_read(old.name, lane_subscripts(row));
  const Body step{make_equation(old.name, lane_subscripts(row), m, update.pos), shared_at(program.body(), row.place->path),
                  make_equation(sum, rows.sum_subscripts, operator_mul(s, rescale_factor(shift, j, m)), pos),
                  make_equation(sum, rows.sum_subscripts, operator_add(s, running_term(shift, row.operand, m)), pos)};
  const Body start{make_equation(row.tensor(), update.subscripts, neutral_element(UpdateOp::max, old.dtype), update.pos),
                   make_equation(sum, rows.sum_subscripts, make_int(0), pos)};
  Body finish;
  if (shift == Shift::plain) finish = wrap_row(row, {make_equation(sum, rows.sum_subscripts, final_sum(shift, m, s), pos)});
  PathEdits edits;
  edits.remove(path);
  if (rows.sum.start) edits.remove(*rows.sum.start);
  if (row.start) edits.remove(*row.start);
  edits.replace(row.place->path, step);
  edits.surround(row.axis_path, wrap_row(row, start), std::move(finish));
  Step out;
  out.after = program;
  out.after.set_tensor(old);
  out.after.set_body(edits.apply(program.body()));
  out.exactness = is_stored_exactly(program.find(sum)->dtype) ? Exactness::algebraic : Exactness::changes_precision;
  out.same_instances = false;
  out.proved = conditions_up_to(6);
  out.created = {old.name};
  if (promises && !keeps_promises(row, sum, out.after, *promises)) return no_site(program, row.update().pos, "a loop around would break its promise");
  return out;
}

std::vector<Args> list_sites(const Program& program, const Target& target) {
  return list_equation_sites(program, target, may_sum_exponentials, rewrite);
}

Result<Step> apply(const Program& program, const Target&, const Args& args) { return apply_at_equation(program, args, rewrite); }

}  // namespace

extern const Strategy strategy_online_softmax{
    "online_softmax", Level::math, Direction::algebra, Exactness::changes_precision,
    "maximum and sum of exponentials become one online pass",
    {{"equation", ArgType::equation, "the sum of exponentials", {}, ""}},
    list_sites, apply};

}  // namespace cairn
