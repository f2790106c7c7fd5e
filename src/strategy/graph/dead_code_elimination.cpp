// dead_code_elimination: equations, or parts of their domain, whose elements no output needs go.
//
//   L^{8}_{i=0}[D_{i}=..];  (D read nowhere)           =>  nothing
//   L^{8}_{i=0}[D_{i}=..];  (only D_{0..4} is read)    =>  L^{5}_{i=0}[D_{i}=..];
//
// A tensor is needed if it is out or io, or if an equation of a needed tensor (or a test above one) reads it. Of a
// needed temporary only the box that all its readers together touch is needed, dimension by dimension.
//
// Legal when
// (1) the equation writes a temporary,
// (2) no output needs any element it writes, or the elements needed lie in a smaller range of one of its
//     subscripts, which is a loop variable plus a constant.
// Removed run-time checks (gathers) are recorded. What remains is unchanged: exact.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "analysis/access.h"
#include "analysis/affine.h"
#include "ir/interval.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"
#include "strategy/registry.h"

namespace cairn {
namespace {

// Tensors that some output needs.
std::set<std::string> needed_tensors(const Program& program, const std::vector<Access>& all) {
  std::set<std::string> needed;
  for (const Tensor& tensor : program.tensors()) {
    if (tensor.role == Role::out || tensor.role == Role::io) needed.insert(tensor.name);
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (const Access& access : all) {
      // A test decides whether the equations below it run: what it reads is needed.
      const bool for_needed = !access.stmt->is_equation() || needed.contains(access.stmt->tensor);
      if (!access.is_write && for_needed) grown |= needed.insert(access.tensor).second;
    }
  }
  return needed;
}

// Why an equation can go: wholly, or beyond a range of one loop variable.
struct Cut {
  bool whole = false;
  std::string var;               // the loop to shorten
  std::int64_t lo = 0, hi = 0;   // values of var that are needed
};

std::optional<Interval> range_of(const Access& access, const Expr& subscript) {
  VarRanges ranges;
  for (const Stmt* loop : access.loops) ranges[loop->var] = {0, loop->extent - 1};
  return interval_of(subscript, ranges);
}

std::optional<Cut> find_dead(const std::vector<Access>& all, const std::set<std::string>& needed, const EquationRef& ref) {
  const std::string& name = ref.equation->tensor;
  if (!needed.contains(name)) return Cut{true, "", 0, 0};
  for (std::size_t d = 0; d < ref.equation->subscripts.size(); ++d) {
    const std::optional<LinearForm> form = linear_form(*ref.equation->subscripts[d]);
    if (!form || form->terms.size() != 1 || form->terms[0].second != 1) continue;
    std::optional<Interval> read;
    bool known = true;
    for (const Access& access : all) {
      const bool dead_reader = access.stmt->is_equation() && !needed.contains(access.stmt->tensor);
      if (access.is_write || access.is_self || access.tensor != name || dead_reader) continue;
      const std::optional<Interval> one = range_of(access, *access.subscripts[d]);
      known &= one.has_value();
      if (!one) break;
      read = read ? Interval{std::min(read->lo, one->lo), std::max(read->hi, one->hi)} : *one;
    }
    if (!known || !read) continue;
    const auto own = std::find_if(all.begin(), all.end(), [&](const Access& a) { return a.is_write && a.path == ref.path; });
    const auto loop = std::find_if(own->loops.begin(), own->loops.end(), [&](const Stmt* l) { return l->var == form->terms[0].first; });
    if (loop == own->loops.end()) continue;
    const std::int64_t lo = std::max<std::int64_t>(read->lo - form->constant, 0);
    const std::int64_t hi = std::min<std::int64_t>(read->hi - form->constant, (*loop)->extent - 1);
    if (lo > hi) return Cut{true, "", 0, 0};
    if (lo > 0 || hi < (*loop)->extent - 1) return Cut{false, (*loop)->var, lo, hi};
  }
  return std::nullopt;
}

std::vector<Args> list_sites(const Program& program, const Target&) {
  std::vector<Args> out;
  const std::vector<Access> all = collect_accesses(program);
  const std::set<std::string> needed = needed_tensors(program, all);
  for (const EquationRef& ref : collect_equations(program.body())) {
    const Tensor* tensor = program.find(ref.equation->tensor);
    if (!tensor || tensor->role != Role::tmp || !find_dead(all, needed, ref)) continue;
    out.push_back(Args{{"equation", equation_address(program.body(), ref.path)}});
  }
  return out;
}

// The loop of that name above the equation: shortened if it holds nothing else and its kind allows, else a test.
Program shorten(const Program& program, const StmtPath& equation, const Cut& cut) {
  StmtPath path = equation;
  const Stmt* loop = nullptr;
  while (!path.empty()) {
    path.pop_back();
    loop = stmt_at(program.body(), path);
    if (loop->is_loop() && loop->var == cut.var) break;
  }
  std::vector<ExprPtr> tests;
  const bool alone = count_equations(loop->body) == 1 && (loop->kind == LoopKind::L || loop->kind == LoopKind::P) &&
                     loop->mark.type == LoopMark::Type::none;
  if (cut.lo > 0) tests.push_back(make_expr(Op::ge, {make_var(cut.var), make_int(cut.lo)}));
  if (alone) {
    Body body = tests.empty() ? loop->body : Body{make_test(join_conjunction(tests), loop->body)};
    return with_replaced(program, path, Body{with_body(*loop_like(*loop, loop->kind, cut.hi + 1, loop->var), std::move(body))});
  }
  if (cut.hi < loop->extent - 1) tests.push_back(less_than(make_var(cut.var), cut.hi + 1));
  return with_replaced(program, equation, Body{make_test(join_conjunction(tests), Body{shared_at(program.body(), equation)})});
}

void record_gathers(const Stmt& equation, Step* step) {
  const auto look = [&](const Expr& root) {
    visit_expr(root, [&](const Expr& e) {
      const bool gather = e.op == Op::read && std::any_of(e.args.begin(), e.args.end(), [](const ExprPtr& s) { return !is_index_expr(*s); });
      if (gather) step->recorded.push_back({fmt::format("the run-time check of a subscript of {} goes", e.name), true});
      return true;
    });
  };
  look(*equation.rhs);
}

Result<Step> apply(const Program& program, const Target&, const Args& args) {
  CAIRN_TRY(const StmtPath path, find_equation(program.body(), args.get("equation")));
  const Stmt& equation = *stmt_at(program.body(), path);
  const Tensor* tensor = program.find(equation.tensor);
  if (!tensor || tensor->role != Role::tmp) {
    return refuse(program, equation.pos, 1, fmt::format("{} writes {}, which the caller sees; only temporaries can be dead", args.get("equation"),
                                                        equation.tensor));
  }
  const std::vector<Access> all = collect_accesses(program);
  const std::optional<Cut> cut = find_dead(all, needed_tensors(program, all), {&equation, path});
  if (!cut) {
    return refuse(program, equation.pos, 2, fmt::format("every range of {} that {} writes is read on the way to an output", equation.tensor,
                                                        args.get("equation")));
  }
  Step step;
  if (cut->whole) {
    step.after = with_replaced(program, path, {});
    if (count_mentions(step.after.body(), equation.tensor) == 0) step.after.remove_tensor(equation.tensor);
    record_gathers(equation, &step);
  } else {
    step.after = shorten(program, path, *cut);
  }
  step.same_instances = false;
  step.proved = conditions_up_to(2);
  return step;
}

}  // namespace

const Strategy strategy_dead_code_elimination{
    "dead_code_elimination", Level::graph, Direction::algebra, Exactness::exact,
    "an equation, or the part of its domain that no output needs, goes",
    {{"equation", ArgType::equation, "the equation", {}, ""}},
    list_sites, apply};

}  // namespace cairn
