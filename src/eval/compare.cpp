#include "eval/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/core.h>

#include "eval/inputs.h"
#include "ir/numbers.h"
#include "verify/budget.h"

namespace cairn {

namespace {
double load_double(const unsigned char* bytes, std::int64_t i) {
  double x;
  std::memcpy(&x, bytes + i * 8, 8);
  return x;
}
std::int64_t load_int(const unsigned char* bytes, std::int64_t i) {
  std::int64_t x;
  std::memcpy(&x, bytes + i * 8, 8);
  return x;
}

// 0 finite, 1 NaN, 2 +inf, 3 -inf.
int class_of(double x) { return std::isfinite(x) ? 0 : std::isnan(x) ? 1 : x > 0 ? 2 : 3; }

std::string place_of(const OutputReference& r, std::int64_t i) {
  std::vector<std::int64_t> index(r.shape.size());
  for (std::size_t d = r.shape.size(); d-- > 0;) {
    index[d] = i % r.shape[d];
    i /= r.shape[d];
  }
  std::string text = r.name;
  for (std::size_t d = 0; d < index.size(); ++d) text += fmt::format("{}{}", d == 0 ? "[" : ",", index[d]);
  return index.empty() ? text : text + "]";
}

// Spacing of the dtype's values at x.
double spacing_at(Dtype dtype, double x) {
  const FloatFormat& format = float_format(dtype);
  const int exponent = x == 0 ? format.min_exponent : std::max(std::ilogb(x), format.min_exponent);
  return std::ldexp(1.0, exponent - format.precision + 1);
}

std::string compare_ints(const OutputReference& r, const unsigned char* candidate, ErrorReport* report) {
  const ElementReader read(r.dtype, candidate);
  for (std::int64_t i = 0; i < r.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (r.skip[at] != 0) {
      ++report->skipped;
      continue;
    }
    ++report->compared;
    const double expected = r.dtype == Dtype::u64 ? static_cast<double>(static_cast<std::uint64_t>(r.ints[at]))
                                                  : static_cast<double>(r.ints[at]);
    if (read(i) != expected) return fmt::format("{} is {}, expected {}", place_of(r, i), read(i), expected);
  }
  return {};
}
}  // namespace

std::vector<OutputReference> empty_references(const Program& program) {
  std::vector<OutputReference> outputs;
  for (const Tensor& t : program.tensors()) {
    if (t.role != Role::io && t.role != Role::out) continue;
    OutputReference& r = outputs.emplace_back();
    r.name = t.name;
    r.dtype = t.dtype;
    r.shape = *t.shape;
    const auto n = static_cast<std::size_t>(element_count(r.shape).value_or(0));
    if (is_float(t.dtype)) r.floats.resize(n);
    else r.ints.resize(n);
    r.own.assign(r.floats.size(), 0);
    r.skip.assign(n, 0);
  }
  return outputs;
}

std::int64_t OutputReference::row_length() const { return shape.empty() ? 1 : std::max<std::int64_t>(shape.back(), 1); }

Tolerance::Tolerance(const OutputReference& reference) : reference_(reference) {
  const auto length = static_cast<std::size_t>(reference.row_length());
  const std::size_t n = reference.own.size();
  rms_.resize(n / length);
  std::vector<double> scale(rms_.size(), 0);
  double all = 0, finite = 0;
  for (std::size_t row = 0; row < rms_.size(); ++row) {
    double own = 0, count = 0;
    for (std::size_t i = row * length; i < (row + 1) * length; ++i) {
      if (reference.skip[i] != 0 || !std::isfinite(reference.floats[i])) continue;
      own += static_cast<double>(reference.own[i]) * static_cast<double>(reference.own[i]);
      scale[row] += reference.floats[i] * reference.floats[i];
      count += 1;
    }
    all += scale[row];
    finite += count;
    if (count == 0) continue;
    rms_[row] = std::sqrt(own / count);
    scale[row] = std::sqrt(scale[row] / count);
  }
  all = finite > 0 ? std::sqrt(all / finite) : 0;
  // Errors of a row may be one error (the sum that a softmax divides by): a single row's naive runs are few
  // samples of it, the other rows are more.
  for (std::size_t row = 0; row < rms_.size(); ++row) {
    const double base = std::max(scale[row], all);
    if (base > 0) relative_ = std::max(relative_, rms_[row] / base);
  }
}

double Tolerance::operator()(std::int64_t i) const {
  const auto at = static_cast<std::size_t>(i);
  const double own = static_cast<double>(reference_.own[at]), value = reference_.floats[at];
  return std::max({2 * own, 6 * rms_[at / static_cast<std::size_t>(reference_.row_length())],
                   2 * relative_ * std::fabs(value), 2 * spacing_at(reference_.dtype, value),
                   reference_.gamma.empty() ? 0.0 : static_cast<double>(reference_.gamma[at])});
}

void note_naive_run(OutputReference& r, const unsigned char* wide) {
  for (std::size_t i = 0; i < r.ints.size(); ++i) r.skip[i] |= load_int(wide, static_cast<std::int64_t>(i)) != r.ints[i];
  for (std::size_t i = 0; i < r.floats.size(); ++i) {
    const double x = load_double(wide, static_cast<std::int64_t>(i));
    if (class_of(x) != class_of(r.floats[i])) {
      r.skip[i] = 1;
    } else if (std::isfinite(x)) {
      // Rounded up: own as a float must not be below what it was.
      r.own[i] = std::max(r.own[i], static_cast<float>(std::fabs(x - r.floats[i]) * (1 + 0x1p-20)));
    }
  }
}

std::string compare_candidate(const OutputReference& r, const unsigned char* candidate, bool whole_rows,
                              ErrorReport* report) {
  if (!is_float(r.dtype)) return compare_ints(r, candidate, report);
  const Tolerance tolerance(r);
  const ElementReader read(r.dtype, candidate);
  const std::int64_t length = r.row_length(), n = r.size();
  double error_squares = 0, reference_squares = 0;
  for (std::int64_t row = 0; row * length < n; ++row) {
    double row_squares = 0;
    for (std::int64_t i = row * length; i < (row + 1) * length; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (r.skip[at] != 0) {
        ++report->skipped;
        continue;
      }
      ++report->compared;
      const double found = read(i), expected = r.floats[at];
      if (!std::isfinite(expected)) {
        if (class_of(found) == class_of(expected)) continue;
        return fmt::format("{} is {:.9g}, expected {:.9g}", place_of(r, i), found, expected);
      }
      const double error = std::fabs(found - expected), allowed = tolerance(i);
      if (!(error <= allowed)) {
        return fmt::format("{} is {:.9g}, expected {:.9g} within {:.3g}", place_of(r, i), found, expected, allowed);
      }
      row_squares += error * error;
      reference_squares += expected * expected;
      report->max_ulp = std::max(report->max_ulp, error / spacing_at(r.dtype, expected));
      if (allowed > 0) report->worst_ratio = std::max(report->worst_ratio, error / allowed);
    }
    error_squares += row_squares;
    // The row as a whole: single elements may be unlucky, all of them may not.
    constexpr std::int64_t kShortRow = 16;
    if (!whole_rows || length < kShortRow) continue;
    const double rms = std::sqrt(row_squares / static_cast<double>(length));
    double scale = 0;
    for (std::int64_t i = row * length; i < (row + 1) * length; ++i) {
      const double x = r.floats[static_cast<std::size_t>(i)];
      if (std::isfinite(x)) scale += x * x;
    }
    const double floor = 2 * unit_roundoff(r.dtype) * std::sqrt(scale / static_cast<double>(length)) +
                         2 * spacing_at(r.dtype, 0);
    const double scaled = 2 * tolerance.relative() * std::sqrt(scale / static_cast<double>(length));
    const double allowed = std::max({3 * tolerance.row_rms(row), scaled, floor});
    if (!(rms <= allowed)) {
      return fmt::format("row {} of {} is off by {:.3g} (root mean square), expected at most {:.3g}", row, r.name, rms,
                         allowed);
    }
  }
  if (reference_squares > 0) report->relative_l2 = std::max(report->relative_l2, std::sqrt(error_squares / reference_squares));
  return {};
}

Reaction find_reaction(const OutputReference& r, const unsigned char* wide) {
  Reaction all;
  if (is_float(r.dtype)) {
    const Tolerance tolerance(r);
    for (std::int64_t i = 0; i < r.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double change = load_double(wide, i) - r.floats[at];
      if (r.skip[at] != 0 || !std::isfinite(change) || !(std::fabs(change) > 16 * tolerance(i))) continue;
      all.elements.push_back(i);
      all.change.push_back(change);
    }
  } else {
    for (std::int64_t i = 0; i < r.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double change = static_cast<double>(load_int(wide, i)) - static_cast<double>(r.ints[at]);
      if (r.skip[at] != 0 || change == 0) continue;
      all.elements.push_back(i);
      all.change.push_back(change);
    }
  }
  constexpr std::size_t kMost = 65536;
  if (all.elements.size() <= kMost) return all;
  Reaction some;
  const std::size_t step = all.elements.size() / kMost + 1;
  for (std::size_t k = 0; k < all.elements.size(); k += step) {
    some.elements.push_back(all.elements[k]);
    some.change.push_back(all.change[k]);
  }
  return some;
}

std::string compare_reaction(const OutputReference& r, const Reaction& reaction, const unsigned char* before,
                             const unsigned char* after) {
  const ElementReader was(r.dtype, before), is(r.dtype, after);
  for (std::size_t k = 0; k < reaction.elements.size(); ++k) {
    const std::int64_t i = reaction.elements[k];
    const double change = is(i) - was(i), expected = reaction.change[k];
    if (!(std::fabs(change - expected) <= 0.25 * std::fabs(expected))) {
      return fmt::format("{} changes by {:.9g}, expected {:.9g}", place_of(r, i), change, expected);
    }
  }
  return {};
}

}  // namespace cairn
