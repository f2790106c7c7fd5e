#include "analysis/flow_system.h"

namespace cairn {

AccessSystem::AccessSystem(const Access& access) : access_(access), subscripts_(access.subscripts.size()) {
  for (const Stmt* loop : access.loops) {
    scope_.variables.emplace_back(loop->var, lowering_.system.add_variable({0, loop->extent - 1}));
  }
  for (const Condition& c : access.conditions) assume(*c.cond, c.holds);
}

const std::optional<AffineRow>& AccessSystem::subscript(std::size_t dimension) {
  auto& known = subscripts_[dimension];
  if (!known) known = lowering_.lower(*access_.subscripts[dimension], scope_);
  return *known;
}

bool AccessSystem::always_at_least_zero(const AffineRow& row) const {
  const auto range = system().bounds(row);
  if (range && range->lo >= 0) return true;
  const auto negative = combine_rows(row, -1, constant_row(-1), 1);   // -row - 1 >= 0
  if (!negative) return false;
  IntegerSystem below = system();
  below.add_at_least(*negative);
  return proved_empty(below);
}

bool proved_empty(const IntegerSystem& system, bool with_isl) {
  for (const Interval& r : system.ranges()) {
    if (r.lo > r.hi) return true;
  }
  for (const Constraint& c : system.constraints()) {
    const auto b = system.bounds(c.row);
    if (b && (b->hi < 0 || (c.equal && b->lo > 0))) return true;
  }
  const Feasible fast = decide_fast(system);
  if (fast != Feasible::unknown) return fast == Feasible::no;
  return with_isl && decide_isl(system) == Feasible::no;
}

}  // namespace cairn
