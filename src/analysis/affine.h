// Affine and quasi-affine forms of integer expressions.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace cairn {

// sum coef_i * var_i + constant; terms sorted by name, no zero coefficients.
struct LinearForm {
  std::vector<std::pair<std::string, std::int64_t>> terms;
  std::int64_t constant = 0;
  std::int64_t coefficient(std::string_view var) const;
  friend bool operator==(const LinearForm&, const LinearForm&) = default;
};

// Linear form over loop variables, or nullopt (// % of non-constants, gathers, overflow).
std::optional<LinearForm> linear_form(const Expr& expr);
// An expression of a linear form in canonical order: `i*4+j+1`.
ExprPtr linear_expr(const LinearForm& form);
// Simplifies integer subscripts and conditions over loop ranges: constants, x*1, x+0, (i*8+j)//8 -> i and
// (i*8+j)%8 -> j where the ranges prove it, nested // and %. Value-preserving for all loop values in range.
struct LoopRange { std::string var; std::int64_t extent; };
ExprPtr simplify_index(const ExprPtr& expr, const std::vector<LoopRange>& loops);

}  // namespace cairn
