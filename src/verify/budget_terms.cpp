#include "verify/budget_terms.h"

#include <cmath>

#include "ir/typing.h"
#include "ir/walk.h"

namespace cairn {

namespace {
// Rewrites a multilinear program so that each element becomes the sum over its terms of the term's square
// (squares) or of 1 (count): differences become sums, literals are squared or 1, inputs are given so.
class Terms {
 public:
  Terms(const Program& program, bool squares) : program_(program), squares_(squares) {}

  bool rewrite(Program* out) {
    Body body = walk(program_.body());
    if (!ok_) return false;
    *out = program_;
    out->set_body(std::move(body));
    for (Tensor t : program_.tensors()) {
      if (!is_float(t.dtype)) continue;
      t.dtype = Dtype::f64;
      out->set_tensor(std::move(t));
    }
    return true;
  }

 private:
  Body walk(const Body& body) {
    Body out;
    for (const StmtPtr& s : body) {
      if (s->is_equation()) {
        const Tensor* t = program_.find(s->tensor);
        const bool floats = t != nullptr && is_float(t->dtype);
        out.push_back(floats ? make_equation(s->tensor, s->subscripts, term(s->rhs), s->pos) : s);
      } else {
        if (s->is_test() && !integer_condition(*s->cond)) ok_ = false;
        out.push_back(with_body(*s, walk(s->body)));
      }
    }
    return out;
  }
  bool integer_condition(const Expr& cond) const {
    bool integer = true;
    visit_expr(cond, [&](const Expr& e) {
      if (e.op == Op::float_literal) integer = false;
      if (e.op == Op::read) {
        const Tensor* t = program_.find(e.name);
        integer &= t != nullptr && !is_float(t->dtype);
      }
      return integer;
    });
    return integer;
  }
  ExprPtr fail(const ExprPtr& e) {
    ok_ = false;
    return e;
  }
  ExprPtr term(const ExprPtr& e) {
    if (e->op == Op::float_literal) return make_float(squares_ ? e->float_value * e->float_value : 1);
    if (is_integer_expr(program_, *e)) return squares_ ? make_expr(Op::mul, {e, e}) : make_int(1);
    switch (e->op) {
      case Op::read: return e;
      case Op::neg: return term(e->args[0]);
      case Op::add: case Op::sub: return make_expr(Op::add, {term(e->args[0]), term(e->args[1])});
      case Op::mul: return make_expr(Op::mul, {term(e->args[0]), term(e->args[1])});
      case Op::div: {
        const Expr& divisor = *e->args[1];
        if (divisor.op != Op::float_literal && !is_integer_expr(program_, divisor)) return fail(e);
        return make_expr(Op::div, {term(e->args[0]), term(e->args[1])});
      }
      case Op::select:
        if (!integer_condition(*e->args[0])) return fail(e);
        return make_expr(Op::select, {e->args[0], term(e->args[1]), term(e->args[2])});
      case Op::cast: return e->dtype == Dtype::f32 || e->dtype == Dtype::f64 ? term(e->args[0]) : fail(e);
      default: return fail(e);
    }
  }

  const Program& program_;
  bool squares_;
  bool ok_ = true;
};
}  // namespace

bool derive_term_programs(const Program& program, Program* squares, Program* count) {
  return Terms(program, true).rewrite(squares) && Terms(program, false).rewrite(count);
}

std::map<std::string, TermNorms, std::less<>> terms_norm(const Program& program, const ValueMap& inputs,
                                                         const InterpOptions& options) {
  std::map<std::string, TermNorms, std::less<>> result;
  Program squares, count;
  if (!derive_term_programs(program, &squares, &count)) return result;
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
    if (v.floats.empty() || terms == n->end()) continue;
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
