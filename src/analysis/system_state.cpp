#include "analysis/system_state.h"

#include <algorithm>
#include <numeric>

namespace cairn::solver {

namespace {
constexpr std::int64_t kCoefLimit = std::int64_t{1} << 40;
constexpr std::int64_t kConstLimit = std::int64_t{1} << 60;

std::int64_t checked(State& s, Int128 value, std::int64_t limit) {
  if (value > limit || value < -limit) {
    s.overflow = true;
    return 0;
  }
  return static_cast<std::int64_t>(value);
}

// Folds fixed columns and divides by the gcd; false if the row can not hold.
bool normalise(State& s, Row& row) {
  std::int64_t g = 0;
  Int128 k = row.k;
  const std::uint64_t mask = row.mask;
  for_columns(mask, [&](int column) {
    const std::int64_t coef = row.at(column);
    if (s.fixed(column)) {
      k += static_cast<Int128>(coef) * s.low(column);
      row.set(column, 0);
    } else {
      g = std::gcd(g, coef);
    }
  });
  row.k = checked(s, k, kConstLimit);
  if (row.mask == 0) return row.equal ? row.k == 0 : row.k >= 0;
  if (g > 1) {
    if (row.equal && row.k % g != 0) return false;
    row.k = floor_div(row.k, g);
    for_columns(row.mask, [&](int column) { row.set(column, row.at(column) / g); });
  }
  return true;
}

// c * x + k (== or >=) 0 into the box of x.
bool tighten(State& s, int column, std::int64_t coef, Int128 k, bool equal, bool* changed) {
  std::int64_t& lo = s.lo[static_cast<std::size_t>(column)];
  std::int64_t& hi = s.hi[static_cast<std::size_t>(column)];
  if (k > kConstLimit || k < -kConstLimit) return true;  // no news within 64 bits
  const std::int64_t rest = static_cast<std::int64_t>(-k);
  if (equal && rest % coef != 0) return false;
  if (coef > 0 || equal) {
    const std::int64_t bound = coef > 0 ? ceil_div(rest, coef) : rest / coef;
    if (bound > lo) {
      lo = bound;
      *changed = true;
    }
  }
  if (coef < 0 || equal) {
    const std::int64_t bound = floor_div(rest, coef);
    if (bound < hi) {
      hi = bound;
      *changed = true;
    }
  }
  return lo <= hi;
}
}  // namespace

Wide range_of(const State& s, const Row& row) {
  Wide w{row.k, row.k};
  for_columns(row.mask, [&](int column) {
    const std::int64_t coef = row.at(column);
    w.lo += static_cast<Int128>(coef) * (coef > 0 ? s.low(column) : s.high(column));
    w.hi += static_cast<Int128>(coef) * (coef > 0 ? s.high(column) : s.low(column));
  });
  return w;
}

Row combine(State& s, const Row& x, std::int64_t a, const Row& y, std::int64_t b) {
  Row out;
  out.equal = x.equal && y.equal;
  out.k = checked(s, static_cast<Int128>(x.k) * a + static_cast<Int128>(y.k) * b, kConstLimit);
  for_columns(x.mask | y.mask, [&](int column) {
    out.set(column, checked(s, static_cast<Int128>(x.at(column)) * a + static_cast<Int128>(y.at(column)) * b,
                            kCoefLimit));
  });
  return out;
}

Tidy tidy(State& s) {
  for (bool again = true; again;) {
    again = false;
    std::size_t keep = 0;
    for (std::size_t r = 0; r < s.rows.size(); ++r) {
      Row& row = s.rows[r];
      if (!normalise(s, row)) return Tidy::infeasible;
      if (row.mask == 0) continue;
      if ((row.mask & (row.mask - 1)) == 0) {
        const int column = __builtin_ctzll(row.mask);
        if (!tighten(s, column, row.at(column), row.k, row.equal, &again)) return Tidy::infeasible;
        continue;
      }
      const Wide w = range_of(s, row);
      if (w.hi < 0 || (row.equal && w.lo > 0)) return Tidy::infeasible;
      if (!row.equal && w.lo >= 0) continue;
      if (keep != r) s.rows[keep] = row;
      ++keep;
    }
    s.rows.resize(keep);
    if (s.overflow) return Tidy::ok;
  }
  return Tidy::ok;
}

Tidy propagate(State& s, bool* changed) {
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds; ++round) {
    bool moved = false;
    for (const Row& row : s.rows) {
      const Wide w = range_of(s, row);
      bool alive = true;
      for_columns(row.mask, [&](int column) {
        const std::int64_t coef = row.at(column);
        const Int128 top = static_cast<Int128>(coef) * (coef > 0 ? s.high(column) : s.low(column));
        // The box may have moved since w was taken: w stays a valid, wider bound.
        if (alive) alive = tighten(s, column, coef, w.hi - top, false, &moved);
      });
      if (!alive) return Tidy::infeasible;
    }
    if (!moved) break;
    *changed = true;
  }
  return Tidy::ok;
}

bool split_radix(State& s, std::size_t index, bool* infeasible) {
  const Row row = s.rows[index];
  std::array<int, kMaxColumns> order{};
  std::size_t n = 0;
  for_columns(row.mask, [&](int column) { order[n++] = column; });
  const auto size_of = [&](int column) { return std::abs(row.at(column)); };
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n),
            [&](int a, int b) { return size_of(a) != size_of(b) ? size_of(a) > size_of(b) : a < b; });
  std::int64_t g = 0;
  Row large;
  Row small = row;
  large.equal = true;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    g = std::gcd(g, size_of(order[i]));
    if (g == 1) return false;
    large.set(order[i], row.at(order[i]));
    small.set(order[i], 0);
    if (size_of(order[i]) == size_of(order[i + 1])) continue;
    const Wide w = range_of(s, small);
    const Int128 first = w.lo >= 0 ? (w.lo + g - 1) / g : -(-w.lo / g);
    const Int128 last = w.hi >= 0 ? w.hi / g : -((-w.hi + g - 1) / g);
    if (first > last) {
      *infeasible = true;
      return true;
    }
    if (first == last) {
      const Int128 part = first * g;
      small.k = checked(s, static_cast<Int128>(small.k) - part, kConstLimit);
      large.k = checked(s, part, kConstLimit);
      s.rows[index] = small;
      s.rows.push_back(large);
      return true;
    }
  }
  return false;
}

void substitute(State& s, std::size_t index, int column, std::vector<Step>* trail) {
  const Row row = s.rows[index];
  const std::int64_t coef = row.at(column);  // 1 or -1
  s.rows[index] = s.rows.back();
  s.rows.pop_back();
  for (Row& other : s.rows) {
    if (!other.has(column)) continue;
    const bool equal = other.equal;
    other = combine(s, other, 1, row, -coef * other.at(column));
    other.set(column, 0);
    other.equal = equal;
  }
  // column = -coef * rest, so lo <= -coef * rest <= hi.
  Row rest = row;
  rest.set(column, 0);
  rest.equal = false;
  const Row none;
  Row lower = combine(s, rest, -coef, none, 0);
  Row upper = combine(s, rest, coef, none, 0);
  lower.k = checked(s, static_cast<Int128>(lower.k) - s.low(column), kConstLimit);
  upper.k = checked(s, static_cast<Int128>(upper.k) + s.high(column), kConstLimit);
  s.rows.push_back(lower);
  s.rows.push_back(upper);
  if (trail != nullptr) trail->push_back({Step::Kind::substitute, column, {row}, 0, 0});
}

void euclid_step(State& s, std::size_t index, std::vector<Step>* trail) {
  const Row row = s.rows[index];
  int column = -1;
  for_columns(row.mask, [&](int candidate) {
    if (column < 0 || std::abs(row.at(candidate)) < std::abs(row.at(column))) column = candidate;
  });
  const std::int64_t m = row.at(column);
  // z = column + sum q_i y_i with q_i = floor(c_i / m): the equality keeps m z + sum (c_i mod m) y_i.
  Row shift;  // the part sum q_i y_i
  for_columns(row.mask, [&](int y) {
    if (y != column) shift.set(y, floor_div(row.at(y), m));
  });
  for (Row& other : s.rows) {
    const std::int64_t a = other.at(column);
    if (a == 0) continue;
    const bool equal = other.equal;
    other = combine(s, other, 1, shift, -a);
    other.equal = equal;
  }
  const std::int64_t old_lo = s.low(column);
  const std::int64_t old_hi = s.high(column);
  const Wide w = range_of(s, shift);
  s.lo[static_cast<std::size_t>(column)] = checked(s, w.lo + old_lo, kConstLimit);
  s.hi[static_cast<std::size_t>(column)] = checked(s, w.hi + old_hi, kConstLimit);
  Row self;
  self.set(column, 1);
  Row lower = combine(s, self, 1, shift, -1);
  Row upper = combine(s, self, -1, shift, 1);
  lower.k = checked(s, -static_cast<Int128>(old_lo), kConstLimit);
  upper.k = old_hi;
  lower.equal = upper.equal = false;
  s.rows.push_back(lower);
  s.rows.push_back(upper);
  if (trail != nullptr) trail->push_back({Step::Kind::shift, column, {shift}, 0, 0});
}

void eliminate(State& s, int column, bool dark, std::vector<Step>* trail) {
  std::vector<Row> lowers;
  std::vector<Row> uppers;
  std::vector<Row> rest;
  rest.reserve(s.rows.size() + 8);
  for (const Row& row : s.rows) {
    if (!row.has(column)) {
      rest.push_back(row);
    } else {
      (row.at(column) > 0 ? lowers : uppers).push_back(row);
    }
  }
  Step step{Step::Kind::eliminate, column, lowers, s.low(column), s.high(column)};
  Row low;   // column - lo >= 0
  Row high;  // hi - column >= 0
  low.set(column, 1);
  low.k = checked(s, -static_cast<Int128>(s.low(column)), kConstLimit);
  high.set(column, -1);
  high.k = s.high(column);
  const auto pair_up = [&](const Row& lower, const Row& upper) {
    const std::int64_t a = lower.at(column);
    const std::int64_t b = -upper.at(column);
    Row row = combine(s, lower, b, upper, a);
    row.set(column, 0);
    if (dark) row.k = checked(s, row.k - static_cast<Int128>(a - 1) * (b - 1), kConstLimit);
    rest.push_back(row);
  };
  for (const Row& lower : lowers) {
    pair_up(lower, high);
    for (const Row& upper : uppers) pair_up(lower, upper);
  }
  for (const Row& upper : uppers) pair_up(low, upper);
  s.rows = std::move(rest);
  if (s.rows.size() > kMaxRows) s.overflow = true;
  if (trail != nullptr) trail->push_back(std::move(step));
}

bool rebuild(const std::vector<Step>& trail, std::vector<std::int64_t>* values) {
  const auto rest_of = [&](const Row& row, int column) {
    Int128 sum = row.k;
    for_columns(row.mask, [&](int c) {
      if (c != column) sum += static_cast<Int128>(row.at(c)) * (*values)[static_cast<std::size_t>(c)];
    });
    return sum;
  };
  for (auto step = trail.rbegin(); step != trail.rend(); ++step) {
    std::int64_t& value = (*values)[static_cast<std::size_t>(step->column)];
    Int128 x = 0;
    switch (step->kind) {
      case Step::Kind::substitute: {
        const Int128 rest = rest_of(step->rows[0], step->column);
        x = step->rows[0].at(step->column) > 0 ? -rest : rest;
        break;
      }
      case Step::Kind::shift: x = value - rest_of(step->rows[0], step->column); break;
      case Step::Kind::eliminate:
        x = step->lo;
        for (const Row& row : step->rows) {
          const Int128 rest = rest_of(row, step->column);
          if (rest > kConstLimit || rest < -kConstLimit) return false;
          x = std::max<Int128>(x, ceil_div(-static_cast<std::int64_t>(rest), row.at(step->column)));
        }
        break;
    }
    if (x > kConstLimit || x < -kConstLimit) return false;
    value = static_cast<std::int64_t>(x);
  }
  return true;
}

}  // namespace cairn::solver
