#include "analysis/dependence.h"

#include <algorithm>
#include <atomic>

#include "analysis/dependence_pairs.h"
#include "analysis/system_lower.h"
#include "base/check.h"

namespace cairn {

namespace {
std::atomic<std::uint64_t> fast_count{0};
std::atomic<std::uint64_t> isl_count{0};
std::atomic<std::uint64_t> unknown_count{0};
std::atomic<DependenceMode> current_mode{DependenceMode::automatic};

Feasible decide(const IntegerSystem& system, std::vector<std::int64_t>* point) {
  const DependenceMode mode = current_mode.load(std::memory_order_relaxed);
  if (mode != DependenceMode::isl_only) {
    const Feasible fast = decide_fast(system, point);
    if (fast != Feasible::unknown || mode == DependenceMode::fast_only) {
      (fast == Feasible::unknown ? unknown_count : fast_count).fetch_add(1, std::memory_order_relaxed);
      return fast;
    }
  }
  const Feasible slow = decide_isl(system, point);
  (slow == Feasible::unknown ? unknown_count : isl_count).fetch_add(1, std::memory_order_relaxed);
  return slow;
}

struct Instance {
  LowerScope scope;
  std::vector<int> loops;   // system variables of the access's loops
};

void add_loop(Instance& x, SystemLowering& lowering, const Stmt& loop, int shared) {
  const Interval range{0, loop.extent - 1};
  int v = shared;
  if (v < 0) {
    v = lowering.system.add_variable(range);
  } else {
    lowering.system.narrow(v, range);
  }
  x.loops.push_back(v);
  x.scope.variables.emplace_back(loop.var, v);
}

void add_conditions(const Access& access, Instance& x, SystemLowering& lowering) {
  for (const Condition& c : access.conditions) lowering.assume(*c.cond, c.holds, x.scope);
}

int loop_variable(const Instance& x, const std::string& name) {
  const int v = x.scope.variable(name);
  CAIRN_CHECK_MSG(v >= 0, "a relation names a loop that the access does not stand in: " + name);
  return v;
}

// A subscript that is the loop's plain variable on both sides tells iterations of the loop apart: most often that
// is all there is to say.
bool plainly_apart(const Access& a, const Access& b, const std::vector<PairRelation>& relations) {
  const std::size_t rank = std::min(a.subscripts.size(), b.subscripts.size());
  for (const PairRelation& r : relations) {
    if (r.order != Order::less && r.order != Order::greater) continue;
    for (std::size_t i = 0; i < rank; ++i) {
      const Expr& x = *a.subscripts[i];
      const Expr& y = *b.subscripts[i];
      if (x.op == Op::loop_var && y.op == Op::loop_var && x.name == r.var_a && y.name == r.var_b) return true;
    }
  }
  return false;
}

Touch ask(const Access& a, const Access& b, const std::vector<PairRelation>& relations, bool want_point) {
  if (a.tensor != b.tensor) return {};
  if (a.subscripts.size() == b.subscripts.size() && current_mode.load(std::memory_order_relaxed) != DependenceMode::isl_only &&
      plainly_apart(a, b, relations)) {
    fast_count.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  SystemLowering lowering;
  Instance x;
  Instance y;
  for (const Stmt* loop : a.loops) add_loop(x, lowering, *loop, -1);
  for (const Stmt* loop : b.loops) {
    int shared = -1;
    for (const PairRelation& r : relations) {
      if (r.order == Order::equal && r.var_b == loop->var) shared = loop_variable(x, r.var_a);
    }
    add_loop(y, lowering, *loop, shared);
  }
  for (const PairRelation& r : relations) {
    if (r.order == Order::any) continue;
    const int va = loop_variable(x, r.var_a);
    const int vb = loop_variable(y, r.var_b);
    if (r.order == Order::equal || va == vb) {
      if (va == vb && r.order != Order::equal) return {};
      if (va != vb) lowering.system.add_equal(*combine_rows(variable_row(va), 1, variable_row(vb), -1));
      continue;
    }
    const bool less = r.order == Order::less;
    AffineRow gap = *combine_rows(variable_row(va), less ? -1 : 1, variable_row(vb), less ? 1 : -1);
    gap.constant -= 1;
    lowering.system.add_at_least(std::move(gap));
  }
  if (a.subscripts.size() != b.subscripts.size()) {
    lowering.exact = false;
  } else {
    for (std::size_t i = 0; i < a.subscripts.size(); ++i) {
      AffineRow difference;
      difference.terms.reserve(8);
      if (!lowering.accumulate(*a.subscripts[i], 1, x.scope, &difference) ||
          !lowering.accumulate(*b.subscripts[i], -1, y.scope, &difference)) {
        lowering.exact = false;
      } else if (!difference.is_constant()) {
        lowering.system.add_equal(std::move(difference));
      } else if (difference.constant != 0) {
        fast_count.fetch_add(1, std::memory_order_relaxed);
        return {};
      }
    }
  }
  if (!a.conditions.empty() || !b.conditions.empty()) {
    // Most pairs are told apart by their subscripts alone.
    if (current_mode.load(std::memory_order_relaxed) != DependenceMode::isl_only &&
        decide_fast(lowering.system) == Feasible::no) {
      fast_count.fetch_add(1, std::memory_order_relaxed);
      return {};
    }
    add_conditions(a, x, lowering);
    add_conditions(b, y, lowering);
  }
  Touch touch;
  std::vector<std::int64_t> point;
  const Feasible answer = decide(lowering.system, want_point ? &point : nullptr);
  if (answer == Feasible::no) return touch;
  touch.answer = answer == Feasible::yes && lowering.exact ? Answer::yes : Answer::unknown;
  if (want_point && answer == Feasible::yes) {
    for (const int v : x.loops) touch.at_a.push_back(point[static_cast<std::size_t>(v)]);
    for (const int v : y.loops) touch.at_b.push_back(point[static_cast<std::size_t>(v)]);
  }
  return touch;
}
}  // namespace

Answer may_touch(const Program&, const Access& a, const Access& b, const std::vector<PairRelation>& relations) {
  return ask(a, b, relations, false).answer;
}

Answer may_touch(const Access& a, const Access& b, const std::vector<PairRelation>& relations) {
  return ask(a, b, relations, false).answer;
}

Touch find_touch(const Access& a, const Access& b, const std::vector<PairRelation>& relations) {
  return ask(a, b, relations, true);
}

Answer may_run(const Access& access) {
  SystemLowering lowering;
  Instance x;
  for (const Stmt* loop : access.loops) add_loop(x, lowering, *loop, -1);
  add_conditions(access, x, lowering);
  const Feasible answer = decide(lowering.system, nullptr);
  if (answer == Feasible::no) return Answer::no;
  return answer == Feasible::yes && lowering.exact ? Answer::yes : Answer::unknown;
}

DependenceCounters dependence_counters() {
  return {fast_count.load(std::memory_order_relaxed), isl_count.load(std::memory_order_relaxed),
          unknown_count.load(std::memory_order_relaxed)};
}

void set_dependence_mode(DependenceMode mode) { current_mode.store(mode, std::memory_order_relaxed); }
DependenceMode dependence_mode() { return current_mode.load(std::memory_order_relaxed); }

std::optional<UpdateOp> update_of(const Access& access) {
  if (access.stmt == nullptr || !access.stmt->is_equation()) return std::nullopt;
  if (!access.is_self && !(access.is_write && reads_tensor(*access.stmt->rhs, access.tensor))) return std::nullopt;
  const auto update = match_self_update(*access.stmt);
  if (!update) return std::nullopt;
  const auto divides = [](const SelfUpdate::Operand& o) { return o.inverse; };
  if (update->op == UpdateOp::mul && std::any_of(update->others.begin(), update->others.end(), divides)) return std::nullopt;
  return update->op;
}

}  // namespace cairn
