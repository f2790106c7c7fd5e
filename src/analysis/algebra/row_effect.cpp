#include "analysis/algebra/row_effect.h"

#include <algorithm>

#include "analysis/algebra/leaf_types.h"

namespace cairn::algebra {
namespace {
bool find_node(const Expr& e, const Expr* node, ExprPath* path) {
  if (&e == node) return true;
  for (std::uint32_t k = 0; k < e.args.size(); ++k) {
    path->push_back(k);
    if (find_node(*e.args[k], node, path)) return true;
    path->pop_back();
  }
  return false;
}

}  // namespace

Accumulator accumulator_of(const Stmt& equation) {
  Accumulator out;
  if (const std::optional<SelfUpdate> update = match_self_update(equation)) {
    out.is_update = find_node(*equation.rhs, update->self, &out.path);
    out.op = update->op;
  }
  return out;
}

bool reaches_accumulator(const Match& match, const Accumulator& accumulator) {
  const ExprPath extent = extent_of(match);
  return accumulator.is_update && extent.size() <= accumulator.path.size() && std::equal(extent.begin(), extent.end(), accumulator.path.begin());
}

bool keeps_types(const Program& program, const ExprPtr& before, const ExprPtr& after, const ExprPath& path) {
  const Expr* a = before.get();
  const Expr* b = after.get();
  for (const std::uint32_t k : path) {
    if (!same_leaf_types(program, *a, *b)) return false;
    if (k >= a->args.size() || k >= b->args.size() || a->op != b->op) return true;
    a = a->args[k].get();
    b = b->args[k].get();
  }
  return true;
}

bool is_exact_at(const Program& program, const Stmt& equation, const Rule& rule, const Match& match) {
  const Tensor* target = program.find(equation.tensor);
  if (match.integral && (target == nullptr || is_integer(target->dtype) || rule.identity->exact)) return true;
  if (!rule.identity->exact || !match.whole) return false;
  if (match.consumed.size() != 2) {
    // The square of a product is joined to one product, which rounds elsewhere.
    return match.consumed.empty() && chain_kind(*match.bindings.at(0).second) != ChainKind::product;
  }
  const ExprPtr& chain = node_at(equation.rhs, match.position);
  return commuted_hash(*node_at(chain, match.consumed[0])) == commuted_hash(*node_at(chain, match.consumed[1]));
}

}  // namespace cairn::algebra
