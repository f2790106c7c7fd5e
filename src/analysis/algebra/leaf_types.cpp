#include "analysis/algebra/leaf_types.h"

#include <algorithm>

#include "ir/typing.h"

namespace cairn::algebra {
namespace {
int rank(Dtype dtype) { return compute_type(dtype) == ComputeType::f64 ? 2 : is_float(dtype) ? 1 : 0; }
}  // namespace

int widest_leaf(const Program& program, const Expr& e) {
  if (e.op == Op::read) {
    const Tensor* tensor = program.find(e.name);
    return tensor ? rank(tensor->dtype) : 0;
  }
  if (e.op == Op::cast) return rank(e.dtype);
  if (e.op == Op::logical_and || e.op == Op::logical_or || e.op == Op::logical_not || is_comparison(e.op)) return 0;
  int widest = 0;
  for (std::size_t k = e.op == Op::select ? 1 : 0; k < e.args.size(); ++k) widest = std::max(widest, widest_leaf(program, *e.args[k]));
  return widest;
}

bool sets_type(const Expr& e) { return e.op == Op::cast || is_comparison(e.op) || e.op == Op::isnan; }

bool same_leaf_types(const Program& program, const Expr& before, const Expr& after) {
  if (!sets_type(before)) return true;
  int was = 0, is = 0;
  for (const ExprPtr& arg : before.args) was = std::max(was, widest_leaf(program, *arg));
  for (const ExprPtr& arg : after.args) is = std::max(is, widest_leaf(program, *arg));
  if (was != is || before.args.size() != after.args.size()) return false;
  for (std::size_t k = 0; k < before.args.size(); ++k) {
    if (is_integer_expr(program, *before.args[k]) != is_integer_expr(program, *after.args[k])) return false;
  }
  return true;
}

}  // namespace cairn::algebra
