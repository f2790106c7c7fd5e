#include "analysis/algebra/prove.h"

#include <fmt/core.h>

#include <algorithm>

#include "analysis/algebra/bounds.h"
#include "ir/text.h"
#include "ir/typing.h"
#include "ir/walk.h"

namespace cairn::algebra {
namespace {

void add_known(const ExprPtr& cond, std::vector<ExprPtr>* out) {
  if (cond->op == Op::logical_and) {
    for (const ExprPtr& arg : cond->args) add_known(arg, out);
    return;
  }
  out->push_back(cond);
}

Op negated(Op op) {
  switch (op) {
    case Op::lt: return Op::ge;
    case Op::le: return Op::gt;
    case Op::gt: return Op::le;
    case Op::ge: return Op::lt;
    case Op::eq: return Op::ne;
    default: return Op::eq;
  }
}

Truth negate(Truth t) { return t == Truth::yes ? Truth::no : t == Truth::no ? Truth::yes : Truth::unknown; }

bool is_infinity(const Expr& e) { return e.op == Op::float_literal && e.float_value == __builtin_inf(); }
bool is_zero(const Expr& e) { return (e.op == Op::int_literal && e.int_value == 0) || (e.op == Op::float_literal && e.float_value == 0); }

// The type that the operands of a conversion or a comparison are computed in.
ComputeType operand_type(const Program& program, const Expr& e) {
  bool wide = e.op == Op::cast && e.dtype == Dtype::f64;
  for (const ExprPtr& arg : e.args) {
    visit_expr(*arg, [&](const Expr& node) {
      const Tensor* tensor = node.op == Op::read ? program.find(node.name) : nullptr;
      wide = wide || (tensor && tensor->dtype == Dtype::f64) || (node.op == Op::cast && node.dtype == Dtype::f64);
      return node.op != Op::read && node.op != Op::cast;
    });
  }
  return wide ? ComputeType::f64 : ComputeType::f32;
}

}  // namespace

std::int64_t safe_exponent(ComputeType type) { return type == ComputeType::f64 ? 700 : 80; }

Place place_of(const Program& program, const StmtPath& equation, const ExprPath& node) {
  Place place;
  place.path = equation;
  const Body* level = &program.body();
  place.loops.reserve(equation.size());
  for (const std::uint32_t index : equation) {
    if (index >= level->size()) break;
    const Stmt& stmt = *(*level)[index];
    if (stmt.is_loop()) place.loops.push_back({stmt.var, stmt.extent});
    if (stmt.is_test()) add_known(stmt.cond, &place.known);
    if (stmt.is_equation()) place.equation = &stmt;
    level = &stmt.body;
  }
  if (!place.equation) return place;
  const Tensor* target = program.find(place.equation->tensor);
  place.type = target ? compute_type(target->dtype) : ComputeType::f32;
  return node.empty() ? place : place_in(program, std::move(place), node);
}

Place place_in(const Program& program, Place place, const ExprPath& node) {
  if (!place.equation) return place;
  ExprPtr at = place.equation->rhs;
  for (const std::uint32_t k : node) {
    if (k >= at->args.size()) break;
    if (at->op == Op::select && k == 1) add_known(at->args[0], &place.known);
    if (at->op == Op::select && k > 0) place.under.push_back(k == 1 ? at->args[0] : make_expr(Op::logical_not, {at->args[0]}));
    if (at->op == Op::select && k == 2 && is_comparison(at->args[0]->op)) {
      // Negating an order of floats would claim more where a side is NaN; only equality and integers turn round safely.
      const Op op = at->args[0]->op;
      bool floats = false;
      visit_expr(*at->args[0], [&](const Expr& e) {
        const Tensor* tensor = e.op == Op::read ? program.find(e.name) : nullptr;
        floats = floats || e.op == Op::float_literal || (tensor && is_float(tensor->dtype));
        return true;
      });
      if (!floats) place.known.push_back(make_expr(negated(op), at->args[0]->args));
    }
    if (at->op == Op::cast || is_comparison(at->op)) place.type = operand_type(program, *at);
    at = at->args[k];
  }
  return place;
}

Truth Prover::prove(const ExprPtr& condition, const Place& place) {
  const Expr& c = *condition;
  switch (c.op) {
    case Op::logical_and: case Op::logical_or: {
      const Truth a = prove(c.args[0], place), b = prove(c.args[1], place);
      const Truth decides = c.op == Op::logical_and ? Truth::no : Truth::yes;
      if (a == decides || b == decides) return decides;
      return a == Truth::unknown || b == Truth::unknown ? Truth::unknown : negate(decides);
    }
    case Op::logical_not: return negate(prove(c.args[0], place));
    default: break;
  }
  if (!is_comparison(c.op)) return Truth::unknown;
  for (const ExprPtr& known : place.known) {
    if (same_value(known, condition)) return Truth::yes;
  }
  ExprPtr a = c.args[0], b = c.args[1];
  Op op = c.op;
  if (op == Op::gt || op == Op::ge) {
    std::swap(a, b);
    op = op == Op::gt ? Op::lt : Op::le;
  }
  if (op == Op::lt && is_infinity(*b)) {
    const Bounds x = bounds_of(a, place);
    if (!x.may_be_nan && x.hi < largest_finite(place.type)) return Truth::yes;
    return x.lo == __builtin_inf() ? Truth::no : Truth::unknown;
  }
  const Bounds d = bounds_of(is_zero(*b) ? a : make_expr(Op::sub, {a, b}), place);
  const bool below = d.hi < 0 || (d.hi == 0 && d.hi_open), above = d.lo > 0 || (d.lo == 0 && d.lo_open);
  switch (op) {
    case Op::lt: return below ? Truth::yes : d.lo >= 0 ? Truth::no : Truth::unknown;
    case Op::le: return d.hi <= 0 ? Truth::yes : above ? Truth::no : Truth::unknown;
    case Op::eq: return d.lo == 0 && d.hi == 0 ? Truth::yes : below || above ? Truth::no : Truth::unknown;
    default: {
      const double tiny = smallest_normal(place.type);
      if (d.lo == 0 && d.hi == 0) return Truth::no;
      return d.lo >= tiny || d.hi <= -tiny ? Truth::yes : Truth::unknown;
    }
  }
}

bool Prover::is_max_over(const ExprPtr& upper, const ExprPtr& e, const Place& place) {
  if (same_value(upper, e)) return true;
  if (upper->op == Op::max) return is_max_over(upper->args[0], e, place) || is_max_over(upper->args[1], e, place);
  if (upper->op == Op::abs) return same_value(upper->args[0], e);
  if (e->op == Op::min) return is_max_over(upper, e->args[0], place) || is_max_over(upper, e->args[1], place);
  return upper->op == Op::read && reduction_includes(*upper, e, place);
}

ExprPtr condition_of(const ExprPtr& condition, const Bindings& bindings, const Place& place) {
  if (!uses_var(*condition, "big")) return instantiate(condition, bindings);
  Bindings all = bindings;
  all.emplace_back("big", make_int(safe_exponent(place.type)));
  return instantiate(condition, all);
}

std::vector<ExprPtr> conditions_of(const Rule& rule, const Match& match, const Place& place) {
  std::vector<ExprPtr> out;
  for (const ExprPtr& condition : rule.conditions()) out.push_back(condition_of(condition, match.bindings, place));
  return out;
}

namespace {
// `e` computed in `dtype`: other floats converted, and integers where nothing beside them is a float.
ExprPtr compute_in(const Program& program, const ExprPtr& e, Dtype dtype, bool integers) {
  if (is_comparison(e->op) || e->op == Op::cast || e->op == Op::int_literal || e->op == Op::float_literal) return e;
  if (is_integer_expr(program, *e)) return integers ? make_cast(dtype, e) : e;
  if (e->op == Op::read) {
    const Tensor* t = program.find(e->name);
    return t != nullptr && is_float(t->dtype) && compute_type(t->dtype) != compute_type(dtype) ? make_cast(dtype, e) : e;
  }
  std::vector<ExprPtr> args;
  for (const ExprPtr& arg : e->args) args.push_back(compute_in(program, arg, dtype, integers));
  return make_expr(e->op, std::move(args), e->pos);
}

// The comparisons of a condition made in the type that its place computes in: sqrt(K_{i})>0 of integers K is
// sqrt(f32(K_{i}))>0 there, and a product of f32 tensors in an f64 equation does not overflow as in f32.
ExprPtr compare_in(const Program& program, const ExprPtr& condition, Dtype dtype) {
  std::vector<ExprPtr> args;
  if (!is_comparison(condition->op)) {
    for (const ExprPtr& arg : condition->args) args.push_back(compare_in(program, arg, dtype));
  } else {
    bool integers = true;
    visit_expr(*condition, [&](const Expr& e) {
      if (e.op == Op::read || e.op == Op::cast) integers &= is_integer_expr(program, e);
      return e.op != Op::read;
    });
    for (const ExprPtr& arg : condition->args) args.push_back(compute_in(program, arg, dtype, integers));
  }
  return make_expr(condition->op, std::move(args), condition->pos);
}
}  // namespace

std::string describe_condition(const Program& program, const ExprPtr& condition, const Place& place) {
  const bool floats = place.type == ComputeType::f32 || place.type == ComputeType::f64;
  const ExprPtr typed = floats ? compare_in(program, condition, place.type == ComputeType::f32 ? Dtype::f32 : Dtype::f64) : condition;
  std::string text = fmt::format("{} at {}", print_expr(*typed), equation_address(program.body(), place.path));
  ExprPtr all;
  for (const ExprPtr& c : place.under) all = all ? make_expr(Op::logical_and, {all, c}) : c;
  return all ? fmt::format("{} if {}", text, print_expr(*all)) : text;
}

}  // namespace cairn::algebra
