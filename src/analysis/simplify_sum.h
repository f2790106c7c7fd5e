// Sums of integer atoms: the normal form of simplify_index.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/affine.h"
#include "ir/interval.h"

namespace cairn::simplify {

// coef * atom; an atom is a variable or an expression that is no sum.
struct Term {
  ExprPtr atom;
  std::int64_t coef = 0;
};
struct Sum {
  std::vector<Term> terms;
  std::int64_t constant = 0;
  bool is_constant() const { return terms.empty(); }
};

// a + factor * b; nullopt on overflow. Equal atoms merge; c*(y//c) + y%c becomes y.
std::optional<Sum> add(const Sum& a, const Sum& b, std::int64_t factor);
// Canonical expression: positive terms first, larger factors first, then variables by name.
ExprPtr build(const Sum& sum);

// Rewrites over known loop ranges.
class Simplifier {
 public:
  explicit Simplifier(const std::vector<LoopRange>& loops) : loops_(loops) {}
  ExprPtr simplify(const ExprPtr& e);
  // Normal form of an expression of loop variables and integers; nullopt for any other, and on overflow.
  std::optional<Sum> normal_form(const ExprPtr& e);
  std::optional<Interval> range(const Sum& sum) const;

 private:
  std::optional<Sum> sum_of(const ExprPtr& e);
  std::optional<Sum> choose(const ExprPtr& e);
  std::optional<Sum> divide(const Sum& x, std::int64_t c);
  std::optional<Sum> remainder(const Sum& x, std::int64_t c);
  // x = g * big + small with small in one block [m g, m g + g): big + m, and small - m g.
  struct Split {
    std::int64_t g;
    Sum big, small;
  };
  std::optional<Split> split(const Sum& x, std::int64_t c) const;
  std::optional<Interval> range(const Expr& atom) const;
  std::optional<Interval> range_of_args(const Expr& atom) const;
  ExprPtr compare(const ExprPtr& e);
  ExprPtr rebuild(const ExprPtr& e);

  const std::vector<LoopRange>& loops_;
};

}  // namespace cairn::simplify
