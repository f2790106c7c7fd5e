#include "strategy/math/factor_terms.h"

#include <algorithm>

#include "analysis/algebra/chain.h"
#include "ir/text.h"

namespace cairn {
namespace {

using algebra::ChainKind;
using algebra::Leaf;

bool is_zero(const Expr& e) { return algebra::is_neutral(ChainKind::sum, e); }
bool is_one(const Expr& e) { return algebra::is_neutral(ChainKind::product, e); }

}  // namespace

std::string factor_text(const Factor& factor) {
  return factor.divides ? print_expr(*make_expr(Op::div, {make_int(1), factor.expr})) : print_expr(*factor.expr);
}

Factor parse_factor(const ExprPtr& expr) {
  if (expr->op == Op::div && is_one(*expr->args[0])) return {expr->args[1], true};
  return {expr, false};
}

ExprPtr cofactor_of(const ExprPtr& e, const Factor& factor) {
  if (!factor.divides && algebra::same_value(e, factor.expr)) return make_int(1);
  if (is_zero(*e)) return e;
  if (e->op == Op::select) {
    const ExprPtr a = cofactor_of(e->args[1], factor), b = a ? cofactor_of(e->args[2], factor) : nullptr;
    return b ? make_expr(Op::select, {e->args[0], a, b}, e->pos) : nullptr;
  }
  const ChainKind kind = algebra::chain_kind(*e);
  if (kind == ChainKind::none) return nullptr;
  const std::vector<Leaf> leaves = algebra::leaves_of(e, kind);
  if (kind == ChainKind::sum) {
    ExprPtr out = e;
    for (const Leaf& leaf : leaves) {
      const ExprPtr now = cofactor_of(leaf.expr, factor);
      if (!now) return nullptr;
      out = algebra::replace_node(out, leaf.path, now);
    }
    return out;
  }
  if (algebra::chain_kind(*factor.expr) == ChainKind::product) {   // one after the other
    ExprPtr out = e;
    for (const Leaf& part : algebra::operands_of(factor.expr, ChainKind::product)) {
      out = out ? cofactor_of(out, {part.expr, part.inverse != factor.divides}) : nullptr;
    }
    return out;
  }
  for (const Leaf& leaf : leaves) {
    if (leaf.inverse != factor.divides || !algebra::same_value(leaf.expr, factor.expr)) continue;
    return algebra::edit_chain(e, kind, {leaf.path}, 0, make_int(1), false);
  }
  for (const Leaf& leaf : leaves) {
    if (leaf.inverse || algebra::chain_kind(*leaf.expr) == ChainKind::product) continue;
    if (const ExprPtr now = cofactor_of(leaf.expr, factor)) return algebra::replace_node(e, leaf.path, now);
  }
  return nullptr;
}

std::vector<Factor> list_factors(const ExprPtr& e) {
  std::vector<Factor> out;
  if (is_zero(*e)) return out;
  if (e->op == Op::select) return list_factors(is_zero(*e->args[1]) ? e->args[2] : e->args[1]);
  if (algebra::chain_kind(*e) == ChainKind::sum) return list_factors(algebra::operands_of(e, ChainKind::sum)[0].expr);
  const auto add = [&](const ExprPtr& expr, bool divides) {
    const bool known = std::any_of(out.begin(), out.end(), [&](const Factor& f) { return f.divides == divides && algebra::same_value(f.expr, expr); });
    if (!known && !is_one(*expr)) out.push_back({expr, divides});
  };
  for (const Leaf& leaf : algebra::operands_of(e, ChainKind::product)) {
    const bool opens = !leaf.inverse && (leaf.expr->op == Op::select || algebra::chain_kind(*leaf.expr) == ChainKind::sum);
    add(leaf.expr, leaf.inverse);
    if (!opens) continue;
    for (const Factor& inner : list_factors(leaf.expr)) add(inner.expr, inner.divides);
  }
  return out;
}

}  // namespace cairn
