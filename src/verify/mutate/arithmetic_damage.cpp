// Wrong operators, operands, terms and functions.
#include <initializer_list>
#include <utility>

#include "verify/mutate/sites.h"

namespace cairn::mutate {

namespace {
// Exchanges operators in the given places, by a table of pairs.
void exchange_ops(const Program& program, Damages& out, std::initializer_list<std::pair<Op, Op>> pairs, std::initializer_list<Place> places) {
  damage_exprs(program, out, [&](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    bool here = false;
    for (const Place p : places) here = here || p == site.place;
    if (!here) return;
    for (const auto& [from, to] : pairs) {
      if (e->op == from) proposals.push_back(with_op(e, to));
    }
  });
}
// Proposes for nodes of an operator outside subscripts.
template <class Fn>
void each_value(const Program& program, Damages& out, std::initializer_list<Op> ops, const Fn& fn) {
  damage_exprs(program, out, [&](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (site.place == Place::subscript) return;
    for (const Op op : ops) {
      if (e->op == op) fn(e, proposals);
    }
  });
}

void damage_sum(const Program& p, Damages& out) { exchange_ops(p, out, {{Op::add, Op::sub}}, {Place::value}); }
void damage_difference(const Program& p, Damages& out) { exchange_ops(p, out, {{Op::sub, Op::add}}, {Place::value}); }
void damage_product(const Program& p, Damages& out) { exchange_ops(p, out, {{Op::mul, Op::add}, {Op::mul, Op::sub}}, {Place::value}); }
void damage_quotient(const Program& p, Damages& out) { exchange_ops(p, out, {{Op::div, Op::mul}, {Op::mul, Op::div}}, {Place::value}); }
void damage_extreme(const Program& p, Damages& out) {
  exchange_ops(p, out, {{Op::max, Op::min}, {Op::min, Op::max}}, {Place::value, Place::condition});
}
void damage_extreme_to_sum(const Program& p, Damages& out) {
  exchange_ops(p, out, {{Op::max, Op::add}, {Op::min, Op::add}, {Op::add, Op::max}}, {Place::value});
}
void damage_integer_division(const Program& p, Damages& out) {
  exchange_ops(p, out, {{Op::floor_div, Op::mod}, {Op::mod, Op::floor_div}}, {Place::value, Place::condition, Place::subscript});
}
void damage_relation_boundary(const Program& p, Damages& out) {
  exchange_ops(p, out, {{Op::lt, Op::le}, {Op::le, Op::lt}, {Op::gt, Op::ge}, {Op::ge, Op::gt}}, {Place::value, Place::condition});
}
void damage_relation_direction(const Program& p, Damages& out) {
  exchange_ops(p, out, {{Op::lt, Op::gt}, {Op::gt, Op::lt}, {Op::le, Op::ge}, {Op::ge, Op::le}, {Op::eq, Op::ne}, {Op::ne, Op::eq}},
               {Place::value, Place::condition});
}
void damage_connective(const Program& p, Damages& out) {
  exchange_ops(p, out, {{Op::logical_and, Op::logical_or}, {Op::logical_or, Op::logical_and}}, {Place::value, Place::condition});
}

void swap_operands(const Program& program, Damages& out) {
  damage_exprs(program, out, [](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    const bool value = site.place != Place::subscript && (e->op == Op::sub || e->op == Op::div || e->op == Op::pow);
    if (value || e->op == Op::floor_div || e->op == Op::mod) proposals.push_back(make_expr(e->op, {e->args[1], e->args[0]}, e->pos));
  });
}
void drop_term(const Program& program, Damages& out) {
  each_value(program, out, {Op::add, Op::sub}, [](const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    proposals.push_back(e->args[0]);
    proposals.push_back(e->op == Op::sub ? make_expr(Op::neg, {e->args[1]}) : e->args[1]);
  });
}
void double_term(const Program& program, Damages& out) {
  each_value(program, out, {Op::add, Op::sub}, [](const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    proposals.push_back(make_expr(e->op, {e, e->args[1]}));
    if (e->op == Op::add) proposals.push_back(make_expr(Op::add, {make_expr(Op::add, {e->args[0], e->args[1]}), e->args[0]}));
  });
}
void drop_factor(const Program& program, Damages& out) {
  each_value(program, out, {Op::mul, Op::div}, [](const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    proposals.push_back(e->args[0]);
    if (e->op == Op::mul) proposals.push_back(e->args[1]);
  });
}
void double_factor(const Program& program, Damages& out) {
  each_value(program, out, {Op::mul, Op::div}, [](const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    proposals.push_back(make_expr(e->op, {e, e->args[1]}));
  });
}
void drop_argument(const Program& program, Damages& out) {
  each_value(program, out, {Op::max, Op::min}, [](const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    proposals.push_back(e->args[0]);
    proposals.push_back(e->args[1]);
  });
}
void regroup(const Program& program, Damages& out) {  // a-(b-c) for (a-b)-c, a/(b/c) for (a/b)/c, (a+b)*c for a+b*c
  each_value(program, out, {Op::sub, Op::div, Op::add}, [](const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    const ExprPtr& a = e->args[0];
    const ExprPtr& b = e->args[1];
    if (e->op != Op::add && a->op == e->op) proposals.push_back(make_expr(e->op, {a->args[0], make_expr(e->op, {a->args[1], b})}));
    if (e->op == Op::add && b->op == Op::mul) proposals.push_back(make_expr(Op::mul, {make_expr(Op::add, {a, b->args[0]}), b->args[1]}));
  });
}

bool is_function(Op op) {
  switch (op) {
    case Op::exp: case Op::log: case Op::sqrt: case Op::rsqrt: case Op::abs: case Op::erf: case Op::tanh: case Op::sin: case Op::cos:
    case Op::floor: case Op::ceil: case Op::round: case Op::sign: return true;
    default: return false;
  }
}
void drop_function(const Program& program, Damages& out) {
  damage_exprs(program, out, [](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (site.place != Place::subscript && is_function(e->op)) proposals.push_back(e->args[0]);
  });
}
void exchange_function(const Program& p, Damages& out) {
  exchange_ops(p, out,
               {{Op::sqrt, Op::abs}, {Op::sqrt, Op::rsqrt}, {Op::rsqrt, Op::sqrt}, {Op::abs, Op::sqrt}, {Op::exp, Op::tanh}, {Op::tanh, Op::erf},
                {Op::erf, Op::tanh}, {Op::sin, Op::cos}, {Op::cos, Op::sin}, {Op::floor, Op::ceil}, {Op::ceil, Op::floor}, {Op::round, Op::floor},
                {Op::log, Op::exp}},
               {Place::value, Place::condition});
}
void drop_negation(const Program& program, Damages& out) {
  each_value(program, out, {Op::neg, Op::logical_not}, [](const ExprPtr& e, std::vector<ExprPtr>& proposals) { proposals.push_back(e->args[0]); });
}
void change_power(const Program& program, Damages& out) {
  each_value(program, out, {Op::pow}, [](const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    proposals.push_back(e->args[0]);
    proposals.push_back(make_expr(Op::mul, {e, e->args[0]}));
  });
}
void negate_exponent(const Program& program, Damages& out) {
  each_value(program, out, {Op::exp, Op::tanh, Op::erf}, [](const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    proposals.push_back(make_expr(e->op, {make_expr(Op::neg, {e->args[0]})}));
  });
}
void drop_cast(const Program& program, Damages& out) {
  each_value(program, out, {Op::cast}, [](const ExprPtr& e, std::vector<ExprPtr>& proposals) { proposals.push_back(e->args[0]); });
}
void swap_branches(const Program& program, Damages& out) {
  each_value(program, out, {Op::select}, [](const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    proposals.push_back(make_expr(Op::select, {e->args[0], e->args[2], e->args[1]}));
  });
}
}  // namespace

void append_arithmetic_damage(std::vector<DamageOperator>& table) {
  const auto value = DamageKind::value;
  table.push_back({"sum_to_difference", value, "- for +", damage_sum});
  table.push_back({"difference_to_sum", value, "+ for -", damage_difference});
  table.push_back({"product_to_sum", value, "+ or - for *", damage_product});
  table.push_back({"quotient_exchanged", value, "* for /, / for *", damage_quotient});
  table.push_back({"extreme_exchanged", value, "max for min, min for max", damage_extreme});
  table.push_back({"extreme_to_sum", value, "+ for max or min, max for +", damage_extreme_to_sum});
  table.push_back({"integer_division_exchanged", value, "% for //, // for %", damage_integer_division});
  table.push_back({"relation_boundary", value, "< for <=, <= for <, also > and >=", damage_relation_boundary});
  table.push_back({"relation_direction", value, "> for <, != for ==", damage_relation_direction});
  table.push_back({"connective_exchanged", value, "| for &, & for |", damage_connective});
  table.push_back({"operands_swapped", value, "swapped operands of - / ** // %", swap_operands});
  table.push_back({"term_dropped", value, "one term of a sum is missing", drop_term});
  table.push_back({"term_doubled", value, "one term of a sum counts twice", double_term});
  table.push_back({"factor_dropped", value, "one factor or divisor is missing", drop_factor});
  table.push_back({"factor_doubled", value, "one factor or divisor counts twice", double_factor});
  table.push_back({"argument_dropped", value, "one argument of max or min is missing", drop_argument});
  table.push_back({"regrouped", value, "brackets in another place: a-(b-c), a/(b/c), (a+b)*c", regroup});
  table.push_back({"function_dropped", value, "the argument of exp, log, sqrt, abs ... in place of the function's value", drop_function});
  table.push_back({"function_exchanged", value, "abs for sqrt, erf for tanh, cos for sin, floor for ceil ...", exchange_function});
  table.push_back({"negation_dropped", value, "a missing minus sign or !", drop_negation});
  table.push_back({"argument_negated", value, "the argument of exp, tanh or erf has the other sign", negate_exponent});
  table.push_back({"power_changed", value, "x or x**(n+1) for x**n", change_power});
  table.push_back({"cast_dropped", value, "a conversion is missing", drop_cast});
  table.push_back({"branches_swapped", value, "the branches of if_then_else change places", swap_branches});
}

}  // namespace cairn::mutate
