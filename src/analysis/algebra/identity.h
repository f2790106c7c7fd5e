// The table of algebraic identities (identities.txt): rows, and which strategy uses them in which direction.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/expr.h"

namespace cairn::algebra {

// A row. Loop variables of its expressions are pattern variables: n m k stand for literals, `big` for the largest
// safe exponent of the compute type, any other for any expression.
struct Identity {
  std::string name;
  std::string forward, back;            // strategies from left to right, from right to left; empty: not that way
  std::string pair[2];                  // the two strategies of the section
  ExprPtr lhs, rhs;
  std::vector<ExprPtr> conditions;      // of both ways
  std::vector<ExprPtr> forward_conditions, back_conditions; // those and more for one way
  std::vector<std::string> forward_invents, back_invents;   // variables of one side that the other does not bind
  bool exact = false;                   // bit-identical where both sides are whole expressions
  bool integral = false;                // only + - * and literals: holds of wrapping integers too
  std::uint64_t lhs_ops = 0, rhs_ops = 0;  // what an expression must hold for the side to fit (ops_of)
};

// A row read in one direction.
struct Rule {
  const Identity* identity = nullptr;
  bool back = false;
  const ExprPtr& from() const { return back ? identity->rhs : identity->lhs; }
  const ExprPtr& to() const { return back ? identity->lhs : identity->rhs; }
  const std::string& name() const { return identity->name; }
  // False if an expression with these operators cannot fit.
  bool may_fit(std::uint64_t ops) const { return ((back ? identity->rhs_ops : identity->lhs_ops) & ~ops) == 0; }
  const std::vector<ExprPtr>& conditions() const { return back ? identity->back_conditions : identity->forward_conditions; }
};

// The text of the table.
std::string_view identities_text();
// Parses a table; refuses a malformed row with its line.
Result<std::vector<Identity>> parse_identities(std::string_view text);
// The rows of the embedded table, in its order.
const std::vector<Identity>& identities();
// The rules a strategy uses, in the table's order.
const std::vector<Rule>& rules_of(std::string_view strategy);
// The rules of the strategies that undo `strategy`: the other sides of its sections.
const std::vector<Rule>& rules_against(std::string_view strategy);
// Pattern variables of an expression in order of appearance, `big` left out.
std::vector<std::string> variables_of(const Expr& pattern);
// Variables of the right side that the left one does not bind.
inline const std::vector<std::string>& invented_by(const Rule& rule) { return rule.back ? rule.identity->back_invents : rule.identity->forward_invents; }
// The operators of an expression outside subscripts, as bits; of + - * and literals none.
std::uint64_t ops_of(const Expr& e);
// n m k.
bool is_literal_variable(std::string_view name);

}  // namespace cairn::algebra
