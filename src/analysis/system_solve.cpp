#include <algorithm>
#include <limits>

#include "analysis/system.h"
#include "analysis/system_state.h"

namespace cairn {

namespace {
using namespace solver;

class Solver {
 public:
  Solver(bool want_point, int budget) : budget_(budget), want_point_(want_point) {}

  Feasible solve(State& s) {
    if (--budget_ < 0) return Feasible::unknown;
    const std::size_t mark = trail_.size();
    const Feasible answer = decide(s);
    trail_.resize(mark);
    return answer;
  }

  const std::vector<std::int64_t>& values() const { return values_; }
  int budget() const { return budget_; }

 private:
  std::vector<Step>* trail() { return want_point_ ? &trail_ : nullptr; }

  Feasible decide(State& s) {
    constexpr int kSteps = 400;
    for (int step = 0; step < kSteps; ++step) {
      if (tidy(s) == Tidy::infeasible) return s.overflow ? Feasible::unknown : Feasible::no;
      if (s.overflow || s.rows.size() > kMaxRows) return Feasible::unknown;
      if (s.rows.empty()) return finish(s);
      const bool equalities = std::any_of(s.rows.begin(), s.rows.end(), [](const Row& r) { return r.equal; });
      if (equalities) {
        bool infeasible = false;
        reduce_equality(s, &infeasible);
        if (infeasible) return Feasible::no;
        continue;
      }
      int column = -1;
      bool exact = false;
      choose(s, &column, &exact);
      if (exact) {
        eliminate(s, column, false, trail());
        continue;
      }
      bool changed = false;
      if (propagate(s, &changed) == Tidy::infeasible) return Feasible::no;
      if (changed) continue;
      return branch(s, column);
    }
    return Feasible::unknown;
  }

  // Takes the cheapest of: a substitution that needs no new bounds, a radix split, any unit, Euclid.
  void reduce_equality(State& s, bool* infeasible) {
    std::size_t unit_row = s.rows.size();
    int unit_column = -1;
    std::size_t first = s.rows.size();
    for (std::size_t r = 0; r < s.rows.size(); ++r) {
      const Row& row = s.rows[r];
      if (!row.equal) continue;
      if (first == s.rows.size()) first = r;
      const Wide w = range_of(s, row);
      int free_column = -1;
      for_columns(row.mask, [&](int column) {
        const std::int64_t coef = row.at(column);
        if (coef != 1 && coef != -1) return;
        if (unit_column < 0) {
          unit_row = r;
          unit_column = column;
        }
        // column = -coef * rest: its box adds nothing if the rest's range lies within.
        const Int128 own_lo = coef > 0 ? s.low(column) : -static_cast<Int128>(s.high(column));
        const Int128 own_hi = coef > 0 ? s.high(column) : -static_cast<Int128>(s.low(column));
        if (w.lo - own_lo >= -own_hi && w.hi - own_hi <= -own_lo) free_column = column;
      });
      if (free_column >= 0) {
        substitute(s, r, free_column, trail());
        return;
      }
    }
    for (std::size_t r = 0; r < s.rows.size(); ++r) {
      if (s.rows[r].equal && split_radix(s, r, infeasible)) return;
    }
    if (unit_column >= 0) {
      substitute(s, unit_row, unit_column, trail());
    } else {
      euclid_step(s, first, trail());
    }
  }

  // The column with the least growth among the exactly removable ones; else among all.
  static void choose(const State& s, int* best, bool* exact) {
    struct Count {
      std::int64_t lowers = 0, uppers = 0;
      bool unit_lowers = true, unit_uppers = true;
    };
    std::array<Count, kMaxColumns> counts{};
    std::uint64_t all = 0;
    for (const Row& row : s.rows) {
      all |= row.mask;
      for_columns(row.mask, [&](int column) {
        Count& n = counts[static_cast<std::size_t>(column)];
        const std::int64_t coef = row.at(column);
        (coef > 0 ? n.lowers : n.uppers) += 1;
        if (coef > 1) n.unit_lowers = false;
        if (coef < -1) n.unit_uppers = false;
      });
    }
    std::int64_t best_cost = std::numeric_limits<std::int64_t>::max();
    for_columns(all, [&](int column) {
      const Count& n = counts[static_cast<std::size_t>(column)];
      const bool is_exact = n.unit_lowers || n.unit_uppers;
      const std::int64_t cost = n.lowers * n.uppers;
      if (*best >= 0 && (is_exact != *exact ? *exact : cost >= best_cost)) return;
      *best = column;
      *exact = is_exact;
      best_cost = cost;
    });
  }

  // No exact elimination: dark shadow (yes is yes), real shadow (no is no), then halves of a box.
  Feasible branch(State& s, int column) {
    {
      State dark = s;
      const std::size_t mark = trail_.size();
      eliminate(dark, column, true, trail());
      const Feasible answer = solve(dark);
      trail_.resize(mark);
      if (answer == Feasible::yes) return answer;
      State real = s;
      eliminate(real, column, false, trail());
      const Feasible shadow = solve(real);
      trail_.resize(mark);
      if (shadow == Feasible::no) return shadow;
    }
    int narrow = -1;
    for (const Row& row : s.rows) {
      for_columns(row.mask, [&](int c) {
        const auto width = [&](int v) { return static_cast<Int128>(s.high(v)) - s.low(v); };
        if (narrow < 0 || width(c) < width(narrow)) narrow = c;
      });
    }
    const std::size_t at = static_cast<std::size_t>(narrow);
    const std::int64_t middle = s.lo[at] + (s.hi[at] - s.lo[at]) / 2;
    State left = s;
    left.hi[at] = middle;
    const Feasible below = solve(left);
    if (below == Feasible::yes) return below;
    s.lo[at] = middle + 1;
    const Feasible above = solve(s);
    if (above == Feasible::yes) return above;
    return below == Feasible::no && above == Feasible::no ? Feasible::no : Feasible::unknown;
  }

  Feasible finish(const State& s) {
    if (!want_point_) return Feasible::yes;
    values_.assign(s.lo.begin(), s.lo.begin() + s.columns);
    return rebuild(trail_, &values_) ? Feasible::yes : Feasible::unknown;
  }

  int budget_;
  bool want_point_;
  std::vector<Step> trail_;
  std::vector<std::int64_t> values_;
};

// The conjunctive part as dense rows over the variables that occur in it.
class Compact {
 public:
  explicit Compact(const IntegerSystem& system) : column_(static_cast<std::size_t>(system.size()), -1) {}

  bool add(const IntegerSystem& system, const Constraint& constraint, State& s) {
    Row row;
    row.equal = constraint.equal;
    row.k = constraint.row.constant;
    for (const auto& [variable, coef] : constraint.row.terms) {
      int& column = column_[static_cast<std::size_t>(variable)];
      if (column < 0) {
        if (s.columns == kMaxColumns) return false;
        column = s.columns++;
        const Interval range = system.ranges()[static_cast<std::size_t>(variable)];
        s.lo[static_cast<std::size_t>(column)] = range.lo;
        s.hi[static_cast<std::size_t>(column)] = range.hi;
      }
      row.set(column, coef);
    }
    s.rows.push_back(row);
    return s.rows.size() <= kMaxRows;
  }

  void expand(const IntegerSystem& system, const std::vector<std::int64_t>& values,
              std::vector<std::int64_t>* point) const {
    point->resize(column_.size());
    for (std::size_t v = 0; v < column_.size(); ++v) {
      (*point)[v] = column_[v] < 0 ? system.ranges()[v].lo : values[static_cast<std::size_t>(column_[v])];
    }
  }

 private:
  std::vector<int> column_;
};

constexpr int kNodes = 200;

// Rows are big: their storage is kept for the thread's next question.
thread_local std::vector<Row> spare_rows;

Feasible search_cases(const IntegerSystem& system, std::vector<const Conjunction*>& chosen, int* budget,
                      std::vector<std::int64_t>* point) {
  if (--*budget < 0) return Feasible::unknown;
  State state;
  state.rows = std::move(spare_rows);
  state.rows.clear();
  state.rows.reserve(32);
  Compact compact(system);
  bool fits = true;
  for (const Constraint& c : system.constraints()) fits = fits && compact.add(system, c, state);
  for (const Conjunction* all : chosen) {
    if (all == nullptr) continue;
    for (const Constraint& c : *all) fits = fits && compact.add(system, c, state);
  }
  if (!fits) return Feasible::unknown;
  const bool open = !system.disjunctions().empty();
  Solver solver(open || point != nullptr, *budget);
  const Feasible base = solver.solve(state);
  spare_rows = std::move(state.rows);
  *budget = std::min(*budget, solver.budget() + 1);
  if (base == Feasible::no) return base;
  if (base == Feasible::yes && (open || point != nullptr)) {
    std::vector<std::int64_t> found;
    compact.expand(system, solver.values(), &found);
    if (!open || system.holds(found)) {
      if (point != nullptr) *point = std::move(found);
      return Feasible::yes;
    }
  }
  std::size_t next = 0;
  while (next < chosen.size() && chosen[next] != nullptr) ++next;
  if (next == chosen.size()) return base;
  Feasible answer = Feasible::no;
  for (const Conjunction& alternative : system.disjunctions()[next]) {
    chosen[next] = &alternative;
    const Feasible below = search_cases(system, chosen, budget, point);
    chosen[next] = nullptr;
    if (below == Feasible::yes) return below;
    if (below == Feasible::unknown) answer = below;
  }
  return answer;
}
}  // namespace

Feasible decide_fast(const IntegerSystem& system, std::vector<std::int64_t>* point) {
  for (const Interval& range : system.ranges()) {
    if (range.lo > range.hi) return Feasible::no;
  }
  std::vector<const Conjunction*> chosen(system.disjunctions().size(), nullptr);
  int budget = kNodes;
  return search_cases(system, chosen, &budget, point);
}

}  // namespace cairn
