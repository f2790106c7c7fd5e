// partially_equivalent_then_correct: similar operators run as one on joined inputs; where the join shows, they are corrected.
//
//   L^{8}_y L^{3}_r [D_{y}=D_{y}+if(1<=y+r<9,A_{y+r-1},0)*C_{r}]   L^{8}_y L^{3}_r [F_{y}=F_{y}+if(1<=y+r<9,E_{y+r-1},0)*C_{r}]
//     =>  J=[A;E]  L^{16}_y L^{3}_r [H_{y}=H_{y}+if(1<=y+r<17,J_{y+r-1},0)*C_{r}]
//         D_{0..6}=H_{0..6}  F_{1..7}=H_{9..15}  and D_{7}, F_{0} as they were
//
// The operands are joined whole. The k-th nest's rows begin at an offset o of the joined axis for which every operand fits:
// its elements begin at stride * o, and what is left between two operands is filled with zeros. The joined nest keeps the
// first nest's lower bounds and the last one's upper bounds; a row of a nest is the same in the joined one where each of
// its own bounds holds for all iterations of the other loops, which the extremes of the affine bound on the box of these
// loops (stride, dilation and padding are its coefficients) tell exactly. The other rows are computed as before.
//
// Legal when
// (1) the nests are statements of the program's body in text order, of one form: tests, operations, literals, and loops
//     of equal kinds, marks and extents, the axis excepted, which is one L, P or U loop without a mark,
// (2) they are independent of each other, and they can be brought together past the statements between,
// (3) the axis is spatial: every equation below it writes at the axis plus a constant, and starts there, or fills a
//     temporary anew in each iteration,
// (4) operands that have the axis have it in one subscript with equal stride, dilation and padding; what is joined has one
//     dtype, scope g and equal shapes besides; one operand at least has a window,
// (5) operands without the axis (the kernel) are the same elements; conditions on the axis are bounds that differ by
//     constants; no integer is divided by what is joined,
// (6) in every nest some rows are the same.
// Every element is computed by the same operations in the same order: exact.
#include <fmt/core.h>

#include <algorithm>

#include "analysis/flow.h"
#include "ir/interval.h"
#include "ir/walk.h"
#include "strategy/edit/refuse.h"
#include "strategy/edit/simplify.h"
#include "strategy/graph/axis_parts.h"
#include "strategy/graph/concat_copies.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

// An integer division whose divisor reads a tensor could meet the zeros of the filling.
bool divides_by_data(const Stmt& nest) {
  bool found = false;
  visit_stmts({with_body(nest, nest.body)}, [&](const Stmt& stmt, const StmtContext&) {
    if (!stmt.is_equation()) return;
    visit_expr(*stmt.rhs, [&](const Expr& e) {
      found |= (e.op == Op::floor_div || e.op == Op::mod) && !is_index_expr(*e.args[1]);
      return true;
    });
  });
  return found;
}

Result<Step> run_as_one(const Program& program, const AxisGroup& group) {
  ConcatMatcher match(program, group.nests, group.axis, true);
  CAIRN_TRY(const StmtPtr fused, match.match());
  const SourcePos pos = program.body()[group.nests[0]]->pos;
  if (!match.has_windows()) return refuse(program, pos, 4, "no operand is read through a window; tensor_concat_to_fuse_operators joins such nests");
  if (divides_by_data(*program.body()[group.nests[0]])) return refuse(program, pos, 5, "an integer is divided by an element that may be filling");
  CAIRN_TRY(const Gathered gathered, gather(program, group.nests));
  CAIRN_TRY(auto shapes, infer_shapes(program));
  ConcatCopies copies(program, group, match, std::move(shapes));
  Step step;
  Body before, after;
  std::vector<std::string> to_check;
  for (const JoinedTensor& joined : match.joined()) {
    CAIRN_CHECKED(copies.check(joined));
    step.created.push_back(joined.name);
    for (std::size_t k = 0; k < group.nests.size(); ++k) {
      const ConcatMatcher::Rows& rows = match.equal_rows()[k];
      if (rows.lo >= rows.hi) return refuse(program, program.body()[group.nests[k]]->pos, 6, fmt::format("no row of nest {} stays the same in the joined nest", group.nests[k]));
      if (!joined.written) {
        before.push_back(copies.copy(joined, k));
        if (const StmtPtr gap = copies.fill(joined, k)) before.push_back(gap);
        if (program.find(joined.tensors[k])->role == Role::tmp) to_check.push_back(joined.tensors[k]);
        continue;
      }
      if (copies.has_prior(joined, k)) return refuse(program, joined.pos, 3, fmt::format("{} goes on from values it had before the nest", joined.tensors[k]));
      if (copies.stays_inside(joined.tensors[k], k)) continue;
      CAIRN_TRY(const Body slices, copies.slices(joined, k, rows));
      after.insert(after.end(), slices.begin(), slices.end());
    }
    if (copies.dropped_test()) to_check.push_back(joined.name);
  }
  for (std::size_t k = 0; k < group.nests.size(); ++k) {
    StmtPath loop{group.nests[k]};
    loop.insert(loop.end(), group.axis.begin(), group.axis.end());
    const ConcatMatcher::Rows& rows = match.equal_rows()[k];
    const std::int64_t extent = match.extents()[k];
    const StmtPtr low = rows.lo > 0 ? nest_part(program, loop, 0, rows.lo) : nullptr, high = rows.hi < extent ? nest_part(program, loop, rows.hi, extent - rows.hi) : nullptr;
    if (low) after.push_back(low);
    if (high) after.push_back(high);
  }
  step.after = copies.finish(gathered, before, fused, after);
  for (const std::string& tensor : to_check) {
    if (Result<void> written = check_written_before_read(step.after, tensor); !written) return refuse_because(std::move(written.error()), 4);
  }
  step.created.insert(step.created.end(), copies.vars().begin(), copies.vars().end());
  step.same_instances = false;
  step.proved = conditions_up_to(6);
  return step;
}

// Is something read through a window that moves with the loop at `axis`, or bounded by it?
bool may_have_window(const Stmt& nest, const StmtPath& axis) {
  const Stmt* loop = &nest;
  for (const std::uint32_t k : axis) loop = loop->body[k].get();
  bool found = false;
  const auto look = [&](const Expr& root) {
    visit_expr(root, [&](const Expr& e) {
      for (const ExprPtr& sub : e.args) {
        const bool window = e.op == Op::read && sub->op != Op::loop_var && uses_var(*sub, loop->var);
        found |= window;
      }
      return !found;
    });
  };
  visit_stmts(loop->body, [&](const Stmt& stmt, const StmtContext&) {
    if (stmt.is_equation()) look(*stmt.rhs);
  });
  return found;
}

std::vector<Args> list_sites(const Program& program, const Target&) {
  std::vector<Args> out;
  for (const AxisGroup& group : list_groups(program, may_have_window)) {
    if (run_as_one(program, group)) out.push_back(Args{{"axes", axes_text(program, group)}});
  }
  return out;
}

Result<Step> apply(const Program& program, const Target&, const Args& args) {
  CAIRN_TRY(const AxisGroup group, find_group(program, args));
  return run_as_one(program, group);
}

}  // namespace

extern const Strategy strategy_partially_equivalent_then_correct{
    "partially_equivalent_then_correct", Level::math, Direction::fusion, Exactness::exact,
    "similar operators run as one on joined inputs; elements near the joins are recomputed",
    {{"axes", ArgType::loops, "the axis loop in each nest, in text order", {}, ""}},
    list_sites, apply};

}  // namespace cairn
