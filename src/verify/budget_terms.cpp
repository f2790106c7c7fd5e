#include "verify/budget_terms.h"

#include <cmath>
#include <set>

#include "ir/typing.h"
#include "ir/walk.h"

namespace cairn {

namespace {
using Names = std::set<std::string, std::less<>>;

bool is_float_tensor(const Program& program, std::string_view name) {
  const Tensor* t = program.find(name);
  return t != nullptr && is_float(t->dtype);
}

template <class Fn>
bool reads_one(const Expr& root, const Fn& fn) {
  bool found = false;
  visit_expr(root, [&](const Expr& e) {
    found = found || (e.op == Op::read && fn(e.name));
    return !found;
  });
  return found;
}
bool reads_float(const Program& program, const Expr& e) {
  return reads_one(e, [&](const std::string& name) { return is_float_tensor(program, name); });
}
bool reads_of(const Names& names, const Expr& e) {
  return reads_one(e, [&](const std::string& name) { return names.contains(name); });
}

bool is_integer_condition(const Program& program, const Expr& cond) {
  bool literals = false;
  visit_expr(cond, [&](const Expr& e) {
    literals = literals || e.op == Op::float_literal;
    return !literals;
  });
  return !literals && !reads_float(program, cond);
}

// A right side as the sum over its terms of the term's square or of 1: differences become sums, literals are squared or 1,
// inputs are given so. Null if it is no sum of products.
ExprPtr sum_terms(const Program& program, const ExprPtr& e, bool squares) {
  if (e->op == Op::float_literal) return make_float(squares ? e->float_value * e->float_value : 1);
  if (is_integer_expr(program, *e)) {
    if (reads_float(program, *e)) return nullptr;   // converted: the square's conversion is another integer
    return squares ? make_expr(Op::mul, {e, e}) : make_int(1);
  }
  const auto both = [&](Op op, std::size_t first) -> ExprPtr {
    const ExprPtr a = sum_terms(program, e->args[first], squares), b = a ? sum_terms(program, e->args[first + 1], squares) : nullptr;
    if (!b) return nullptr;
    return op == Op::select ? make_expr(op, {e->args[0], a, b}) : make_expr(op, {a, b});
  };
  switch (e->op) {
    case Op::read: return e;
    case Op::neg: return sum_terms(program, e->args[0], squares);
    case Op::add: case Op::sub: return both(Op::add, 0);
    case Op::mul: return both(Op::mul, 0);
    case Op::div: {
      const Expr& divisor = *e->args[1];
      return divisor.op == Op::float_literal || is_integer_expr(program, divisor) ? both(Op::div, 0) : nullptr;
    }
    case Op::select: return is_integer_condition(program, *e->args[0]) ? both(Op::select, 1) : nullptr;
    case Op::cast: return e->dtype == Dtype::f32 || e->dtype == Dtype::f64 ? sum_terms(program, e->args[0], squares) : nullptr;
    default: return nullptr;
  }
}

// The tensors whose elements a derived program cannot tell: floats that are no sums of products, integers computed from
// floats, and all that is computed from them.
Names find_opaque(const Program& program) {
  Names opaque;
  for (bool more = true; more;) {
    more = false;
    for (const EquationRef& ref : collect_equations(program.body())) {
      const Stmt& s = *ref.equation;
      if (opaque.contains(s.tensor)) continue;
      const bool told = is_float_tensor(program, s.tensor) ? sum_terms(program, s.rhs, false) != nullptr : !reads_float(program, *s.rhs);
      if (told && !reads_of(opaque, *s.rhs)) continue;
      opaque.insert(s.tensor);
      more = true;
    }
  }
  return opaque;
}

// Do computed floats decide which elements are written?
bool moves_with_data(const Program& program, const Names& opaque) {
  bool moves = false;
  visit_stmts(program.body(), [&](const Stmt& s, const StmtContext&) {
    if (s.is_test()) moves = moves || !is_integer_condition(program, *s.cond) || reads_of(opaque, *s.cond);
    for (const ExprPtr& e : s.subscripts) moves = moves || reads_float(program, *e) || reads_of(opaque, *e);
  });
  return moves;
}

// The program over sums of terms; opaque tensors are filled with zeros, which nothing else reads.
Program derive(const Program& program, const Names& opaque, bool squares) {
  Program out = program;
  out.set_body(rewrite_stmts(program.body(), [&](const StmtPtr& s) -> std::optional<Body> {
    if (!s->is_equation()) return std::nullopt;
    const Tensor& t = *program.find(s->tensor);
    ExprPtr value = s->rhs;
    if (opaque.contains(t.name)) value = t.dtype == Dtype::boolean ? make_expr(Op::lt, {make_int(0), make_int(0)}) : make_int(0);
    else if (is_float(t.dtype)) value = sum_terms(program, s->rhs, squares);
    return Body{make_equation(s->tensor, s->subscripts, std::move(value), s->pos)};
  }));
  for (Tensor t : program.tensors()) {
    if (!is_float(t.dtype)) continue;
    t.dtype = Dtype::f64;
    out.set_tensor(std::move(t));
  }
  return out;
}
}  // namespace

std::set<std::string, std::less<>> derive_term_programs(const Program& program, Program* squares, Program* count) {
  const Names opaque = find_opaque(program);
  Names outputs;
  if (moves_with_data(program, opaque)) return outputs;
  for (const Tensor& t : program.tensors()) {
    const bool is_output = t.role == Role::out || t.role == Role::io;
    if (is_output && is_float(t.dtype) && !opaque.contains(t.name)) outputs.insert(t.name);
  }
  if (outputs.empty()) return outputs;
  *squares = derive(program, opaque, true);
  *count = derive(program, opaque, false);
  return outputs;
}

std::map<std::string, TermNorms, std::less<>> terms_norm(const Program& program, const ValueMap& inputs,
                                                         const InterpOptions& options) {
  std::map<std::string, TermNorms, std::less<>> result;
  Program squares, count;
  const Names outputs = derive_term_programs(program, &squares, &count);
  if (outputs.empty()) return result;
  ValueMap squared = inputs, ones = inputs;
  for (auto& [name, v] : squared) {
    if (is_float(v.dtype)) v.dtype = Dtype::f64;
    for (double& x : v.floats) x *= x;
  }
  for (auto& [name, v] : ones) {
    if (is_float(v.dtype)) v.dtype = Dtype::f64;
    for (double& x : v.floats) x = 1;
  }
  InterpOptions f64 = options;
  f64.in_f64 = true;
  const Result<ValueMap> s = interpret(squares, squared, f64);
  const Result<ValueMap> n = interpret(count, ones, f64);
  if (!s || !n) return result;
  for (const auto& [name, v] : *s) {
    const auto terms = n->find(name);
    if (!outputs.contains(name) || v.floats.empty() || terms == n->end()) continue;
    TermNorms norms;
    for (std::size_t i = 0; i < v.floats.size(); ++i) {
      norms.norm.push_back(std::sqrt(v.floats[i]));
      norms.root_count.push_back(std::sqrt(std::max(1.0, terms->second.floats[i])));
    }
    result.emplace(name, std::move(norms));
  }
  return result;
}

}  // namespace cairn
