// Simplifying the integer parts of statements after a rewrite of loops.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/affine.h"
#include "ir/program.h"

namespace cairn {

using Substitution = std::vector<std::pair<std::string, ExprPtr>>;

// True if only loop variables, integer literals and integer operators occur: same value and type anywhere.
bool is_index_expr(const Expr& expr);
// True if a condition is made of comparisons of index expressions by & | !.
bool is_index_condition(const Expr& expr);
// An integer literal other than 0 (0): what simplify_index makes of a decided condition.
bool is_true(const Expr& cond);
bool is_false(const Expr& cond);
// The parts of a conjunction in text order; and back (null for none).
std::vector<ExprPtr> split_conjunction(const ExprPtr& cond);
ExprPtr join_conjunction(const std::vector<ExprPtr>& parts);
// True if any of the names occurs as a loop variable.
bool uses_any(const Expr& expr, const std::vector<std::string>& vars);

// Simplifies the largest integer parts of a value that mention one of `vars` (all parts if there are none);
// a decided if_then_else goes.
ExprPtr simplify_value(const ExprPtr& expr, const std::vector<LoopRange>& loops,
                       const std::vector<std::string>& vars);
// The same for statements; `loops` are the loops around the body. Tests that always (never) hold go.
Body simplify_body(const Body& body, std::vector<LoopRange> loops, const std::vector<std::string>& vars);
// True if simplifying what mentions `vars` changes nothing: a rewrite and its inverse then meet in one form.
bool is_simplified(const Body& body, const std::vector<LoopRange>& loops, const std::vector<std::string>& vars);
// Substitutes loop variables by index expressions and simplifies what mentioned them or `vars`.
Body substitute_and_simplify(const Body& body, const Substitution& map, std::vector<LoopRange> loops,
                             std::vector<std::string> vars);
// Rewrites every expression with the loops above it known: fn maps a whole right side, subscript or condition.
using RangedRewrite = std::function<ExprPtr(const ExprPtr&, const std::vector<LoopRange>&)>;
Body rewrite_ranged(const Body& body, std::vector<LoopRange>& loops, const RangedRewrite& fn);
// a+b, a-b, a*c of index expressions, with trivial cases folded.
ExprPtr add_index(const ExprPtr& a, const ExprPtr& b);
ExprPtr sub_index(const ExprPtr& a, const ExprPtr& b);
ExprPtr mul_index(const ExprPtr& a, std::int64_t factor);
ExprPtr less_than(const ExprPtr& a, std::int64_t bound);

}  // namespace cairn
