// Integer systems for the iterations of one access (internal to the flow analysis).
#pragma once
#include <optional>

#include "analysis/access.h"
#include "analysis/system.h"
#include "analysis/system_lower.h"

namespace cairn {

// The iterations of an access: loop variables with their ranges, under the conditions above it. Conditions
// that are not quasi-affine are left out: it describes at least all iterations. The access must outlive it.
class AccessSystem {
 public:
  explicit AccessSystem(const Access& access);
  // Row of subscript `dimension`; nullopt for a gather. Computed once.
  const std::optional<AffineRow>& subscript(std::size_t dimension);
  std::optional<AffineRow> row(const Expr& expr) { return lowering_.lower(expr, scope_); }
  void assume(const Expr& cond, bool holds) { lowering_.assume(cond, holds, scope_); }
  int variable(std::string_view name) const { return scope_.variable(name); }
  const IntegerSystem& system() const { return lowering_.system; }
  // Nothing was left out: it describes exactly the iterations.
  bool exact() const { return lowering_.exact; }
  // Does row >= 0 hold at every iteration?
  bool always_at_least_zero(const AffineRow& row) const;

 private:
  const Access& access_;
  SystemLowering lowering_;
  LowerScope scope_;
  std::vector<std::optional<std::optional<AffineRow>>> subscripts_;
};

// Has the system no point? Bounds of single rows first, then decide_fast, then (if `with_isl`) decide_isl.
bool proved_empty(const IntegerSystem& system, bool with_isl = true);

}  // namespace cairn
