// tensor_split_to_decouple_operators: the domain of one nest is cut along an axis into two nests.
//
//   L^{8}_i L^{7}_a [E_{i,a}=exp(A_{i,a})]  =>  L^{8}_i L^{4}_a [E_{i,a}=exp(A_{i,a})]  L^{8}_i L^{3}_a [E_{i,a+4}=exp(A_{i,a+4})]
//
// Slices are shifted subscripts. With copies=inputs each part reads its own copy of the operands' slices; with
// copies=results each part writes a temporary of its own that is copied back or, along a reduction axis, combined:
// the parts add to nothing but themselves, and what the result held before enters once. copies=all does both.
//
// Legal when
// (1) the loop is L, P, U or a block axis without a mark, nothing but loops and tests on loop variables stands between
//     the program's body and its own, and the cut leaves iterations on both sides,
// (2) every dependence keeps its order when all iterations before the cut run first,
// (3) for copies of inputs: the axis is affine in every operand that has it, the operand has scope g, and the elements
//     copied are there,
// (4) for copies of results: a result has the axis in one subscript, alone or plus a constant, and starts in the nest, or
//     it is reduced along the axis by one self-update (+ * max min) alone, each element in one iteration of the other
//     loops that its subscripts have; it has scope g, and each part writes what it is asked for,
// (5) every read of an s or l temporary still sees a write of its own kernel and owner.
// Exact; reassociates where a float sum or product is combined from parts or its terms change their order.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "analysis/affine.h"
#include "analysis/dependence.h"
#include "analysis/flow.h"
#include "ir/canon.h"
#include "ir/subscripts.h"
#include "ir/walk.h"
#include "strategy/edit/marks.h"
#include "strategy/edit/order.h"
#include "strategy/edit/refuse.h"
#include "strategy/edit/split.h"
#include "strategy/edit/tables.h"
#include "strategy/graph/axis_parts.h"
#include "strategy/graph/split_copies.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

// The loops above an axis and its place.
struct Place {
  StmtPath path;
  StmtPtr axis;
  std::vector<StmtPtr> outer;
  bool own_results = false;   // iterations of the outer loops never meet
};

bool outer_loops_own_results(const Place& place);

Result<Place> find_place(const Program& program, const StmtPath& path) {
  Place place{path, shared_at(program.body(), path), {}, false};
  const Stmt& axis = *place.axis;
  if (!can_split(axis) || axis.mark.type != LoopMark::Type::none) {
    return refuse(program, axis.pos, 1, fmt::format("loop {} has kind {} or a mark; take it back first (kind=L)", axis.var, kind_name(axis.kind)));
  }
  const Body* level = &program.body();
  for (std::size_t depth = 0; depth + 1 < path.size(); ++depth) {
    const StmtPtr& above = (*level)[path[depth]];
    level = &above->body;
    if (above->body.size() != 1) {
      return refuse(program, axis.pos, 1, fmt::format("loop {} shares the body of {} with other statements; cut them apart first (operator_fission)", axis.var,
                                                      above->is_loop() ? above->var : "a test"));
    }
    if (above->is_test() && !is_index_condition(*above->cond)) return refuse(program, above->pos, 1, "a test above the loop reads a tensor");
    if (above->is_loop()) place.outer.push_back(above);
  }
  place.own_results = outer_loops_own_results(place);
  return place;
}

// The loop variables whose values an affine subscript tells: its coefficients are the weights of digits.
std::vector<std::string> told_by(const Expr& subscript, const std::map<std::string, std::int64_t, std::less<>>& extents) {
  std::optional<LinearForm> form = linear_form(subscript);
  if (!form) return {};
  std::sort(form->terms.begin(), form->terms.end(), [](const auto& a, const auto& b) { return std::abs(a.second) < std::abs(b.second); });
  std::vector<std::string> out;
  std::int64_t reach = 0;
  for (const auto& [var, coefficient] : form->terms) {
    const auto extent = extents.find(var);
    std::int64_t step = 0;
    if (extent == extents.end() || std::abs(coefficient) <= reach || __builtin_mul_overflow(std::abs(coefficient), extent->second - 1, &step)) return {};
    if (__builtin_add_overflow(reach, step, &reach)) return {};
    out.push_back(var);
  }
  return out;
}

// Do all mentions of each tensor that the nest writes tell the values of the outer loops, in the same subscripts? Then
// iterations of these never meet.
bool outer_loops_own_results(const Place& place) {
  std::map<std::string, std::int64_t, std::less<>> extents;
  for (const StmtPtr& loop : place.outer) extents[loop->var] = loop->extent;
  std::vector<const std::vector<ExprPtr>*> mentions;
  std::vector<std::string> written;
  std::vector<const std::string*> names;
  const auto look = [&](const auto& self, const Expr& e) -> void {
    if (e.op == Op::read) names.push_back(&e.name), mentions.push_back(&e.args);
    for (const ExprPtr& arg : e.args) self(self, *arg);
  };
  const auto walk = [&](const auto& self, const Stmt& s) -> void {
    if (s.is_loop()) extents[s.var] = std::max(extents[s.var], s.extent);
    if (s.is_test()) look(look, *s.cond);
    for (const ExprPtr& sub : s.subscripts) look(look, *sub);
    if (s.is_equation()) {
      look(look, *s.rhs);
      names.push_back(&s.tensor), mentions.push_back(&s.subscripts);
      if (std::find(written.begin(), written.end(), s.tensor) == written.end()) written.push_back(s.tensor);
    }
    for (const StmtPtr& child : s.body) self(self, *child);
  };
  walk(walk, *place.axis);
  for (const std::string& tensor : written) {
    const std::vector<ExprPtr>* first = nullptr;
    std::vector<bool> same;
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (*names[k] != tensor) continue;
      if (!first) {
        first = mentions[k];
        same.assign(first->size(), true);
      }
      for (std::size_t d = 0; d < same.size(); ++d) same[d] = same[d] && d < mentions[k]->size() && same_expr((*first)[d], (*mentions[k])[d]);
    }
    std::vector<std::string> told;
    for (std::size_t d = 0; d < same.size(); ++d) {
      if (!same[d]) continue;
      for (std::string& var : told_by(*(*first)[d], extents)) told.push_back(std::move(var));
    }
    const bool all = std::all_of(place.outer.begin(), place.outer.end(), [&](const StmtPtr& l) { return std::find(told.begin(), told.end(), l->var) != told.end(); });
    if (!all) return false;
  }
  return true;
}

// Condition (2); the class of the step without copies.
Result<Exactness> check_order(const Program& program, const Place& place, std::int64_t at) {
  if (place.own_results) return Exactness::exact;
  const Body both{loop_part(program, place.path, 0, at), loop_part(program, place.path, at, place.axis->extent - at)};
  const StmtPath nest{place.path[0]};
  const Program question = with_replaced(program, nest, build_sunk(place.outer, {}, both));
  const Legality legality = check_fission(question, nest, place.outer.size(), 1);
  if (!legality.ok) return refuse_because(legality.reason, 2);
  return legality.reorders_reduction ? class_of_reorder(program, place.axis->body) : Exactness::exact;
}

// What the step puts in the nest's place; conditions (1) to (4) but for what must be asked of the program after it.
struct Cut {
  Exactness exactness = Exactness::exact;
  SplitCopies copies;
};

Result<Cut> cut_parts(const Program& program, SplitFacts& facts, const Place& place, std::int64_t at, bool inputs, bool results) {
  const std::int64_t extent = place.axis->extent;
  if (at < 1 || at >= extent) {
    return refuse(program, place.axis->pos, 1, fmt::format("a cut at {} leaves nothing on one side: loop {} has {} iterations", at, place.axis->var, extent));
  }
  CAIRN_TRY(const Exactness exactness, check_order(program, place, at));
  std::vector<StmtPtr> parts{nest_part(program, place.path, 0, at), nest_part(program, place.path, at, extent - at)};
  if (!parts[1]) return refuse(program, place.axis->pos, 1, fmt::format("nothing of the nest runs from iteration {} of {} on", at, place.axis->var));
  Cut cut{exactness, SplitCopies(program, facts, place.path[0], place.axis->var, {at, extent - at}, std::move(parts))};
  if (inputs) CAIRN_CHECKED(cut.copies.copy_inputs());
  if (results) CAIRN_CHECKED(cut.copies.copy_results());
  cut.exactness = std::max(cut.exactness, cut.copies.exactness());
  return cut;
}

// The step without its inverse; the rest of the conditions.
Result<Step> finish_cut(const Program& program, const Target& target, const Place& place, const Cut& cut) {
  Step step;
  step.exactness = cut.exactness;
  step.after = program;
  step.after.set_body(replace_at(program.body(), {place.path[0]}, cut.copies.statements()));
  for (const Tensor& tensor : cut.copies.made()) {
    step.after.set_tensor(tensor);
    step.created.push_back(tensor.name);
  }
  step.created.insert(step.created.end(), cut.copies.vars().begin(), cut.copies.vars().end());
  for (const auto& [tensor, condition] : cut.copies.to_check()) {
    if (Result<void> written = check_written_before_read(step.after, tensor); !written) return refuse_because(std::move(written.error()), condition);
  }
  CAIRN_CHECKED(check_all_storage(step.after, target, 5));
  step.same_instances = cut.copies.made().empty();
  step.proved = conditions_up_to(5);
  return step;
}

Result<Step> cut(const Program& program, const Target& target, const StmtPath& loop, std::int64_t at, bool inputs, bool results) {
  CAIRN_TRY(const Place place, find_place(program, loop));
  SplitFacts facts(program);
  CAIRN_TRY(const Cut parts, cut_parts(program, facts, place, at, inputs, results));
  return finish_cut(program, target, place, parts);
}

// Is the loop's variable a subscript of what some equation below it writes?
bool any_result_has(const Stmt& loop, const Body& below) {
  return std::any_of(below.begin(), below.end(), [&](const StmtPtr& s) {
    return subscripts_use(s->subscripts, loop.var) || any_result_has(loop, s->body);
  });
}

// What cut() says of one cut, asked first without copies; parts and program are built only where they must be asked.
class Listing {
 public:
  Listing(const Program& program, const Target& target) : program_(program), target_(target), facts_(program) {
    const auto owned = [](const Tensor& tensor) { return tensor.role == Role::tmp && tensor.scope != Scope::g; };
    all_global_ = std::none_of(program.tensors().begin(), program.tensors().end(), owned);
  }
  bool takes_plain(const Place& place, std::int64_t at) {
    if (!check_order(program_, place, at)) return false;
    // Only a test below the axis can make a part vanish.
    return (all_global_ && !has_test(place.axis->body)) || builds(place, at, false, false);
  }
  // After takes_plain().
  bool takes(const Place& place, std::int64_t at, bool inputs, bool results) {
    if (!all_global_ || has_test(place.axis->body)) return builds(place, at, inputs, results);
    SplitCopies copies(program_, facts_, place.path[0], place.axis->var, {at, place.axis->extent - at});
    if (inputs && !copies.copy_inputs()) return false;
    if (results && !copies.copy_results()) return false;
    return copies.to_check().empty() || builds(place, at, inputs, results);
  }

 private:
  bool builds(const Place& place, std::int64_t at, bool inputs, bool results) {
    const Result<Cut> cut = cut_parts(program_, facts_, place, at, inputs, results);
    return cut && finish_cut(program_, target_, place, *cut);
  }
  static bool has_test(const Body& body) {
    return std::any_of(body.begin(), body.end(), [](const StmtPtr& s) { return s->is_test() || has_test(s->body); });
  }
  const Program& program_;
  const Target& target_;
  SplitFacts facts_;
  bool all_global_ = true;
};

// Halves, without copies and with those that make the parts independent (own results along a reduction, own slices of
// everything elsewhere), and cuts before the tail that a tile size leaves.
std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  Listing listing(program, target);
  const TileTable tiles(target);
  for (const StmtPath& loop : collect_loops(program.body())) {
    const std::int64_t extent = stmt_at(program.body(), loop)->extent;
    if (extent < 2) continue;
    const Result<Place> place = find_place(program, loop);
    if (!place) continue;
    const std::string address = loop_address(program.body(), loop);
    const auto add = [&](std::int64_t at, const char* copies) { out.push_back(Args{{"loop", address}, {"at", std::to_string(at)}, {"copies", copies}}); };
    std::vector<std::int64_t> cuts{extent / 2};
    for (const std::int64_t size : tiles.sizes(extent)) cuts.push_back(extent - extent % size);
    for (std::size_t k = 0; k < cuts.size(); ++k) {
      if (cuts[k] >= extent || std::find(cuts.begin(), cuts.begin() + static_cast<std::ptrdiff_t>(k), cuts[k]) != cuts.begin() + static_cast<std::ptrdiff_t>(k)) continue;
      if (!listing.takes_plain(*place, cuts[k])) continue;
      add(cuts[k], "none");
      if (k > 0) continue;
      const bool reduction = !any_result_has(*place->axis, place->axis->body);
      if (listing.takes(*place, cuts[k], !reduction, true)) add(cuts[k], reduction ? "results" : "all");
    }
  }
  return out;
}

Result<Step> apply(const Program& program, const Target& target, const Args& args) {
  CAIRN_TRY(const StmtPath loop, find_loop(program.body(), args.get("loop")));
  const std::string& copies = args.get("copies");
  const std::int64_t at = args.get_int("at");
  CAIRN_TRY(Step step, cut(program, target, loop, at, copies == "inputs" || copies == "all", copies == "results" || copies == "all"));
  if (copies != "none") return step;
  // Where the axis is spatial, joining the parts gives the nest back.
  const AxisGroup group{{loop[0], loop[0] + 1}, StmtPath(loop.begin() + 1, loop.end())};
  const Result<Step> back = join_nests(step.after, group);
  if (back && canonical_hash(back->after) == canonical_hash(program)) {
    step.inverse = Action{"tensor_concat_to_fuse_operators", Args{{"axes", axes_text(step.after, group)}}};
  }
  return step;
}

}  // namespace

Result<Step> cut_nest(const Program& program, const Target& target, const StmtPath& loop, std::int64_t at) { return cut(program, target, loop, at, false, false); }

extern const Strategy strategy_tensor_split_to_decouple_operators{
    "tensor_split_to_decouple_operators", Level::graph, Direction::parallelism, Exactness::reassociates,
    "the domain of one nest is cut along an axis into two nests",
    {{"loop", ArgType::loop, "the axis", {}, ""},
     {"at", ArgType::integer, "iterations of the first part", {}, ""},
     {"copies", ArgType::choice, "what the parts copy: their slices of the inputs, results of their own, both or nothing", {"none", "inputs", "results", "all"}, "none"}},
    list_sites, apply};

}  // namespace cairn
