// online_softmax: the maximum of rows and the sum of exp(x-m) become one pass that rescales the sum.
//
//   L_i L_d [M_{i}=max(M_{i},x)]  L_i L_d [S_{i}=S_{i}+exp(x-M_{i})]
//   =>  L_i [M_{i}=-inf; S_{i}=0;
//            L_d [J=M_{i}; M_{i}=max(M_{i},x); S_{i}=S_{i}*exp(J-M_{i}); S_{i}=S_{i}+exp(x-M_{i})]]
//
// M and S run in place, so that no history is kept: whoever reads them afterwards sees the final values, and S of a row
// that is -inf throughout is NaN, as before (a prefix of -inf contributes 0). Tests stay around the step.
// Exponentials stored in a temporary are looked through; the temporary stays for its other readers. mode=apart takes the
// pass over a row apart again, as two nests where it is alone in its nest: the inverse for rows without tests and stored
// exponentials.
//
// Legal when
// (1) the equation sums exp(x-m), one float operand, m the maximum of rows (or 0 where it is infinite: logsumexp),
// (2) of both exactly one loop reduces, serial (L or U), and nothing else inside these loops names the two,
// (3) both start there: no prior value, no other writer but the neutral element set for exactly these elements,
// (4) both run over the same instances under the same tests and take the same x,
// (5) nothing that x reads is written, and the sum is not read, between the two,
// (6) storing the maximum does not round x, nor an exponential stored on the way,
// (7) mode=apart: the equation is the last of an online pass that this strategy makes of the maximum and the sum.
// The sum of the same terms scaled step by step: algebraic; changes_precision where the sum's dtype is narrower than its
// compute type, since other partial sums are rounded.
#include <fmt/core.h>

#include <algorithm>

#include "ir/canon.h"
#include "ir/self_update.h"
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
  edits.replace(row.place->path, step);
  edits.surround(row.axis_path, wrap_row(row, start), std::move(finish));
  return join_softmax_rows(program, rows, std::move(edits), {old}, 6, promises);
}

// The pass over a row that the sum's last equation ends: the body it stands in and its statements there.
struct Pass {
  StmtPath axis;
  std::uint32_t first = 0, last = 0;
};

std::optional<Pass> find_pass(const Program& program, const StmtPath& path) {
  if (path.size() < 2 || path.back() != 3) return std::nullopt;
  Pass pass;
  pass.axis = parent_of(path);
  const Stmt& axis = *stmt_at(program.body(), pass.axis);
  const std::uint32_t at = pass.axis.back();
  const bool equations = axis.is_loop() && axis.body.size() == 4 && std::all_of(axis.body.begin(), axis.body.end(), [](const StmtPtr& s) { return s->is_equation(); });
  if (!equations || at < 2 || axis.body[1]->rhs->op != Op::max) return std::nullopt;
  const std::string &maximum = axis.body[1]->tensor, &sum = axis.body[3]->tensor;
  const auto sibling = [&](std::uint32_t k) { return stmt_at(program.body(), [&] { StmtPath p = pass.axis; p.back() = k; return p; }()); };
  const auto writes = [&](std::uint32_t k, const std::string& tensor) { const Stmt* s = sibling(k); return s && s->is_equation() && s->tensor == tensor; };
  if (axis.body[2]->tensor != sum || !writes(at - 2, maximum) || !writes(at - 1, sum)) return std::nullopt;
  pass.first = at - 2;
  pass.last = writes(at + 1, sum) ? at + 1 : at;
  return pass;
}

// mode=apart; condition (7).
Result<Step> take_apart(const Program& program, const StmtPath& path) {
  const Stmt& term = *stmt_at(program.body(), path);
  const std::optional<Pass> pass = find_pass(program, path);
  const auto no = [&] { return refuse(program, term.pos, 7, fmt::format("{} does not end an online pass over a maximum and its sum", term.tensor)); };
  if (!pass) return no();
  const Stmt& axis = *stmt_at(program.body(), pass->axis);
  const std::optional<SelfUpdate> running = match_self_update(*axis.body[1]);
  if (!running || running->others.size() != 1) return no();
  const ExprPtr m = make_read(axis.body[1]->tensor, axis.body[1]->subscripts), s = make_read(term.tensor, term.subscripts);
  const ExprPtr sum = operator_add(s, make_expr(Op::exp, {make_expr(Op::sub, {running->others[0].expr, m})}));
  Body passes{with_body(axis, {axis.body[1]}), with_body(axis, {make_equation(term.tensor, term.subscripts, sum, term.pos)})};
  // Loops around that hold nothing else are distributed; the rest of the body stays around the two.
  StmtPath around = pass->axis;
  std::uint32_t first = pass->first, last = pass->last;
  for (; around.size() > 1 && first == 0; around = parent_of(around), first = last = around.back()) {
    const Stmt& above = *stmt_at(program.body(), parent_of(around));
    if (above.body.size() != last + 1 || !above.is_loop()) break;
    for (StmtPtr& one : passes) one = with_body(above, {one});
  }
  Body body = program.body();
  for (std::uint32_t k = last; k > first; --k) body = replace_at(body, [&] { StmtPath p = around; p.back() = k; return p; }(), {});
  around.back() = first;
  Step out;
  out.after = program;
  out.after.set_body(replace_at(body, around, passes));
  out.after.remove_tensor(axis.body[0]->tensor);
  StmtPath at = around;
  ++at.back();
  while (!stmt_at(out.after.body(), at)->is_equation()) at.push_back(0);
  const Result<Step> again = rewrite(EquationIndex(out.after), at, nullptr);
  if (!again || canonical_hash(again->after) != canonical_hash(program)) return no();
  out.exactness = again->exactness;
  out.same_instances = false;
  out.proved = conditions_up_to(7);
  out.inverse = Action{"online_softmax", Args{{"equation", equation_address(out.after.body(), at)}, {"mode", "online"}}};
  return out;
}

std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out = list_equation_sites(program, target, may_sum_exponentials, rewrite);
  for (Args& args : out) args.add("mode", "online");
  for (const EquationRef& ref : collect_equations(program.body())) {
    if (!find_pass(program, ref.path) || !take_apart(program, ref.path)) continue;
    out.push_back(Args{{"equation", equation_address(program.body(), ref.path)}, {"mode", "apart"}});
  }
  return out;
}

Result<Step> apply(const Program& program, const Target&, const Args& args) {
  if (args.get("mode") == "apart") {
    CAIRN_TRY(const StmtPath path, find_equation(program.body(), args.get("equation")));
    return take_apart(program, path);
  }
  CAIRN_TRY(Step step, apply_at_equation(program, args, rewrite));
  for (const EquationRef& ref : collect_equations(step.after.body())) {
    const std::optional<Pass> pass = find_pass(step.after, ref.path);
    if (!pass || stmt_at(step.after.body(), pass->axis)->body[0]->tensor != step.created[0]) continue;
    const Result<Step> back = take_apart(step.after, ref.path);
    if (!back || canonical_hash(back->after) != canonical_hash(program)) continue;
    step.inverse = Action{"online_softmax", Args{{"equation", equation_address(step.after.body(), ref.path)}, {"mode", "apart"}}};
  }
  return step;
}

}  // namespace

extern const Strategy strategy_online_softmax{
    "online_softmax", Level::math, Direction::algebra, Exactness::changes_precision,
    "maximum and sum of exponentials become one online pass",
    {{"equation", ArgType::equation, "the sum of exponentials; mode=apart: the last equation of the online pass", {}, ""},
     {"mode", ArgType::choice, "one pass of the two, or two of the one", {"online", "apart"}, "online"}},
    list_sites, apply};

}  // namespace cairn
