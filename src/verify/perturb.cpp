#include "verify/perturb.h"

#include <cmath>

#include "base/hash.h"
#include "ir/numbers.h"
#include "ir/self_update.h"
#include "ir/typing.h"

namespace cairn {

namespace {
class Perturber {
 public:
  Perturber(const Program& program, std::uint64_t seed, bool comparisons) : program_(program), seed_(seed), comparisons_(comparisons) {}

  Body walk(const Body& body) {
    Body out;
    for (const StmtPtr& s : body) {
      if (!s->is_equation()) {
        if (s->is_loop()) vars_.push_back(s->var);
        Body inner = walk(s->body);
        unit_ = kUnit;
        out.push_back(s->is_test() && comparisons_ ? make_test(condition(s->cond), std::move(inner), s->pos) : with_body(*s, std::move(inner)));
        if (s->is_loop()) vars_.pop_back();
        continue;
      }
      const Tensor* t = program_.find(s->tensor);
      if (t == nullptr || !is_float(t->dtype)) {
        out.push_back(s);
        continue;
      }
      unit_ = std::ldexp(1.0, compute_type(t->dtype) == ComputeType::f64 ? -52 : -23);
      self_ = match_self_update(*s) ? s->tensor : std::string();
      out.push_back(make_equation(s->tensor, s->subscripts, value(s->rhs), s->pos));
    }
    return out;
  }

 private:
  static constexpr double kUnit = 0x1p-23;
  // With its operands perturbed.
  ExprPtr condition(const ExprPtr& e) {
    const bool floats = is_comparison(e->op) && !(is_integer_expr(program_, *e->args[0]) && is_integer_expr(program_, *e->args[1]));
    if (!floats && e->op != Op::logical_and && e->op != Op::logical_or && e->op != Op::logical_not) return e;
    std::vector<ExprPtr> args;
    for (const ExprPtr& arg : e->args) args.push_back(floats ? value(arg) : condition(arg));
    return make_expr(e->op, std::move(args), e->pos);
  }
  static bool rounds(Op op) {
    switch (op) {
      case Op::add: case Op::sub: case Op::mul: case Op::div: case Op::pow: case Op::exp: case Op::log: case Op::sqrt: case Op::rsqrt:
      case Op::erf: case Op::tanh: case Op::sin: case Op::cos: return true;
      default: return false;
    }
  }
  ExprPtr value(const ExprPtr& e) {
    if (e->args.empty() || e->op == Op::read || is_comparison(e->op)) return e;
    if (is_integer_expr(program_, *e) && !(comparisons_ && e->op == Op::select)) return e;
    if (e->op == Op::logical_and || e->op == Op::logical_or || e->op == Op::logical_not || e->op == Op::isnan) return e;
    std::vector<ExprPtr> args;
    for (std::size_t i = 0; i < e->args.size(); ++i) {
      const bool decides = e->op == Op::select && i == 0;
      args.push_back(!decides ? value(e->args[i]) : comparisons_ ? condition(e->args[i]) : e->args[i]);
    }
    const ExprPtr same = e->op == Op::cast ? make_cast(e->dtype, args[0], e->pos) : make_expr(e->op, std::move(args), e->pos);
    // The chain of a self-update has to stay one; its own rounding is that of the store.
    if (!rounds(e->op) || (!self_.empty() && reads_tensor(*e, self_))) return same;
    return make_expr(Op::mul, {same, factor()});
  }
  ExprPtr factor() {
    const auto pick = [this](std::uint64_t salt) { return static_cast<std::int64_t>(combine64(combine64(seed_, operation_), salt) % 4093) + 1; };
    ExprPtr mix = make_int(pick(0));
    for (std::size_t i = 0; i < vars_.size(); ++i) {
      mix = make_expr(Op::add, {mix, make_expr(Op::mul, {make_var(vars_[i]), make_int(pick(i + 1) * 2 + 1)})});
    }
    ++operation_;
    // A square's middle digits: a parity of the sum itself would alternate and cancel in reductions.
    const ExprPtr bit = make_expr(Op::mod, {make_expr(Op::floor_div, {make_expr(Op::mul, {mix, mix}), make_int(64)}), make_int(2)});
    return make_expr(Op::select, {make_expr(Op::eq, {bit, make_int(0)}), make_float(1 + unit_), make_float(1 - unit_)});
  }

  const Program& program_;
  std::uint64_t seed_;
  std::uint64_t operation_ = 0;
  std::vector<std::string> vars_;
  std::string self_;
  bool comparisons_;
  double unit_ = 0;
};
}  // namespace

Program perturb_operations(const Program& program, std::uint64_t seed, bool comparisons) {
  Program out = program;
  out.set_body(Perturber(program, seed, comparisons).walk(program.body()));
  return out;
}

}  // namespace cairn
