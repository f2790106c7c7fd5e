// Expressions: parentheses exactly where the parser would build another tree.
#include <utility>

#include "ir/printer.h"

namespace cairn {

namespace {
enum Level : int { kOr = 1, kAnd, kCompare, kSum, kProduct, kUnary, kPower, kPrimary };

// How tightly a node's own text binds; a chain link (1<=c&c<9) prints as a comparison.
bool is_chain(const Expr& e);

const Expr& last_link(const Expr& e) { return e.op == Op::logical_and ? *e.args[1] : e; }

bool is_chain_or_comparison(const Expr& e) { return is_comparison(e.op) || is_chain(e); }

bool is_chain(const Expr& e) {
  return e.op == Op::logical_and && is_comparison(e.args[1]->op) && is_chain_or_comparison(*e.args[0]) &&
         same_expr(*last_link(*e.args[0]).args[1], *e.args[1]->args[0]);
}

int level_of(const Expr& e) {
  switch (e.op) {
    case Op::logical_or: return kOr;
    case Op::logical_and: return is_chain(e) ? kCompare : kAnd;
    case Op::lt: case Op::le: case Op::gt: case Op::ge: case Op::eq: case Op::ne: return kCompare;
    case Op::add: case Op::sub: return kSum;
    case Op::mul: case Op::div: case Op::floor_div: case Op::mod: return kProduct;
    case Op::neg: case Op::logical_not: return kUnary;
    case Op::pow: return kPower;
    case Op::int_literal: return e.int_value < 0 ? kUnary : kPrimary;
    case Op::float_literal: return __builtin_signbit(e.float_value) && e.float_value == e.float_value ? kUnary : kPrimary;
    default: return kPrimary;
  }
}

bool is_infix(Op op) { return op >= Op::add && op <= Op::logical_or; }
}  // namespace

void Printer::print_call(std::string_view name, const std::vector<ExprPtr>& args) {
  out_ += name;
  out_ += '(';
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i > 0) out_ += ',';
    print(*args[i]);
  }
  out_ += ')';
}

// Right operands with a leading sign are parenthesised to read well: a*(-b).
void Printer::print_operand(const Expr& expr, int level, bool right) {
  const bool sign = right && level > kCompare && level_of(expr) == kUnary;
  const bool parentheses = sign || level_of(expr) < level;
  if (parentheses) out_ += '(';
  print(expr);
  if (parentheses) out_ += ')';
}

// Prints a<b & b<c as a<b<c; the left part ends with the operand that the link would repeat.
bool Printer::print_chain_link(const Expr& expr) {
  if (!is_chain(expr)) return false;
  const Expr& first = *expr.args[0];
  if (!print_chain_link(first)) print_binary(first, kCompare);
  const Expr& link = *expr.args[1];
  out_ += op_name(link.op);
  print_operand(*link.args[1], kSum, false);
  return true;
}

void Printer::print_binary(const Expr& expr, int level) {
  const Expr* left = expr.args[0].get();
  const Expr* right = expr.args[1].get();
  if (&expr == swapped_) std::swap(left, right);
  if (expr.op == Op::pow) {
    print_operand(*left, kPrimary, false);
    out_ += "**";
    const bool bare = right->op == Op::loop_var || (level_of(*right) == kPrimary && right->args.empty() && right->op != Op::read);
    if (!bare) out_ += '(';
    print(*right);
    if (!bare) out_ += ')';
    return;
  }
  // Comparisons do not associate: both operands bind tighter.
  const bool compares = level == kCompare;
  print_operand(*left, compares ? kSum : level, false);
  out_ += op_name(expr.op);
  print_operand(*right, compares ? kSum : level + 1, !compares);
}

void Printer::print(const Expr& expr) {
  switch (expr.op) {
    case Op::int_literal: print_integer(expr.int_value); return;
    case Op::float_literal: print_real(expr.float_value); return;
    case Op::loop_var: out_ += expr.name; return;
    case Op::read:
      print_mention(expr.name);
      print_subscripts(expr.args);
      return;
    case Op::cast: print_call(dtype_name(expr.dtype), expr.args); return;
    case Op::neg:
    case Op::logical_not: {
      out_ += expr.op == Op::neg ? '-' : '!';
      const Expr& operand = *expr.args[0];
      const bool parentheses = level_of(operand) <= kUnary;
      if (parentheses) out_ += '(';
      print(operand);
      if (parentheses) out_ += ')';
      return;
    }
    default: break;
  }
  if (!is_infix(expr.op)) {
    if (&expr == swapped_) {
      print_call(op_name(expr.op), {expr.args[1], expr.args[0]});
    } else {
      print_call(op_name(expr.op), expr.args);
    }
    return;
  }
  if (expr.op == Op::logical_and && print_chain_link(expr)) return;
  print_binary(expr, level_of(expr));
}

}  // namespace cairn
