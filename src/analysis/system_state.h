// Working state of the fast solver: dense rows over at most kMaxColumns variables with boxes.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "analysis/system.h"

namespace cairn::solver {

inline constexpr int kMaxColumns = 48;
inline constexpr std::size_t kMaxRows = 96;

inline std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}
inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

// Calls fn(column) for each set bit.
template <class Fn>
void for_columns(std::uint64_t mask, Fn&& fn) {
  while (mask != 0) {
    fn(__builtin_ctzll(mask));
    mask &= mask - 1;
  }
}

// c . x + k, == 0 or >= 0. `mask` has the columns with non-zero coefficients; the others are never stored or
// copied, since rows are short and copied often.
class Row {
 public:
  std::uint64_t mask = 0;
  std::int64_t k = 0;
  bool equal = false;

  Row() {}  // NOLINT(modernize-use-equals-default): coefficients stay unset
  Row(const Row& other) { copy(other); }
  Row& operator=(const Row& other) {
    copy(other);
    return *this;
  }
  void set(int column, std::int64_t coef) {
    c_[column] = coef;
    const std::uint64_t bit = std::uint64_t{1} << column;
    mask = coef != 0 ? mask | bit : mask & ~bit;
  }
  std::int64_t at(int column) const { return has(column) ? c_[column] : 0; }
  bool has(int column) const { return (mask >> column & 1) != 0; }

 private:
  void copy(const Row& other) {
    mask = other.mask;
    k = other.k;
    equal = other.equal;
    for_columns(mask, [&](int column) { c_[column] = other.c_[column]; });
  }
  std::int64_t c_[kMaxColumns];
};

struct State {
  int columns = 0;
  std::array<std::int64_t, kMaxColumns> lo{};
  std::array<std::int64_t, kMaxColumns> hi{};
  std::vector<Row> rows;
  bool overflow = false;   // numbers grew beyond the limits: the answer is unknown

  std::int64_t low(int column) const { return lo[static_cast<std::size_t>(column)]; }
  std::int64_t high(int column) const { return hi[static_cast<std::size_t>(column)]; }
  bool fixed(int column) const { return low(column) == high(column); }
};

// Range of a row over the boxes.
struct Wide {
  Int128 lo, hi;
};
Wide range_of(const State& s, const Row& row);
// a * x + b * y as an inequality (or equality if both are); sets overflow beyond the limits.
Row combine(State& s, const Row& x, std::int64_t a, const Row& y, std::int64_t b);

enum class Tidy : std::uint8_t { ok, infeasible };
// Folds fixed variables, divides by gcds, moves single-variable rows into boxes, drops what always holds.
Tidy tidy(State& s);
// Tightens the boxes by every row, a bounded number of rounds; infeasible if one becomes empty.
Tidy propagate(State& s, bool* changed);

// Splits an equality whose large coefficients have a common divisor that only one value of the small part
// reaches (mixed radix); false if there is no such split. Infeasible if no value does.
bool split_radix(State& s, std::size_t row, bool* infeasible);

// What was removed, to rebuild a solution backwards.
struct Step {
  enum class Kind : std::uint8_t { substitute, eliminate, shift } kind = Kind::substitute;
  int column = 0;
  std::vector<Row> rows;
  std::int64_t lo = 0, hi = 0;
};
// Solves equality `row` for a unit-coefficient column and substitutes it everywhere.
void substitute(State& s, std::size_t row, int column, std::vector<Step>* trail);
// Replaces a column by a combination that lowers the equality's other coefficients (Euclid).
void euclid_step(State& s, std::size_t row, std::vector<Step>* trail);
// Fourier-Motzkin: removes a column from the inequalities; `dark` subtracts (a-1)(b-1) from each pair.
void eliminate(State& s, int column, bool dark, std::vector<Step>* trail);
// Values of removed columns from those of the others.
bool rebuild(const std::vector<Step>& trail, std::vector<std::int64_t>* values);

}  // namespace cairn::solver
