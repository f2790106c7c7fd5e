// Systems of affine constraints over bounded integers: the core of every dependence and bounds question.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/interval.h"

namespace cairn {

__extension__ typedef __int128 Int128;  // for products that must not wrap

// sum coef * variable + constant; terms sorted by variable, no zero coefficients.
struct AffineRow {
  std::vector<std::pair<int, std::int64_t>> terms;
  std::int64_t constant = 0;
  bool is_constant() const { return terms.empty(); }
  std::int64_t coefficient(int variable) const;
  friend bool operator==(const AffineRow&, const AffineRow&) = default;
};

// a * x + b * y, or nullopt on overflow.
std::optional<AffineRow> combine_rows(const AffineRow& x, std::int64_t a, const AffineRow& y, std::int64_t b);
// x += factor * variable; x += factor * y. False on overflow, x is then of no use.
bool add_scaled(AffineRow* x, std::int64_t factor, int variable);
bool add_scaled(AffineRow* x, std::int64_t factor, const AffineRow& y);
AffineRow constant_row(std::int64_t value);
AffineRow variable_row(int variable);

// row >= 0, or row == 0.
struct Constraint {
  AffineRow row;
  bool equal = false;
};
using Conjunction = std::vector<Constraint>;

enum class Feasible : std::uint8_t { no, yes, unknown };

// Variables with ranges, constraints that all hold, and disjunctions of which one alternative each holds.
class IntegerSystem {
 public:
  // Adds a variable with an inclusive range and returns its index.
  int add_variable(Interval range);
  void narrow(int variable, Interval range);
  void add_equal(AffineRow row) { constraints_.push_back({std::move(row), true}); }
  void add_at_least(AffineRow row) { constraints_.push_back({std::move(row), false}); }
  void add(Constraint constraint) { constraints_.push_back(std::move(constraint)); }
  void add_cases(std::vector<Conjunction> cases);
  // Bounds of a row over the variables' ranges; nullopt beyond 2^62.
  std::optional<Interval> bounds(const AffineRow& row) const;

  int size() const { return static_cast<int>(ranges_.size()); }
  const std::vector<Interval>& ranges() const { return ranges_; }
  const std::vector<Constraint>& constraints() const { return constraints_; }
  const std::vector<std::vector<Conjunction>>& disjunctions() const { return disjunctions_; }
  // Does a point satisfy everything?
  bool holds(const std::vector<std::int64_t>& point) const;

 private:
  std::vector<Interval> ranges_;
  std::vector<Constraint> constraints_;
  std::vector<std::vector<Conjunction>> disjunctions_;
};

// The fast exact test: mixed-radix splitting and gcds of equalities, substitution of unit coefficients
// (Euclid's steps make one where there is none), exact Fourier-Motzkin elimination, bounded branching; the
// order of steps follows the Omega test (Pugh 1991). unknown: out of budget or beyond 64-bit numbers.
// With `point`, a solution is stored where the answer is yes.
Feasible decide_fast(const IntegerSystem& system, std::vector<std::int64_t>* point = nullptr);
// The same question put to isl; unknown if it exceeds its operation limit.
Feasible decide_isl(const IntegerSystem& system, std::vector<std::int64_t>* point = nullptr);

}  // namespace cairn
