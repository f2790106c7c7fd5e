// Matching rows of the table in expressions, with sums and products as multisets, and rewriting at a match.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/algebra/chain.h"
#include "analysis/algebra/identity.h"
#include "ir/program.h"

namespace cairn::algebra {

// Values of pattern variables, in the order they were bound.
using Bindings = std::vector<std::pair<std::string, ExprPtr>>;
const ExprPtr* find_binding(const Bindings& bindings, std::string_view name);

// One way a rule fits an expression.
struct Match {
  ExprPath position;                // of the node, or of the root of the maximal sum or product
  std::vector<ExprPath> consumed;   // leaves of that chain that the rule takes, from the chain's root; empty: the node
  std::size_t anchor = 0;           // which of them the result replaces
  bool inverted = false;            // the result takes the opposite polarity of the anchor
  bool whole = true;                // no leaf is left over beside the result
  bool integral = false;            // the node is of integer type
  Bindings bindings;
};

struct MatchOptions {
  std::size_t limit = 256;          // matches of one call
  Bindings invented;                // values of the variables that the right side invents
  // Integer subexpressions of the program are left to rows that hold of integers; null: all nodes are real.
  const Program* program = nullptr;
};

// All matches of the rule in an expression, in a fixed order: nodes in pre-order (subscripts left out), leaves in text
// order. Matches that give the same expression are listed once; those that change nothing are left out.
std::vector<Match> find_matches(const Rule& rule, const ExprPtr& root, const MatchOptions& options = {});
// The expression after the rule at a match.
ExprPtr rewrite_at(const Rule& rule, const ExprPtr& root, const Match& match);
// A pattern with its variables replaced; sums and products are joined, literal arithmetic is folded where exact.
ExprPtr instantiate(const ExprPtr& pattern, const Bindings& bindings);
// The smallest node of the root that contains everything the match takes.
ExprPath extent_of(const Match& match);

// A rule and a match that turn one expression into another (up to order and grouping), or nullopt: what lets a pair of
// programs earn the rung `rule` without an action.
struct Explanation {
  Rule rule;
  Match match;
};
// `accept` (null: all) chooses among several.
std::optional<Explanation> explain_rewrite(const ExprPtr& before, const ExprPtr& after, const Program* program = nullptr,
                                           const std::function<bool(const Explanation&)>& accept = nullptr);

}  // namespace cairn::algebra
