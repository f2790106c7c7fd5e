#include "analysis/system.h"

#include <algorithm>

namespace cairn {

namespace {
constexpr std::int64_t kLimit = std::int64_t{1} << 62;

// a * x + b * y + carry-free check; false beyond 64 bits.
bool combine(std::int64_t x, std::int64_t a, std::int64_t y, std::int64_t b, std::int64_t* out) {
  const Int128 value = static_cast<Int128>(x) * a + static_cast<Int128>(y) * b;
  if (value > kLimit || value < -kLimit) return false;
  *out = static_cast<std::int64_t>(value);
  return true;
}

bool holds_at(const Constraint& constraint, const std::vector<std::int64_t>& point) {
  Int128 value = constraint.row.constant;
  for (const auto& [variable, coef] : constraint.row.terms) {
    value += static_cast<Int128>(coef) * point[static_cast<std::size_t>(variable)];
  }
  return constraint.equal ? value == 0 : value >= 0;
}

bool all_hold(const Conjunction& all, const std::vector<std::int64_t>& point) {
  return std::all_of(all.begin(), all.end(), [&](const Constraint& c) { return holds_at(c, point); });
}
}  // namespace

std::int64_t AffineRow::coefficient(int variable) const {
  for (const auto& [v, coef] : terms) {
    if (v == variable) return coef;
  }
  return 0;
}

std::optional<AffineRow> combine_rows(const AffineRow& x, std::int64_t a, const AffineRow& y, std::int64_t b) {
  AffineRow out;
  if (!combine(x.constant, a, y.constant, b, &out.constant)) return std::nullopt;
  out.terms.reserve(x.terms.size() + y.terms.size());
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < x.terms.size() || j < y.terms.size()) {
    const bool take_x = j == y.terms.size() || (i < x.terms.size() && x.terms[i].first <= y.terms[j].first);
    const bool take_y = i == x.terms.size() || (j < y.terms.size() && y.terms[j].first <= x.terms[i].first);
    const int variable = take_x ? x.terms[i].first : y.terms[j].first;
    std::int64_t coef = 0;
    if (!combine(take_x ? x.terms[i].second : 0, a, take_y ? y.terms[j].second : 0, b, &coef)) return std::nullopt;
    if (coef != 0) out.terms.emplace_back(variable, coef);
    i += take_x ? 1 : 0;
    j += take_y ? 1 : 0;
  }
  return out;
}

bool add_scaled(AffineRow* x, std::int64_t factor, int variable) {
  auto at = std::lower_bound(x->terms.begin(), x->terms.end(), variable,
                             [](const auto& term, int v) { return term.first < v; });
  if (at == x->terms.end() || at->first != variable) {
    if (factor != 0) x->terms.emplace(at, variable, factor);
    return true;
  }
  if (!combine(at->second, 1, factor, 1, &at->second)) return false;
  if (at->second == 0) x->terms.erase(at);
  return true;
}

bool add_scaled(AffineRow* x, std::int64_t factor, const AffineRow& y) {
  if (!combine(x->constant, 1, y.constant, factor, &x->constant)) return false;
  for (const auto& [variable, coef] : y.terms) {
    std::int64_t scaled = 0;
    if (!combine(coef, factor, 0, 0, &scaled) || !add_scaled(x, scaled, variable)) return false;
  }
  return true;
}

AffineRow constant_row(std::int64_t value) {
  AffineRow row;
  row.constant = value;
  return row;
}

AffineRow variable_row(int variable) {
  AffineRow row;
  row.terms.emplace_back(variable, 1);
  return row;
}

int IntegerSystem::add_variable(Interval range) {
  ranges_.push_back(range);
  return size() - 1;
}

void IntegerSystem::narrow(int variable, Interval range) {
  Interval& own = ranges_[static_cast<std::size_t>(variable)];
  own.lo = std::max(own.lo, range.lo);
  own.hi = std::min(own.hi, range.hi);
}

void IntegerSystem::add_cases(std::vector<Conjunction> cases) {
  if (cases.size() == 1) {
    for (Constraint& c : cases[0]) constraints_.push_back(std::move(c));
    return;
  }
  disjunctions_.push_back(std::move(cases));
}

std::optional<Interval> IntegerSystem::bounds(const AffineRow& row) const {
  Int128 lo = row.constant;
  Int128 hi = row.constant;
  for (const auto& [variable, coef] : row.terms) {
    const Interval& range = ranges_[static_cast<std::size_t>(variable)];
    lo += static_cast<Int128>(coef) * (coef > 0 ? range.lo : range.hi);
    hi += static_cast<Int128>(coef) * (coef > 0 ? range.hi : range.lo);
    if (lo < -kLimit || hi > kLimit || lo > kLimit || hi < -kLimit) return std::nullopt;
  }
  return Interval{static_cast<std::int64_t>(lo), static_cast<std::int64_t>(hi)};
}

bool IntegerSystem::holds(const std::vector<std::int64_t>& point) const {
  for (std::size_t v = 0; v < ranges_.size(); ++v) {
    if (point[v] < ranges_[v].lo || point[v] > ranges_[v].hi) return false;
  }
  if (!all_hold(constraints_, point)) return false;
  return std::all_of(disjunctions_.begin(), disjunctions_.end(), [&](const std::vector<Conjunction>& cases) {
    return std::any_of(cases.begin(), cases.end(), [&](const Conjunction& c) { return all_hold(c, point); });
  });
}

}  // namespace cairn
