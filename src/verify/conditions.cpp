#include "verify/conditions.h"

#include <fmt/core.h>

#include <cmath>
#include <functional>
#include <set>

#include "ir/numbers.h"
#include "ir/self_update.h"
#include "ir/text.h"
#include "ir/typing.h"
#include "ir/walk.h"

namespace cairn {

namespace {
// Identifiers are ordered by what says more: the largest of an element's is the one that is named; of a band the first.
constexpr std::int64_t kBandSize = 100'000;
enum Band : std::int64_t { kSum = 0, kInput = 100'000, kUnderflow = 200'000, kOverflow = 300'000, kDivisor = 400'000 };

ExprPtr both(ExprPtr a, ExprPtr b) { return make_expr(Op::logical_and, {std::move(a), std::move(b)}); }
// A null mark is no condition: 0.
ExprPtr choose(ExprPtr c, ExprPtr a, ExprPtr b) {
  return make_expr(Op::select, {std::move(c), a ? std::move(a) : make_int(0), b ? std::move(b) : make_int(0)});
}
ExprPtr negate(ExprPtr a) { return make_expr(Op::logical_not, {std::move(a)}); }
ExprPtr is_nan(ExprPtr a) { return make_expr(Op::isnan, {std::move(a)}); }
ExprPtr is_finite(const ExprPtr& a) { return make_expr(Op::eq, {make_expr(Op::sub, {a, a}), make_int(0)}); }
ExprPtr is_zero(const ExprPtr& a) { return make_expr(Op::eq, {a, make_int(0)}); }
ExprPtr number(std::int64_t id) { return make_int(id); }

ExprPtr larger(ExprPtr a, ExprPtr b) {
  if (!a) return b;
  if (!b) return a;
  return make_expr(Op::max, {std::move(a), std::move(b)});
}
ExprPtr or_zero(ExprPtr a) { return a ? a : make_int(0); }

class Marker {
 public:
  explicit Marker(const Program& program) : program_(program) {}

  Result<MarkedProgram> run() {
    std::vector<std::string> taken;
    for (const Tensor& t : program_.tensors()) {
      if (t.role == Role::tmp || t.role == Role::out || t.role == Role::io) {
        marks_[t.name] = fresh_tensor(program_, taken);
        taken.push_back(marks_[t.name]);
      }
    }
    out_.program = program_;
    Body body = walk(program_.body());
    for (const Tensor& t : program_.tensors()) {
      if (t.role == Role::io && t.shape) body.insert(body.begin(), start_of(t));
    }
    out_.program.set_body(std::move(body));
    for (const Tensor& t : program_.tensors()) {
      const auto mark = marks_.find(t.name);
      if (mark == marks_.end()) continue;
      Tensor m = t;
      m.name = mark->second;
      m.dtype = Dtype::f64;
      m.data = {};
      if (t.role == Role::io) m.role = Role::out;
      out_.program.set_tensor(std::move(m));
      if (t.role != Role::tmp) out_.marks[t.name] = mark->second;
    }
    return std::move(out_);
  }

 private:
  Body walk(const Body& body) {
    Body out;
    for (const StmtPtr& s : body) {
      if (!s->is_equation()) {
        const ExprPtr mark = s->is_test() ? mark_of_test(*s) : nullptr;
        out.push_back(with_body(*s, walk(s->body)));
        if (mark) mark_guarded(*s, mark, s->body, {}, &out);
        continue;
      }
      const Tensor* target = program_.find(s->tensor);
      const bool f64 = target != nullptr && (!is_float(target->dtype) || compute_type(target->dtype) == ComputeType::f64);
      compute_ = f64 ? Dtype::f64 : Dtype::f32;
      place_ = fmt::format("s{}", equation_++);
      const std::string& mark = marks_.at(s->tensor);
      if (const auto update = match_self_update(*s)) {
        out.push_back(s);
        out.push_back(make_equation(mark, s->subscripts, update_mark(*s, *update, mark)));
      } else {
        out.push_back(make_equation(mark, s->subscripts, or_zero(mark_of(s->rhs))));
        out.push_back(s);
      }
    }
    return out;
  }

  // The marks that an io tensor begins with: of its values as an input.
  StmtPtr start_of(const Tensor& t) {
    std::vector<ExprPtr> at;
    for (std::size_t d = 0; d < t.shape->size(); ++d) at.push_back(make_var(fmt::format("i{}", d)));
    StmtPtr nest = make_equation(marks_.at(t.name), at, or_zero(mark_of_input(t, make_read(t.name, at))));
    for (std::size_t d = t.shape->size(); d-- > 0;) nest = make_loop(LoopKind::L, (*t.shape)[d], fmt::format("i{}", d), {nest});
    return nest;
  }

  ExprPtr mark_of_test(const Stmt& test) {
    bool f64 = false;
    visit_expr(*test.cond, [&](const Expr& e) {
      const Tensor* t = e.op == Op::read ? program_.find(e.name) : nullptr;
      return f64 |= t != nullptr && compute_type(t->dtype) == ComputeType::f64, true;
    });
    compute_ = f64 ? Dtype::f64 : Dtype::f32;
    place_ = fmt::format("s{}", equation_);
    return mark_of(test.cond);
  }

  // What stands under a test on data hangs on the test also where that fails: the mark of the condition joins those of the
  // elements that the body would write. `around`: the loops and the tests of indices between.
  void mark_guarded(const Stmt& test, const ExprPtr& mark, const Body& body, std::vector<StmtPtr> around, Body* out) {
    if (around.empty()) around.push_back(without_reads(test));
    for (const StmtPtr& s : body) {
      if (!s->is_equation()) {
        around.push_back(s->is_test() ? without_reads(*s) : s);
        mark_guarded(test, mark, s->body, around, out);
        around.pop_back();
        continue;
      }
      const std::string& target = marks_.at(s->tensor);
      StmtPtr nest = make_equation(target, s->subscripts, make_expr(Op::max, {make_read(target, s->subscripts), mark}));
      for (std::size_t k = around.size(); k-- > 0;) {
        if (around[k]) nest = with_body(*around[k], {nest});
      }
      out->push_back(std::move(nest));
    }
  }
  // A test with the conjuncts alone that read no tensor; null if there is none.
  static StmtPtr without_reads(const Stmt& test) {
    ExprPtr kept;
    const std::function<void(const ExprPtr&)> keep = [&](const ExprPtr& c) {
      if (c->op == Op::logical_and) return keep(c->args[0]), keep(c->args[1]);
      bool reads = false;
      visit_expr(*c, [&reads](const Expr& e) { return reads |= e.op == Op::read, true; });
      if (!reads) kept = kept ? both(kept, c) : c;
    };
    keep(test.cond);
    return kept ? make_test(kept, {}) : nullptr;
  }

  // The accumulator's mark: of all that went in, and of the accumulation itself, told by the value that it has now.
  ExprPtr update_mark(const Stmt& s, const SelfUpdate& update, const std::string& mark) {
    ExprPtr all;
    for (const auto& operand : update.others) {
      all = larger(all, mark_of(operand.expr));
      if (update.op != UpdateOp::mul || !operand.inverse) continue;
      all = larger(all, choose(is_zero(value(operand.expr)), name(kDivisor, operand.expr, " != 0"), make_int(0)));
    }
    if (update.op == UpdateOp::add || update.op == UpdateOp::mul) {
      const ExprPtr now = make_read(s.tensor, s.subscripts);
      const auto text = fmt::format("the {} into {} is finite", update.op == UpdateOp::add ? "sum" : "product", print_expr(*now));
      all = larger(all, choose(is_finite(value(now)), make_int(0), number(identifier(kSum, text))));
    }
    // A self-update by max: it starts where the accumulator starts.
    return make_expr(Op::max, {make_read(mark, s.subscripts), or_zero(all)});
  }

  std::int64_t identifier(Band band, const std::string& text) {
    const auto [it, fresh] = identifiers_.try_emplace({band, place_ + ": " + text}, band + kBandSize - 1 - static_cast<std::int64_t>(identifiers_.size()));
    if (fresh) out_.conditions[it->second] = it->first.second;
    return it->second;
  }
  ExprPtr name(Band band, const ExprPtr& e, const char* what) { return number(identifier(band, print_expr(*e) + what)); }

  // The value in the type that the equation computes in, also inside the marks' own equation.
  ExprPtr value(const ExprPtr& e) const { return make_cast(compute_, e); }
  ExprPtr tiny(const ExprPtr& e) const {
    return make_expr(Op::lt, {make_expr(Op::abs, {value(e)}), make_cast(compute_, make_float(std::ldexp(1.0, float_format(compute_).min_exponent)))});
  }

  ExprPtr mark_of_read(const ExprPtr& e) {
    const auto mark = marks_.find(e->name);
    if (mark != marks_.end()) return make_read(mark->second, e->args);
    const Tensor* t = program_.find(e->name);
    return t == nullptr ? nullptr : mark_of_input(*t, e);
  }
  ExprPtr mark_of_input(const Tensor& t, const ExprPtr& e) {
    if (!is_float(t.dtype)) return nullptr;
    return choose(is_finite(value(e)), choose(both(tiny(e), negate(is_zero(value(e)))), name(kInput, e, " is no denormal"), make_int(0)),
                  name(kInput, e, " is finite"));
  }

  ExprPtr mark_of(const ExprPtr& e) {
    switch (e->op) {
      case Op::int_literal: case Op::float_literal: case Op::loop_var: return nullptr;
      case Op::read: return mark_of_read(e);
      case Op::select: {
        const ExprPtr a = mark_of(e->args[1]), b = mark_of(e->args[2]);
        return larger(mark_of(e->args[0]), a || b ? choose(e->args[0], or_zero(a), or_zero(b)) : nullptr);
      }
      case Op::logical_and: case Op::logical_or: {
        const ExprPtr second = mark_of(e->args[1]);
        const ExprPtr guarded = !second ? nullptr
                                : e->op == Op::logical_and ? choose(e->args[0], second, make_int(0))
                                                           : choose(e->args[0], make_int(0), second);
        return larger(mark_of(e->args[0]), guarded);
      }
      default: break;
    }
    ExprPtr all;
    for (const ExprPtr& arg : e->args) all = larger(all, mark_of(arg));
    return is_integer_expr(program_, *e) ? all : larger(all, born(e));
  }

  // The identifier of this very operation where it leaves real arithmetic, or null if it cannot.
  ExprPtr born(const ExprPtr& e) {
    const auto& a = e->args;
    switch (e->op) {
      case Op::add: case Op::sub: return not_finite(e, nullptr, " is finite");
      case Op::mul: return not_finite(e, both(negate(is_zero(value(a[0]))), negate(is_zero(value(a[1])))), " is finite");
      case Op::div:
        if (a[1]->op == Op::int_literal || a[1]->op == Op::float_literal) return not_finite(e, negate(is_zero(value(a[0]))), " is finite");
        return choose(is_zero(value(a[1])), name(kDivisor, a[1], " != 0"), not_finite(e, negate(is_zero(value(a[0]))), " is finite"));
      case Op::pow: return not_finite(e, negate(is_zero(value(a[0]))), " is finite");
      case Op::exp: {
        const char* limit = compute_ == Dtype::f64 ? " is finite (its argument at most 709)" : " is finite (its argument at most 88)";
        return not_finite(e, is_finite(value(a[0])), limit);
      }
      case Op::log: return choose(make_expr(Op::gt, {value(a[0]), make_int(0)}), make_int(0), name(kDivisor, a[0], " > 0"));
      case Op::rsqrt: return choose(make_expr(Op::gt, {value(a[0]), make_int(0)}), make_int(0), name(kDivisor, a[0], " > 0"));
      case Op::sqrt: return choose(make_expr(Op::ge, {value(a[0]), make_int(0)}), make_int(0), name(kDivisor, a[0], " >= 0"));
      default: return nullptr;
    }
  }

  // A result that is NaN though no operand is, or infinite though all are finite; with `exact_nonzero`, the condition under
  // which the real result is not zero, also one too small to be kept.
  ExprPtr not_finite(const ExprPtr& e, const ExprPtr& exact_nonzero, const char* what) {
    ExprPtr no_nan, all_finite;
    for (const ExprPtr& arg : e->args) {
      if (arg->op == Op::int_literal || is_integer_expr(program_, *arg)) continue;
      const ExprPtr f = is_finite(value(arg)), n = negate(is_nan(value(arg)));
      all_finite = all_finite ? both(all_finite, f) : f;
      no_nan = no_nan ? both(no_nan, n) : n;
    }
    if (!all_finite) return nullptr;
    const ExprPtr small = !exact_nonzero ? make_int(0)
                          : choose(both(both(tiny(e), exact_nonzero), all_finite), name(kUnderflow, e, " does not underflow"), make_int(0));
    return choose(is_finite(value(e)), small, choose(choose(is_nan(value(e)), no_nan, all_finite), name(kOverflow, e, what), make_int(0)));
  }

  const Program& program_;
  MarkedProgram out_;
  std::map<std::string, std::string, std::less<>> marks_;
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> identifiers_;
  Dtype compute_ = Dtype::f64;
  std::string place_;
  int equation_ = 0;
};

// An expression's form without names and subscripts.
std::string form_of(const Program& program, const Expr& e) {
  if (is_integer_expr(program, e)) return "n";
  if (e.op == Op::read) return "x";
  std::string text = e.op == Op::float_literal ? fmt::format("{}", e.float_value) : std::string(op_name(e.op)) + "(";
  if (e.op == Op::float_literal) return text;
  std::vector<std::string> parts;
  for (const ExprPtr& arg : e.args) parts.push_back(form_of(program, *arg));
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i ? "," : "") + parts[i];
  return text + ")";
}
}  // namespace

Result<MarkedProgram> mark_program(const Program& program) { return Marker(program).run(); }

std::vector<std::string> partial_operations(const Program& program) {
  std::set<std::string> found;
  for (const EquationRef& ref : collect_equations(program.body())) {
    visit_expr(*ref.equation->rhs, [&](const Expr& e) {
      const bool partial = e.op == Op::div || e.op == Op::pow || e.op == Op::exp || e.op == Op::log || e.op == Op::sqrt || e.op == Op::rsqrt;
      const bool literal = e.op == Op::div && (e.args[1]->op == Op::int_literal || e.args[1]->op == Op::float_literal);
      if (partial && !literal && !is_integer_expr(program, e)) found.insert(form_of(program, e));
      return e.op != Op::read;
    });
  }
  return {found.begin(), found.end()};
}

}  // namespace cairn
