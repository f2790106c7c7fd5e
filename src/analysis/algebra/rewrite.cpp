// Rewriting at a match, and finding the row between two expressions.
#include <algorithm>
#include <cmath>

#include "analysis/algebra/match.h"
#include "base/check.h"

namespace cairn::algebra {
namespace {

bool is_literal(const Expr& e) { return e.op == Op::int_literal || e.op == Op::float_literal; }
double literal_value(const Expr& e) { return e.op == Op::int_literal ? static_cast<double>(e.int_value) : e.float_value; }

// The literal that arithmetic on literals gives, if it is exact; else null.
ExprPtr fold_literals(ChainKind kind, const std::vector<Leaf>& leaves) {
  double value = kind == ChainKind::sum ? 0 : 1;
  bool integers = true;
  for (const Leaf& leaf : leaves) {
    if (!is_literal(*leaf.expr)) return nullptr;
    const double x = literal_value(*leaf.expr);
    integers = integers && leaf.expr->op == Op::int_literal;
    value = kind == ChainKind::sum ? (leaf.inverse ? value - x : value + x) : (leaf.inverse ? value / x : value * x);
  }
  constexpr double kExact = 1 << 24;
  if (!std::isfinite(value) || std::fabs(value) > kExact || value * 1024 != std::floor(value * 1024)) return nullptr;
  const bool whole = value == std::floor(value);
  return integers && whole ? make_int(static_cast<std::int64_t>(value)) : make_float(value);
}

// A product that multiplies after it divided, a/z*z, is meant in that order: it would overflow otherwise.
bool is_ordered(const std::vector<Leaf>& leaves) {
  for (std::size_t k = 0; k + 1 < leaves.size(); ++k) {
    if (leaves[k].inverse && !leaves[k + 1].inverse) return true;
  }
  return false;
}

ExprPtr build_in_order(const std::vector<Leaf>& leaves) {
  ExprPtr acc = leaves[0].expr;
  for (std::size_t k = 1; k < leaves.size(); ++k) acc = make_expr(leaves[k].inverse ? Op::div : Op::mul, {acc, leaves[k].expr});
  return acc;
}

}  // namespace

ExprPtr instantiate(const ExprPtr& pattern, const Bindings& bindings) {
  const Expr& p = *pattern;
  if (p.op == Op::loop_var) {
    const ExprPtr* value = find_binding(bindings, p.name);
    CAIRN_CHECK_MSG(value != nullptr, p.name);
    return *value;
  }
  if (const ChainKind kind = chain_kind(p); kind != ChainKind::none) {
    std::vector<Leaf> leaves = operands_of(pattern, kind);
    for (Leaf& leaf : leaves) leaf.expr = instantiate(leaf.expr, bindings);
    if (const ExprPtr folded = fold_literals(kind, leaves)) return folded;
    return kind == ChainKind::product && is_ordered(leaves) ? build_in_order(leaves) : build_chain(kind, leaves);
  }
  if (p.args.empty()) return pattern;
  std::vector<ExprPtr> args;
  for (const ExprPtr& arg : p.args) args.push_back(instantiate(arg, bindings));
  if (p.op == Op::pow && is_literal(*args[1]) && literal_value(*args[1]) == 1) return args[0];
  if (p.op == Op::pow && is_literal(*args[1]) && literal_value(*args[1]) == 0) return make_int(1);
  if (p.op == Op::neg) return make_negation(args[0]);
  return make_expr(p.op, std::move(args));
}

ExprPtr rewrite_at(const Rule& rule, const ExprPtr& root, const Match& match) {
  const ExprPtr result = instantiate(rule.to(), match.bindings);
  if (match.consumed.empty()) {
    // A sum (product) put into one is joined to it, unless that would round elsewhere.
    const ChainKind kind = chain_kind(*result);
    std::size_t depth = match.position.size();
    const auto at_depth = [&](std::size_t d) -> const ExprPtr& {
      return node_at(root, ExprPath(match.position.begin(), match.position.begin() + static_cast<std::ptrdiff_t>(d)));
    };
    while (depth > 0 && kind != ChainKind::none && !rule.identity->exact && chain_kind(*at_depth(depth - 1)) == kind) --depth;
    if (depth == match.position.size()) return replace_node(root, match.position, result);
    const auto split = match.position.begin() + static_cast<std::ptrdiff_t>(depth);
    const ExprPath above(match.position.begin(), split);
    return replace_node(root, above, edit_chain(at_depth(depth), kind, {ExprPath(split, match.position.end())}, 0, result, false));
  }
  const ExprPtr& chain = node_at(root, match.position);
  return replace_node(root, match.position, edit_chain(chain, chain_kind(*chain), match.consumed, match.anchor, result, match.inverted));
}

ExprPath extent_of(const Match& match) {
  ExprPath out = match.position;
  if (match.consumed.empty()) return out;
  const ExprPath& first = match.consumed.front();
  std::size_t common = first.size();
  for (const ExprPath& path : match.consumed) {
    std::size_t k = 0;
    while (k < common && k < path.size() && path[k] == first[k]) ++k;
    common = k;
  }
  out.insert(out.end(), first.begin(), first.begin() + static_cast<std::ptrdiff_t>(common));
  return out;
}

std::optional<Explanation> explain_rewrite(const ExprPtr& before, const ExprPtr& after, const Program* program,
                                           const std::function<bool(const Explanation&)>& accept) {
  const Digest wanted = value_hash(*after);
  const std::uint64_t ops = ops_of(*before);
  std::vector<ExprPtr> values;   // what an invented variable may be: the values of `after`
  const auto collect = [&values](const auto& self, const ExprPtr& e) -> void {
    if (!is_literal(*e) && e->op != Op::loop_var) values.push_back(e);
    if (e->op == Op::read) return;
    for (const ExprPtr& arg : e->args) self(self, arg);
  };
  collect(collect, after);
  for (const Identity& row : identities()) {
    for (const bool back : {false, true}) {
      if ((back ? row.back : row.forward).empty()) continue;
      const Rule rule{&row, back};
      if (!rule.may_fit(ops)) continue;
      const std::vector<std::string> invented = invented_by(rule);
      if (invented.size() > 1) continue;
      for (std::size_t k = 0; k < (invented.empty() ? 1 : values.size()); ++k) {
        MatchOptions options;
        options.program = program;
        if (!invented.empty()) options.invented.emplace_back(invented[0], values[k]);
        for (const Match& match : find_matches(rule, before, options)) {
          if (value_hash(*rewrite_at(rule, before, match)) != wanted) continue;
          const Explanation found{rule, match};
          if (!accept || accept(found)) return found;
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace cairn::algebra
