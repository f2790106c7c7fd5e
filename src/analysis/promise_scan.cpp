#include "analysis/promise_scan.h"

#include <algorithm>

#include "analysis/affine.h"
#include "analysis/flow_system.h"

namespace cairn {

namespace {
std::optional<UpdateOp> update_op(Op op) {
  switch (op) {
    case Op::add: return UpdateOp::add;
    case Op::mul: return UpdateOp::mul;
    case Op::max: return UpdateOp::max;
    case Op::min: return UpdateOp::min;
    default: return std::nullopt;
  }
}

// Does the literal equal the neutral element (0, 1, -inf, +inf)?
bool is_neutral(const Expr& e, UpdateOp op) {
  double value = 0;
  if (e.op == Op::int_literal) {
    value = static_cast<double>(e.int_value);
  } else if (e.op == Op::float_literal) {
    value = e.float_value;
  } else {
    return false;
  }
  switch (op) {
    case UpdateOp::add: return value == 0;
    case UpdateOp::mul: return value == 1;
    case UpdateOp::max: return value < 0 && value * 2 == value;
    case UpdateOp::min: return value > 0 && value * 2 == value;
  }
  return false;
}

// Does the condition hold exactly from the second iteration of `loop` on?
bool means_not_first(const Access& at, const Stmt& loop, const ExprPtr& cond, bool holds) {
  const ExprPtr first = make_expr(Op::eq, {make_var(loop.var), make_int(0)});
  Access plain = at;
  plain.conditions.clear();
  for (const bool is_first : {true, false}) {
    AccessSystem system(plain);
    system.assume(*first, is_first);
    system.assume(*cond, holds == is_first);
    if (!proved_empty(system.system())) return false;
  }
  return true;
}

// read = write with the loop's variable one less, in exactly one subscript; every other subscript free of it.
bool one_step_before(const Stmt& loop, const std::vector<ExprPtr>& write, const std::vector<ExprPtr>& read) {
  int moved = 0;
  for (std::size_t d = 0; d < write.size(); ++d) {
    const auto w = linear_form(*write[d]);
    const auto r = linear_form(*read[d]);
    if (!w || !r) return false;
    if (w->coefficient(loop.var) == 0) {
      if (!(*w == *r)) return false;
      continue;
    }
    LinearForm before = *w;
    before.constant -= 1;
    if (w->coefficient(loop.var) != 1 || !(before == *r)) return false;
    ++moved;
  }
  return moved == 1;
}

bool same_subscripts(const std::vector<ExprPtr>& a, const std::vector<ExprPtr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ExprPtr& x, const ExprPtr& y) {
    const auto fx = linear_form(*x);
    const auto fy = linear_form(*y);
    return fx && fy ? *fx == *fy : same_expr(x, y);
  });
}
}  // namespace

std::optional<UpdateOp> scan_op(const Stmt& loop, const std::vector<const Access*>& accesses) {
  const Access* write = nullptr;
  for (const Access* a : accesses) {
    if (!a->is_write) continue;
    if (write != nullptr) return std::nullopt;
    write = a;
  }
  if (write == nullptr || !write->stmt->is_equation()) return std::nullopt;
  const Stmt& s = *write->stmt;
  const auto op = update_op(s.rhs->op);
  if (!op) return std::nullopt;
  // One operand of the chain is the guarded history; the rest does not read X.
  const Expr* history = s.rhs.get();
  while (history->op == s.rhs->op) {
    const bool left = reads_tensor(*history->args[0], s.tensor);
    if (left == reads_tensor(*history->args[1], s.tensor)) return std::nullopt;
    history = history->args[left ? 0 : 1].get();
  }
  if (history->op != Op::select || reads_tensor(*history->args[0], s.tensor)) return std::nullopt;
  const bool yes = history->args[1]->op == Op::read && history->args[1]->name == s.tensor;
  const ExprPtr& element = history->args[yes ? 1 : 2];
  const ExprPtr& neutral = history->args[yes ? 2 : 1];
  if (element->op != Op::read || element->name != s.tensor || !is_neutral(*neutral, *op)) return std::nullopt;
  if (!one_step_before(loop, s.subscripts, element->args)) return std::nullopt;
  if (!means_not_first(*write, loop, history->args[0], yes)) return std::nullopt;
  for (const Access* a : accesses) {
    if (a->is_write || a->stmt == write->stmt) continue;
    const bool later = std::lexicographical_compare(write->path.begin(), write->path.end(), a->path.begin(), a->path.end());
    if (a->in_condition || !later || !same_subscripts(a->subscripts, write->subscripts)) return std::nullopt;
  }
  return op;
}

}  // namespace cairn
