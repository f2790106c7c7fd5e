// Factors of terms: what leaves a product, a sum of products, or both branches of an if_then_else.
#pragma once
#include <string>
#include <vector>

#include "ir/expr.h"

namespace cairn {

// A factor s, or 1/s.
struct Factor {
  ExprPtr expr;
  bool divides = false;
};
// "C_{i}" or "1/C_{i}".
std::string factor_text(const Factor& factor);
Factor parse_factor(const ExprPtr& expr);
// e without the factor: of a product, of every term of a sum, of both branches of an if_then_else (0 is 0 times
// anything); 1 if e is the factor; null if e does not have it. Leaves are the same only with equal subscripts.
ExprPtr cofactor_of(const ExprPtr& e, const Factor& factor);
// Factors that stand in the products of an expression: no literal 1, nothing twice.
std::vector<Factor> list_factors(const ExprPtr& e);

}  // namespace cairn
