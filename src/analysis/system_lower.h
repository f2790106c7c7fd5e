// From integer expressions and conditions to rows of an IntegerSystem.
#pragma once
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/system.h"
#include "ir/program.h"

namespace cairn {

// The variables that one iteration sees, and the quotients already introduced for it.
struct LowerScope {
  std::vector<std::pair<std::string_view, int>> variables;
  struct Known {
    const Expr* expr;
    AffineRow row;
  };
  std::vector<Known> known;   // compared structurally: equal // and % share their variables
  int variable(std::string_view name) const;
};

// Builds a system. What is not affine is left out and clears `exact`: "no" stays right, "yes" does not.
class SystemLowering {
 public:
  IntegerSystem system;
  bool exact = true;

  // Row of an integer expression; // and % by constants, min, max, xor and if_then_else add variables. nullopt:
  // a tensor read, a product of variables, an unknown variable, overflow.
  std::optional<AffineRow> lower(const Expr& expr, LowerScope& scope);
  // into += factor * expr, without a row for each node; false where lower() has none.
  bool accumulate(const Expr& expr, std::int64_t factor, LowerScope& scope, AffineRow* into);
  // Requires that the condition holds (or does not hold).
  void assume(const Expr& cond, bool holds, LowerScope& scope);

 private:
  std::vector<Conjunction> cases(const Expr& cond, bool holds, LowerScope& scope);
  std::vector<Conjunction> compare(const Expr& cond, bool holds, LowerScope& scope);
  std::optional<AffineRow> divide(const Expr& expr, LowerScope& scope);
  std::optional<AffineRow> choose(const Expr& expr, LowerScope& scope);
  std::optional<AffineRow> exclusive_or(const Expr& expr, LowerScope& scope);

  struct Xor {
    AffineRow left, right;
    int value;
  };
  std::vector<Xor> xors_;
};

}  // namespace cairn
