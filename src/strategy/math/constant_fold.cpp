// constant_fold: literal arithmetic, neutral operands and decided conditions of an equation are folded.
//
//   D=if_then_else(i<8,A*(2*3)*1,0)  =>  D=A*6        (where i<8 always holds)
//
// Folded, bottom up:
// - + - * // % max min and comparisons of integer literals that do not overflow; + - * / of literals where f32 holds operands
//   and result and nothing is rounded, as the bits are those of every type around them; others stay;
// - x*1, x/1, x-0, -(-x), max(x,x), max(x,-inf), min(x,inf); x+0 only where x cannot be -0, x*0 only of integers;
// - if_then_else, & | ! of integer conditions that the loops' ranges and the tests above decide.
// Legal when
// (1) something of the right side folds to the same bits,
// (2) no equation becomes or stops being a self-update.
// What a conversion or a comparison computes in stays; a fold that would change it is left out. Exact.
#include <fmt/core.h>

#include <cmath>

#include "analysis/algebra/leaf_types.h"
#include "analysis/algebra/prove.h"
#include "ir/self_update.h"
#include "ir/numbers.h"
#include "ir/typing.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

bool is_number(const Expr& e) { return e.op == Op::int_literal || e.op == Op::float_literal; }
double number_of(const Expr& e) { return e.op == Op::int_literal ? static_cast<double>(e.int_value) : e.float_value; }
bool is_value(const Expr& e, double v) { return is_number(e) && number_of(e) == v && !(v == 0 && std::signbit(number_of(e))); }
bool is_condition(Op op) { return is_comparison(op) || op == Op::logical_and || op == Op::logical_or || op == Op::logical_not; }

ExprPtr fold_integers(Op op, std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  switch (op) {
    case Op::add: return __builtin_add_overflow(a, b, &r) ? nullptr : make_int(r);
    case Op::sub: return __builtin_sub_overflow(a, b, &r) ? nullptr : make_int(r);
    case Op::mul: return __builtin_mul_overflow(a, b, &r) ? nullptr : make_int(r);
    case Op::floor_div: return b == 0 || b == -1 ? nullptr : make_int(floor_div_int(a, b));
    case Op::mod: return b == 0 ? nullptr : make_int(mod_int(a, b));
    case Op::max: return make_int(std::max(a, b));
    case Op::min: return make_int(std::min(a, b));
    default: return nullptr;
  }
}

bool compare(Op op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Op::lt: return a < b;
    case Op::le: return a <= b;
    case Op::gt: return a > b;
    case Op::ge: return a >= b;
    case Op::eq: return a == b;
    default: return a != b;
  }
}

// Arithmetic with a float literal, or a quotient of integers, where nothing is rounded.
ExprPtr fold_floats(const Expr& e) {
  const char sign = e.op == Op::add ? '+' : e.op == Op::sub ? '-' : e.op == Op::mul ? '*' : e.op == Op::div ? '/' : 0;
  double r = 0;
  if (sign == 0 || !is_number(*e.args[0]) || !is_number(*e.args[1])) return nullptr;
  return is_exact_arithmetic(sign, number_of(*e.args[0]), number_of(*e.args[1]), &r) ? make_float(r) : nullptr;
}

// Folds the right side of one equation.
class Folder {
 public:
  Folder(const Program& program, const StmtPath& path) : program_(program), prover_(program), path_(path) {}

  ExprPtr fold(const ExprPtr& e) {
    at_ = {};
    return walk(e);
  }

 private:
  enum class Decided : std::uint8_t { no, yes, open };

  ExprPtr walk(const ExprPtr& e) {
    if (e->args.empty() || e->op == Op::read) return e;
    std::vector<ExprPtr> args;
    for (std::uint32_t k = 0; k < e->args.size(); ++k) {
      at_.push_back(k);
      args.push_back(walk(e->args[k]));
      at_.pop_back();
    }
    ExprPtr now = args == e->args ? e : rebuild(*e, args);
    if (now != e && !algebra::same_leaf_types(program_, *e, *now)) now = e;
    if (e->op == Op::select) return choose(e, now);
    if (is_condition(e->op)) return logic(now);
    const ExprPtr folded = one(*now);
    return folded ? folded : now;
  }

  static ExprPtr rebuild(const Expr& e, const std::vector<ExprPtr>& args) {
    return e.op == Op::cast ? make_cast(e.dtype, args[0], e.pos) : make_expr(e.op, args, e.pos);
  }

  bool is_int(const Expr& e) const { return is_integer_expr(program_, e); }

  // An arithmetic node whose operands are folded; null to keep it.
  ExprPtr one(const Expr& e) {
    if (e.args.size() == 2) return pair(e);
    const ExprPtr& x = e.args[0];
    return e.op == Op::neg && x->op == Op::neg ? x->args[0] : nullptr;
  }

  ExprPtr pair(const Expr& e) {
    const ExprPtr &a = e.args[0], &b = e.args[1];
    if (a->op == Op::int_literal && b->op == Op::int_literal) {
      if (const ExprPtr r = fold_integers(e.op, a->int_value, b->int_value)) return r;
      if (e.op != Op::div) return nullptr;
    }
    if (const ExprPtr r = fold_floats(e)) return r;
    // A float literal makes an integer operand a float: it stays.
    const auto drops = [this](const ExprPtr& literal, const ExprPtr& other) { return literal->op == Op::int_literal || !is_int(*other); };
    switch (e.op) {
      case Op::mul:
        if (is_value(*b, 1) && drops(b, a)) return a;
        if (is_value(*a, 1) && drops(a, b)) return b;
        if ((is_value(*a, 0) || is_value(*b, 0)) && is_int(e)) return make_int(0);
        return nullptr;
      case Op::div: return is_value(*b, 1) && !is_int(*a) ? a : nullptr;
      case Op::sub: return is_value(*b, 0) && drops(b, a) ? a : nullptr;
      case Op::add:
        if (is_value(*b, 0) && drops(b, a) && never_negative_zero(a)) return a;
        return is_value(*a, 0) && drops(a, b) && never_negative_zero(b) ? b : nullptr;
      case Op::max: case Op::min: {
        if (same_expr(a, b)) return a;
        const double neutral = e.op == Op::max ? -__builtin_inf() : __builtin_inf();
        if (is_value(*b, neutral) && !is_int(*a)) return a;
        return is_value(*a, neutral) && !is_int(*b) ? b : nullptr;
      }
      default: return nullptr;
    }
  }

  // Whether x+0 is x to the sign of zero: integers, what is not 0, and results that are +0 when they are 0.
  bool never_negative_zero(const ExprPtr& e) {
    if (is_int(*e) || e->op == Op::abs || e->op == Op::exp) return true;
    if (e->op == Op::add) return never_negative_zero(e->args[0]) || never_negative_zero(e->args[1]);
    if (e->op == Op::mul) return same_expr(e->args[0], e->args[1]);
    if (e->op == Op::pow) return e->args[1]->op == Op::int_literal && e->args[1]->int_value == 2;
    return is_number(*e) && !std::signbit(number_of(*e));
  }

  // A condition that holds in all instances, or in none. Only conditions of integers: a NaN decides orders otherwise.
  Decided decide(const ExprPtr& cond) {
    if (cond->op == Op::int_literal) return cond->int_value != 0 ? Decided::yes : Decided::no;
    if (!is_comparison(cond->op)) return Decided::open;
    const Expr &a = *cond->args[0], &b = *cond->args[1];
    if (a.op == Op::int_literal && b.op == Op::int_literal) return compare(cond->op, a.int_value, b.int_value) ? Decided::yes : Decided::no;
    if (!is_int(a) || !is_int(b)) return Decided::open;
    const algebra::Truth truth = prover_.prove(cond, algebra::place_of(program_, path_, at_));
    return truth == algebra::Truth::yes ? Decided::yes : truth == algebra::Truth::no ? Decided::no : Decided::open;
  }

  ExprPtr logic(const ExprPtr& e) {
    const auto literal = [](bool value) { return make_expr(Op::eq, {make_int(value ? 0 : 1), make_int(0)}); };
    if (is_comparison(e->op)) {
      const Decided d = decide(e);
      return d == Decided::open ? e : literal(d == Decided::yes);
    }
    const Decided a = decide(e->args[0]);
    if (e->op == Op::logical_not) return a == Decided::open ? e : literal(a == Decided::no);
    const Decided b = decide(e->args[1]), absorbs = e->op == Op::logical_and ? Decided::no : Decided::yes;
    if (a == absorbs || b == absorbs) return literal(absorbs == Decided::yes);
    if (a != Decided::open) return e->args[1];
    return b != Decided::open ? e->args[0] : e;
  }

  ExprPtr choose(const ExprPtr& old, const ExprPtr& now) {
    const Decided d = decide(now->args[0]);
    if (d == Decided::open) return now;
    const ExprPtr& taken = now->args[d == Decided::yes ? 1 : 2];
    return is_int(*taken) == is_int(*old) ? taken : now;
  }

  const Program& program_;
  algebra::Prover prover_;
  const StmtPath& path_;
  algebra::ExprPath at_;
};

Result<ExprPtr> fold_equation(const Program& program, const StmtPath& path) {
  const Stmt& equation = *stmt_at(program.body(), path);
  ExprPtr folded = Folder(program, path).fold(equation.rhs);
  if (same_expr(folded, equation.rhs)) {
    return refuse(program, equation.pos, 1, fmt::format("nothing in the equation of {} folds to the same bits", equation.tensor));
  }
  const StmtPtr now = make_equation(equation.tensor, equation.subscripts, folded, equation.pos);
  const std::optional<SelfUpdate> was = match_self_update(equation), is = match_self_update(*now);
  if (was.has_value() != is.has_value() || (is && is->op != was->op)) {
    return refuse(program, equation.pos, 2, fmt::format("folding would change whether the update of {} is a self-update", equation.tensor));
  }
  return folded;
}

// Whether anything could fold: a literal operand, nested negations or a condition.
bool may_fold(const Expr& e) {
  if (e.op == Op::select || is_condition(e.op) || e.op == Op::neg || e.op == Op::max || e.op == Op::min || e.op == Op::cast) return true;
  if (e.op == Op::read) return false;
  for (const ExprPtr& arg : e.args) {
    if (is_number(*arg) || may_fold(*arg)) return true;
  }
  return false;
}

std::vector<Args> list_sites(const Program& program, const Target&) {
  std::vector<Args> out;
  std::size_t number = 0;
  for (const EquationRef& ref : collect_equations(program.body())) {
    std::string address = fmt::format("s{}", number++);
    if (may_fold(*ref.equation->rhs) && fold_equation(program, ref.path)) out.push_back(Args{{"equation", std::move(address)}});
  }
  return out;
}

Result<Step> apply(const Program& program, const Target&, const Args& args) {
  CAIRN_TRY(const StmtPath path, find_equation(program.body(), args.get("equation")));
  CAIRN_TRY(const ExprPtr folded, fold_equation(program, path));
  const Stmt& equation = *stmt_at(program.body(), path);
  Step step;
  step.after = with_replaced(program, path, Body{make_equation(equation.tensor, equation.subscripts, folded, equation.pos)});
  step.same_instances = false;
  step.proved = conditions_up_to(2);
  return step;
}

}  // namespace

extern const Strategy strategy_constant_fold{
    "constant_fold", Level::math, Direction::algebra, Exactness::exact,
    "literal arithmetic, neutral operands and decided conditions of an equation are folded",
    {{"equation", ArgType::equation, "whose right side is folded", {}, ""}},
    list_sites, apply};

}  // namespace cairn
