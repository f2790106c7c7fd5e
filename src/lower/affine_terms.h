// Small affine forms over loop variables, for the lowering's own decisions (starts, tiles, parallel loops).
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/interval.h"
#include "ir/program.h"

namespace cairn {

// sum coef * variable + constant; no zero coefficients.
struct AffineTerms {
  std::map<std::string, std::int64_t, std::less<>> terms;
  std::int64_t constant = 0;
  std::int64_t coefficient(std::string_view var) const;
  friend bool operator==(const AffineTerms&, const AffineTerms&) = default;
};

// The affine form of an integer expression, or nullopt (quotients, gathers, products of variables, overflow).
std::optional<AffineTerms> affine_terms(const Expr& expr);

// An equation with its path and the loops and tests around it, outermost first, with their paths.
struct PlacedEquation {
  const Stmt* equation = nullptr;
  StmtPath path;
  std::vector<const Stmt*> enclosing;
};
std::vector<PlacedEquation> place_equations(const Body& body);

// Are the subscripts one-to-one in the loop variables `vars` (others fixed)? Decided per dimension by mixed
// radix: false means "not proved".
bool is_injective(const std::vector<ExprPtr>& subscripts, const std::map<std::string, std::int64_t>& extents);

// Does every element that `later` writes stand written by `earlier` when `later` runs in the same iteration
// of their common loops? False means "not proved".
bool is_covered(const PlacedEquation& earlier, const PlacedEquation& later);

}  // namespace cairn
