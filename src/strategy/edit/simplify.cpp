#include "strategy/edit/simplify.h"

#include <algorithm>
#include <utility>

namespace cairn {
namespace {

bool is_integer_op(Op op) {
  switch (op) {
    case Op::neg: case Op::add: case Op::sub: case Op::mul: case Op::floor_div: case Op::mod:
    case Op::max: case Op::min: case Op::bit_xor: return true;
    default: return false;
  }
}

bool is_leaf(const Expr& e) { return e.op == Op::int_literal || e.op == Op::loop_var; }

ExprPtr rebuild(const ExprPtr& node, std::vector<ExprPtr> args) {
  if (args == node->args) return node;
  switch (node->op) {
    case Op::read: return make_read(node->name, std::move(args), node->pos);
    case Op::cast: return make_cast(node->dtype, std::move(args[0]), node->pos);
    default: return make_expr(node->op, std::move(args), node->pos);
  }
}

}  // namespace

bool is_index_expr(const Expr& expr) {
  if (is_leaf(expr)) return true;
  if (!is_integer_op(expr.op)) return false;
  return std::all_of(expr.args.begin(), expr.args.end(), [](const ExprPtr& a) { return is_index_expr(*a); });
}

bool is_index_condition(const Expr& expr) {
  if (expr.op == Op::int_literal) return true;
  if (is_comparison(expr.op)) return is_index_expr(*expr.args[0]) && is_index_expr(*expr.args[1]);
  if (expr.op != Op::logical_and && expr.op != Op::logical_or && expr.op != Op::logical_not) return false;
  return std::all_of(expr.args.begin(), expr.args.end(), [](const ExprPtr& a) { return is_index_condition(*a); });
}

bool is_true(const Expr& cond) { return cond.op == Op::int_literal && cond.int_value != 0; }
bool is_false(const Expr& cond) { return cond.op == Op::int_literal && cond.int_value == 0; }

std::vector<ExprPtr> split_conjunction(const ExprPtr& cond) {
  if (cond->op != Op::logical_and) return {cond};
  std::vector<ExprPtr> out = split_conjunction(cond->args[0]);
  for (ExprPtr& part : split_conjunction(cond->args[1])) out.push_back(std::move(part));
  return out;
}

ExprPtr join_conjunction(const std::vector<ExprPtr>& parts) {
  ExprPtr out;
  for (const ExprPtr& part : parts) out = out ? make_expr(Op::logical_and, {out, part}) : part;
  return out;
}

bool uses_any(const Expr& expr, const std::vector<std::string>& vars) {
  if (expr.op == Op::loop_var) return std::find(vars.begin(), vars.end(), expr.name) != vars.end();
  return std::any_of(expr.args.begin(), expr.args.end(), [&vars](const ExprPtr& a) { return uses_any(*a, vars); });
}

namespace {

// A junction or negation of which a part is decided; null if every part still counts. A literal is no condition by itself.
ExprPtr decide_junction(Op op, const std::vector<ExprPtr>& args) {
  if (op == Op::logical_not) return is_true(*args[0]) ? make_int(0) : is_false(*args[0]) ? make_int(1) : nullptr;
  if (op != Op::logical_and && op != Op::logical_or) return nullptr;
  for (std::size_t k = 0; k < 2; ++k) {
    const bool decides = op == Op::logical_and ? is_false(*args[k]) : is_true(*args[k]);
    if (decides) return args[k];
    const bool neutral = op == Op::logical_and ? is_true(*args[k]) : is_false(*args[k]);
    if (neutral) return args[1 - k];
  }
  return nullptr;
}

// Decided conditions go; the others keep their form, each side of a comparison simplified: dividing a tail test
// i*4+a<6 through would hide which split it belongs to.
ExprPtr simplify_condition(const ExprPtr& expr, const std::vector<LoopRange>& loops) {
  const ExprPtr whole = simplify_index(expr, loops);
  if (whole->op == Op::int_literal || expr->args.empty()) return whole;
  std::vector<ExprPtr> args;
  for (const ExprPtr& arg : expr->args) {
    args.push_back(is_comparison(expr->op) ? simplify_index(arg, loops) : simplify_condition(arg, loops));
  }
  if (ExprPtr decided = decide_junction(expr->op, args)) return decided;
  return rebuild(expr, std::move(args));
}

}  // namespace

ExprPtr simplify_value(const ExprPtr& expr, const std::vector<LoopRange>& loops,
                       const std::vector<std::string>& vars) {
  if (is_leaf(*expr) || expr->args.empty() || (!vars.empty() && !uses_any(*expr, vars))) return expr;
  if (is_index_expr(*expr)) return simplify_index(expr, loops);
  if (is_index_condition(*expr)) return simplify_condition(expr, loops);
  if (expr->op == Op::select) {
    const ExprPtr cond = simplify_value(expr->args[0], loops, vars);
    if (is_true(*cond)) return simplify_value(expr->args[1], loops, vars);
    if (is_false(*cond)) return simplify_value(expr->args[2], loops, vars);
  }
  std::vector<ExprPtr> args;
  args.reserve(expr->args.size());
  for (const ExprPtr& arg : expr->args) args.push_back(simplify_value(arg, loops, vars));
  if (ExprPtr decided = decide_junction(expr->op, args)) return decided;
  return rebuild(expr, std::move(args));
}

Body rewrite_ranged(const Body& body, std::vector<LoopRange>& loops, const RangedRewrite& fn) {
  Body out;
  out.reserve(body.size());
  for (const StmtPtr& stmt : body) {
    if (stmt->is_equation()) {
      std::vector<ExprPtr> subscripts;
      subscripts.reserve(stmt->subscripts.size());
      for (const ExprPtr& s : stmt->subscripts) subscripts.push_back(fn(s, loops));
      ExprPtr rhs = fn(stmt->rhs, loops);
      if (rhs == stmt->rhs && subscripts == stmt->subscripts) {
        out.push_back(stmt);
      } else {
        out.push_back(make_equation(stmt->tensor, std::move(subscripts), std::move(rhs), stmt->pos));
      }
      continue;
    }
    if (stmt->is_test()) {
      const ExprPtr cond = fn(stmt->cond, loops);
      if (is_false(*cond)) continue;
      Body inner = rewrite_ranged(stmt->body, loops, fn);
      if (inner.empty()) continue;
      if (is_true(*cond)) {
        out.insert(out.end(), inner.begin(), inner.end());
      } else if (cond == stmt->cond && inner == stmt->body) {
        out.push_back(stmt);
      } else {
        out.push_back(make_test(cond, std::move(inner), stmt->pos));
      }
      continue;
    }
    loops.push_back({stmt->var, stmt->extent});
    Body inner = rewrite_ranged(stmt->body, loops, fn);
    loops.pop_back();
    if (inner.empty()) continue;
    out.push_back(inner == stmt->body ? stmt : with_body(*stmt, std::move(inner)));
  }
  return out;
}

Body simplify_body(const Body& body, std::vector<LoopRange> loops, const std::vector<std::string>& vars) {
  return rewrite_ranged(body, loops, [&vars](const ExprPtr& e, const std::vector<LoopRange>& ranges) {
    return simplify_value(e, ranges, vars);
  });
}

bool is_simplified(const Body& body, const std::vector<LoopRange>& loops, const std::vector<std::string>& vars) {
  const Body now = simplify_body(body, loops, vars);
  if (now.size() != body.size()) return false;
  for (std::size_t k = 0; k < now.size(); ++k) {
    if (!same_stmt(*now[k], *body[k])) return false;
  }
  return true;
}

Body substitute_and_simplify(const Body& body, const Substitution& map, std::vector<LoopRange> loops,
                             std::vector<std::string> vars) {
  static const std::vector<std::string> kAll;
  std::vector<std::string> replaced;
  bool to_constant = false;
  for (const auto& entry : map) {
    replaced.push_back(entry.first);
    to_constant |= entry.second->op == Op::int_literal;
    visit_expr(*entry.second, [&vars](const Expr& e) {
      if (e.op == Op::loop_var) vars.push_back(e.name);
      return true;
    });
  }
  return rewrite_ranged(body, loops, [&](const ExprPtr& e, const std::vector<LoopRange>& ranges) {
    if (!uses_any(*e, replaced)) return e;
    // A variable replaced by a constant leaves none of `vars` behind: all of the expression is simplified then.
    return simplify_value(substitute_vars(e, map), ranges, to_constant ? kAll : vars);
  });
}

ExprPtr add_index(const ExprPtr& a, const ExprPtr& b) {
  if (a->op == Op::int_literal && a->int_value == 0) return b;
  if (b->op == Op::int_literal && b->int_value == 0) return a;
  return make_expr(Op::add, {a, b});
}

ExprPtr sub_index(const ExprPtr& a, const ExprPtr& b) {
  if (b->op == Op::int_literal && b->int_value == 0) return a;
  return make_expr(Op::sub, {a, b});
}

ExprPtr mul_index(const ExprPtr& a, std::int64_t factor) {
  if (factor == 1) return a;
  return make_expr(Op::mul, {a, make_int(factor)});
}

ExprPtr less_than(const ExprPtr& a, std::int64_t bound) { return make_expr(Op::lt, {a, make_int(bound)}); }

}  // namespace cairn
