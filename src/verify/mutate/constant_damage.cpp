// Wrong constants: in the last place, in sign, in size; wrong neutral elements.
#include <cmath>
#include <limits>

#include "ir/types.h"
#include "verify/mutate/sites.h"

namespace cairn::mutate {

namespace {
// Calls for literals that are float literals, or integers in a value.
template <class Fn>
void each_number(const Program& program, Damages& out, const Fn& fn) {
  damage_exprs(program, out, [&](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (site.place != Place::subscript && e->op == Op::float_literal && std::isfinite(e->float_value)) fn(e->float_value, site, proposals);
  });
}
template <class Fn>
void each_integer(const Program& program, Damages& out, const Fn& fn) {
  damage_exprs(program, out, [&](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (e->op == Op::int_literal) fn(e->int_value, site, proposals);
  });
}
ExprPtr literal_of(double x) { return x < 0 ? make_expr(Op::neg, {make_float(-x)}) : make_float(x); }

void change_last_place(const Program& program, Damages& out) {
  each_number(program, out, [&](double x, const ExprSite& site, std::vector<ExprPtr>& proposals) {
    const Tensor* target = site.stmt->is_equation() ? program.find(site.stmt->tensor) : nullptr;
    if (target != nullptr && compute_type(target->dtype) == ComputeType::f32) {
      const auto narrow = static_cast<float>(x);
      proposals.push_back(literal_of(static_cast<double>(std::nextafter(narrow, std::numeric_limits<float>::infinity()))));
      proposals.push_back(literal_of(static_cast<double>(std::nextafter(narrow, -std::numeric_limits<float>::infinity()))));
    } else {
      proposals.push_back(literal_of(x * (1 + 0x1p-40)));
    }
  });
}
void change_digit(const Program& program, Damages& out) {
  each_number(program, out, [](double x, const ExprSite&, std::vector<ExprPtr>& proposals) {
    proposals.push_back(literal_of(x * 1.01));
    proposals.push_back(literal_of(x * 10));
    proposals.push_back(literal_of(x * 0.999));
  });
}
void change_sign(const Program& program, Damages& out) {
  damage_exprs(program, out, [](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (site.place == Place::subscript) return;
    if (e->op == Op::float_literal && e->float_value != 0 && !std::isnan(e->float_value)) proposals.push_back(make_float(-e->float_value));
    if (e->op == Op::int_literal && e->int_value != 0) proposals.push_back(make_int(-e->int_value));
  });
}
void change_integer(const Program& program, Damages& out) {
  each_integer(program, out, [](std::int64_t n, const ExprSite& site, std::vector<ExprPtr>& proposals) {
    if (site.place != Place::value) return;
    proposals.push_back(make_int(n + 1));
    proposals.push_back(make_int(n - 1));
    if (n != 0) proposals.push_back(make_int(2 * n));
  });
}
void change_bound(const Program& program, Damages& out, std::int64_t by) {
  each_integer(program, out, [by](std::int64_t n, const ExprSite& site, std::vector<ExprPtr>& proposals) {
    if (site.place == Place::condition) proposals.push_back(make_int(n + by));
  });
}
void raise_bound(const Program& program, Damages& out) { change_bound(program, out, 1); }
void lower_bound(const Program& program, Damages& out) { change_bound(program, out, -1); }
void change_stride(const Program& program, Damages& out) {
  damage_exprs(program, out, [](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (site.place == Place::value || (e->op != Op::mul && e->op != Op::floor_div && e->op != Op::mod)) return;
    for (std::size_t i = 0; i < 2; ++i) {
      if (e->args[i]->op != Op::int_literal || (i == 0 && e->op != Op::mul)) continue;
      const std::int64_t n = e->args[i]->int_value;
      for (const std::int64_t m : {n - 1, n + 1, n / 2, n * 2}) {
        if (m > 0 && m != n) proposals.push_back(with_arg(e, i, make_int(m)));
      }
    }
  });
}
// Equations whose right side is a lone constant: starts.
void change_neutral(const Program& program, Damages& out) {
  damage_exprs(program, out, [](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (!site.stmt->is_equation() || !site.root || site.place != Place::value) return;
    const bool infinite = e->op == Op::float_literal && std::isinf(e->float_value);
    if (infinite) proposals.push_back(make_int(0));
    if (infinite) proposals.push_back(make_float(-1e30));
    if (e->op == Op::int_literal || (e->op == Op::float_literal && !infinite)) {
      const double x = e->op == Op::int_literal ? static_cast<double>(e->int_value) : e->float_value;
      proposals.push_back(make_int(x == 0 ? 1 : 0));
    }
  });
}
void soften_infinity(const Program& program, Damages& out) {
  damage_exprs(program, out, [](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (site.root || site.place == Place::subscript || e->op != Op::float_literal || !std::isinf(e->float_value)) return;
    proposals.push_back(make_int(0));
    proposals.push_back(make_float(e->float_value > 0 ? 1000 : -1000));
  });
}
void fill_otherwise(const Program& program, Damages& out) {  // the padding of if_then_else(c,a,0) is another number
  damage_exprs(program, out, [](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (site.place == Place::subscript || e->op != Op::select) return;
    if (e->args[2]->op == Op::int_literal) proposals.push_back(with_arg(e, 2, make_int(e->args[2]->int_value == 0 ? 1 : 0)));
  });
}
}  // namespace

void append_constant_damage(std::vector<DamageOperator>& table) {
  const auto value = DamageKind::value;
  table.push_back({"constant_last_place", value, "a constant differs in the last place of the type it is used in", change_last_place});
  table.push_back({"constant_digit", value, "a constant is 1 % too large, ten times too large, or a thousandth too small", change_digit});
  table.push_back({"constant_sign", value, "a constant has the other sign", change_sign});
  table.push_back({"integer_changed", value, "an integer in a value is one off or doubled", change_integer});
  table.push_back({"bound_raised", value, "an integer of a condition is one too large", raise_bound});
  table.push_back({"bound_lowered", value, "an integer of a condition is one too small", lower_bound});
  table.push_back({"stride_changed", value, "o*b+i, q//b or q%b with another b: a stale index after a split", change_stride});
  table.push_back({"neutral_changed", value, "a start is not the neutral element", change_neutral});
  table.push_back({"infinity_softened", value, "a mask's infinity is a finite number", soften_infinity});
  table.push_back({"padding_changed", value, "the other branch of a guard is not what it was", fill_otherwise});
}

}  // namespace cairn::mutate
