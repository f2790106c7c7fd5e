// dead_code_elimination: equations, or parts of their domain, whose elements no output needs go.
//
//   L^{8}_{i=0}[D_{i}=..];  (D read nowhere)           =>  nothing
//   L^{8}_{i=0}[D_{i}=..];  (only D_{0..4} is read)    =>  L^{5}_{i=0}[D_{i}=..];
//   L_i L_j [D_{i,j}=..];   (read only where j<=i)     =>  L_i L_j T^{j<=i} [D_{i,j}=..];
//
// A tensor is needed if it is out or io, or if an equation of a needed tensor (or a test above one) reads it. Of a
// needed temporary only the box that all its readers together touch is needed, dimension by dimension, and of that only
// the elements for which the conditions that all readers share hold (a causal mask halves the scores).
//
// Legal when
// (1) the equation writes a temporary,
// (2) no output needs any element it writes, or the elements needed lie in a smaller range of one of its
//     subscripts, which is a loop variable plus a constant, or satisfy a condition on such subscripts that the equation
//     does not: an instance without it exists (exact tests, isl behind).
// Removed run-time checks (gathers) are recorded. What remains is unchanged: exact.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "analysis/access.h"
#include "analysis/affine.h"
#include "analysis/dependence.h"
#include "ir/interval.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

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
  std::vector<ExprPtr> guard;    // or conditions that all needed elements satisfy
};

std::optional<Interval> range_of(const Access& access, const Expr& subscript) {
  VarRanges ranges;
  for (const Stmt* loop : access.loops) ranges[loop->var] = {0, loop->extent - 1};
  return interval_of(subscript, ranges);
}

// A subscript `variable + offset`.
struct PlainSubscript {
  std::string var;
  std::int64_t offset = 0;
};
std::optional<PlainSubscript> plain_subscript(const Expr& e) {
  const std::optional<LinearForm> form = linear_form(e);
  if (!form || form->terms.size() != 1 || form->terms[0].second != 1) return std::nullopt;
  return PlainSubscript{form->terms[0].first, form->constant};
}

// The condition that holds, as conjuncts; a comparison that does not hold is turned round.
std::vector<ExprPtr> conjuncts_of(const Condition& condition) {
  if (condition.holds) return split_conjunction(condition.cond);
  const Expr& e = *condition.cond;
  switch (e.op) {
    case Op::lt: return {make_expr(Op::ge, e.args)};
    case Op::le: return {make_expr(Op::gt, e.args)};
    case Op::gt: return {make_expr(Op::le, e.args)};
    case Op::ge: return {make_expr(Op::lt, e.args)};
    case Op::eq: return {make_expr(Op::ne, e.args)};
    case Op::ne: return {make_expr(Op::eq, e.args)};
    default: return {};
  }
}

// A comparison of one variable as `v>=c`, `v<c`, `v==c` or `v!=c`: readers that count from other elements then agree.
ExprPtr tidy(const ExprPtr& e) {
  if (!is_comparison(e->op)) return e;
  const std::optional<LinearForm> form = linear_form(*make_expr(Op::sub, {e->args[0], e->args[1]}));
  if (!form || form->terms.size() != 1 || (form->terms[0].second != 1 && form->terms[0].second != -1)) return e;
  const std::int64_t sign = form->terms[0].second, value = -sign * form->constant;
  const bool below = e->op == Op::lt || e->op == Op::le, strict = e->op == Op::lt || e->op == Op::gt;
  const ExprPtr var = make_var(form->terms[0].first);
  if (e->op == Op::eq || e->op == Op::ne) return make_expr(e->op, {var, make_int(value)});
  if (below == (sign > 0)) return make_expr(Op::lt, {var, make_int(strict ? value : value + 1)});
  return make_expr(Op::ge, {var, make_int(strict ? value + 1 : value)});
}

// What holds wherever the reader reads, in the loop variables of the equation that writes the element.
std::vector<ExprPtr> needed_where(const Access& reader, const Access& writer) {
  Substitution map;
  for (std::size_t d = 0; d < reader.subscripts.size() && d < writer.subscripts.size(); ++d) {
    const std::optional<PlainSubscript> read = plain_subscript(*reader.subscripts[d]), write = plain_subscript(*writer.subscripts[d]);
    if (!read || !write) continue;
    const std::int64_t shift = write->offset - read->offset;
    map.emplace_back(read->var, shift == 0 ? make_var(write->var) : linear_expr({{{write->var, 1}}, shift}));
  }
  std::vector<ExprPtr> out;
  for (const Condition& condition : reader.conditions) {
    for (const ExprPtr& part : conjuncts_of(condition)) {
      bool known = is_index_condition(*part);
      visit_expr(*part, [&](const Expr& e) {
        known &= e.op != Op::loop_var || std::any_of(map.begin(), map.end(), [&](const auto& m) { return m.first == e.name; });
        return known;
      });
      if (known) out.push_back(tidy(substitute_vars(part, map)));
    }
  }
  return out;
}

// Conditions shared by all readers that some instance of the equation does not satisfy.
std::optional<Cut> find_guard(const std::vector<Access>& all, const std::set<std::string>& needed, const Access& own) {
  std::optional<std::vector<ExprPtr>> common;
  for (const Access& access : all) {
    const bool dead_reader = access.stmt->is_equation() && !needed.contains(access.stmt->tensor);
    if (access.is_write || access.is_self || access.tensor != own.tensor || dead_reader) continue;
    std::vector<ExprPtr> here = needed_where(access, own);
    if (!common) {
      common = std::move(here);
    } else {
      std::erase_if(*common, [&](const ExprPtr& c) { return std::none_of(here.begin(), here.end(), [&](const ExprPtr& h) { return same_expr(c, h); }); });
    }
    if (common->empty()) return std::nullopt;
  }
  if (!common) return std::nullopt;
  Cut cut;
  for (const ExprPtr& condition : *common) {
    Access without = own;
    without.conditions.push_back({condition, false});
    if (may_run(without) == Answer::yes) cut.guard.push_back(condition);
  }
  return cut.guard.empty() ? std::nullopt : std::optional<Cut>(std::move(cut));
}

std::optional<Cut> find_dead(const std::vector<Access>& all, const std::set<std::string>& needed, const EquationRef& ref) {
  const std::string& name = ref.equation->tensor;
  if (!needed.contains(name)) return Cut{true, "", 0, 0, {}};
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
    if (lo > hi) return Cut{true, "", 0, 0, {}};
    if (lo > 0 || hi < (*loop)->extent - 1) return Cut{false, (*loop)->var, lo, hi, {}};
  }
  const auto own = std::find_if(all.begin(), all.end(), [&](const Access& a) { return a.is_write && a.path == ref.path; });
  return find_guard(all, needed, *own);
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

// The equation under the guard, which goes above the loops it does not depend on.
Program guard(const Program& program, const StmtPath& equation, const std::vector<ExprPtr>& conditions) {
  StmtPath at = equation;
  while (at.size() > 1) {
    const Stmt& above = *stmt_at(program.body(), parent_of(at));
    const bool free = above.is_loop() && above.body.size() == 1 && (above.kind == LoopKind::L || above.kind == LoopKind::U) &&
                      std::none_of(conditions.begin(), conditions.end(), [&](const ExprPtr& c) { return uses_var(*c, above.var); });
    if (!free) break;
    at = parent_of(at);
  }
  return with_replaced(program, at, Body{make_test(join_conjunction(conditions), Body{shared_at(program.body(), at)})});
}

void record_gathers(const Stmt& equation, Step* step) {
  const auto look = [&](const Expr& root) {
    visit_expr(root, [&](const Expr& e) {
      const bool gather = e.op == Op::read && std::any_of(e.args.begin(), e.args.end(), [](const ExprPtr& s) { return !is_index_expr(*s); });
      if (gather) step->recorded.push_back({fmt::format("the run-time check of a subscript of {} goes with the instances", e.name), true});
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
    step.after = cut->guard.empty() ? shorten(program, path, *cut) : guard(program, path, cut->guard);
    record_gathers(equation, &step);
  }
  step.same_instances = false;
  step.proved = conditions_up_to(2);
  return step;
}

}  // namespace

extern const Strategy strategy_dead_code_elimination{
    "dead_code_elimination", Level::graph, Direction::algebra, Exactness::exact,
    "an equation, or the part of its domain that no output needs, goes",
    {{"equation", ArgType::equation, "the equation", {}, ""}},
    list_sites, apply};

}  // namespace cairn
