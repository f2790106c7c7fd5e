// tensor_concat_to_fuse_operators: nests that are equal but for one axis become one on concatenated inputs.
//
//   L^{4}_a [E_{a}=f(A_{a})]  L^{3}_c [F_{c}=f(C_{c})]
//     =>  L^{4} [G_{a}=A_{a}]  L^{3} [G_{a+4}=C_{a}]  L^{7}_a [H_{a}=f(G_{a})]  L^{4} [E_{a}=H_{a}]  L^{3} [F_{a}=H_{a+4}]
//
// Operands that are the same elements in all nests are read as before; an operand or result whose elements follow each
// other already (one tensor, subscripts counted on) is not copied. Extents of the axis may differ.
//
// Legal when
// (1) the nests are statements of the program's body in text order, of one form: tests, operations, literals, and loops
//     of equal kinds, marks and extents, the axis excepted, whose loops are L, P or U without a mark,
// (2) they are independent of each other, and the later ones pass the statements between,
// (3) the axis is spatial: every equation below it writes at the axis plus a constant, or fills a temporary anew in each
//     iteration (a reduction along the axis would mix the nests' sums),
// (4) an operand that has the axis has it in one subscript, alone or plus a constant; what is joined has one dtype,
//     scope g, equal shapes besides, and elements wherever it is copied,
// (5) operands without the axis are the same elements; index values and conditions on the axis count on.
// Every element is computed by the same operations in the same order: exact.
#include <fmt/core.h>

#include "analysis/flow.h"
#include "ir/canon.h"
#include "ir/interval.h"
#include "ir/walk.h"
#include "strategy/edit/refuse.h"
#include "strategy/graph/axis_parts.h"
#include "strategy/graph/concat_copies.h"
#include "strategy/strategy.h"

namespace cairn {

Result<Step> join_nests(const Program& program, const AxisGroup& group) {
  ConcatMatcher match(program, group.nests, group.axis);
  CAIRN_TRY(const StmtPtr fused, match.match());
  CAIRN_TRY(const Gathered gathered, gather(program, group.nests));
  CAIRN_TRY(auto shapes, infer_shapes(program));
  ConcatCopies copies(program, group, match, std::move(shapes));
  Step step;
  Body before, after;
  std::vector<std::string> to_check;
  for (const JoinedTensor& joined : match.joined()) {
    CAIRN_CHECKED(copies.check(joined));
    for (std::size_t k = 0; k < group.nests.size(); ++k) {
      if (!joined.written || copies.has_prior(joined, k)) {
        before.push_back(copies.copy(joined, k));
        if (program.find(joined.tensors[k])->role == Role::tmp || joined.written) to_check.push_back(joined.tensors[k]);
      }
      if (!joined.written || copies.stays_inside(joined.tensors[k], k)) continue;
      CAIRN_TRY(const Body slices, copies.slices(joined, k, {0, match.extents()[k]}));
      after.insert(after.end(), slices.begin(), slices.end());
    }
    if (copies.dropped_test()) to_check.push_back(joined.name);
    step.created.push_back(joined.name);
  }
  step.after = copies.finish(gathered, before, fused, after);
  for (const std::string& tensor : to_check) {
    if (Result<void> written = check_written_before_read(step.after, tensor); !written) return refuse_because(std::move(written.error()), 4);
  }
  step.created.insert(step.created.end(), copies.vars().begin(), copies.vars().end());
  step.same_instances = false;
  step.proved = conditions_up_to(5);
  return step;
}

namespace {

std::vector<Args> list_sites(const Program& program, const Target&) {
  std::vector<Args> out;
  for (const AxisGroup& group : list_groups(program, [](const Stmt&, const StmtPath&) { return true; })) {
    if (join_nests(program, group)) out.push_back(Args{{"axes", axes_text(program, group)}});
  }
  return out;
}

Result<Step> apply(const Program& program, const Target& target, const Args& args) {
  CAIRN_TRY(const AxisGroup group, find_group(program, args));
  CAIRN_TRY(Step step, join_nests(program, group));
  if (group.nests.size() != 2 || !step.created.empty()) return step;
  // Nothing was copied: cutting where the first nest ended gives the two back, if they stood in this form.
  StmtPath first{group.nests[0]};
  first.insert(first.end(), group.axis.begin(), group.axis.end());
  const std::int64_t at = stmt_at(program.body(), first)->extent;
  const Result<Step> back = cut_nest(step.after, target, first, at);
  if (back && canonical_hash(back->after) == canonical_hash(program)) {
    step.inverse = Action{"tensor_split_to_decouple_operators", Args{{"loop", loop_address(step.after.body(), first)}, {"at", std::to_string(at)}, {"copies", "none"}}};
  }
  return step;
}

}  // namespace

extern const Strategy strategy_tensor_concat_to_fuse_operators{
    "tensor_concat_to_fuse_operators", Level::graph, Direction::fusion, Exactness::exact,
    "nests equal but for one axis become one on concatenated inputs",
    {{"axes", ArgType::loops, "the axis loop in each nest, in text order", {}, ""}},
    list_sites, apply};

}  // namespace cairn
