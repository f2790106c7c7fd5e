#include "verify/budget.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "ir/numbers.h"
#include "verify/budget_terms.h"
#include "verify/perturb.h"

namespace cairn {

namespace {
constexpr int kRandomRuns = 4;

std::size_t row_width(const Value& v) {
  return static_cast<std::size_t>(v.shape.empty() ? 1 : std::max<std::int64_t>(1, v.shape.back()));
}

// Distance of a run from the reference; infinite where only one of them is finite.
double error_of(double reference, double value) {
  if (std::isnan(reference) && std::isnan(value)) return 0;
  if (reference == value) return 0;
  const double e = std::fabs(value - reference);
  return std::isnan(e) ? HUGE_VAL : e;
}

double ulp_of(Dtype dtype, double x) {
  const FloatFormat& f = float_format(dtype);
  const int exponent = x == 0 || !std::isfinite(x) ? f.min_exponent : std::max(std::ilogb(x), f.min_exponent);
  return std::ldexp(1.0, exponent - f.precision + 1);
}

void float_budget(const std::vector<const Value*>& runs, const TermNorms* terms, OutputBudget* out) {
  const std::vector<double>& ref = out->reference.floats;
  const std::size_t n = ref.size();
  const std::size_t width = row_width(out->reference);
  std::vector<double> own(n, 0);
  for (const Value* run : runs) {
    for (std::size_t i = 0; i < n; ++i) own[i] = std::max(own[i], error_of(ref[i], run->floats[i]));
  }
  out->skip.assign(n, 0);
  out->tolerance.assign(n, 0);
  const Dtype working = compute_type(out->naive.dtype) == ComputeType::f64 ? Dtype::f64 : Dtype::f32;
  const double gamma = 4 * unit_roundoff(working);
  // Results that underflow are off by units of the smallest number, enlarged by what multiplies them later.
  const double underflow = 1024 * std::ldexp(1.0, float_format(working).min_exponent - float_format(working).precision + 1);
  for (std::size_t start = 0; start < n; start += width) {
    const std::size_t end = std::min(n, start + width);
    double sum = 0;
    double count = 0;
    for (std::size_t i = start; i < end; ++i) {
      const double plain = out->naive.floats[i];
      out->skip[i] = std::isfinite(ref[i]) ? !std::isfinite(plain) : error_of(ref[i], plain) != 0;
      if (out->skip[i] || !std::isfinite(own[i])) continue;
      sum += own[i] * own[i];
      count += 1;
    }
    const double rms = count > 0 ? std::sqrt(sum / count) : 0;
    for (std::size_t i = start; i < end; ++i) {
      // Even a perfect program rounds its result: half a unit is the least own error.
      const double unit = std::isfinite(ref[i]) ? ulp_of(out->naive.dtype, ref[i]) : 0;
      out->tolerance[i] = std::max({2 * std::max(own[i], rms), unit, underflow});
      if (terms == nullptr) continue;
      const double sum_gamma = gamma * terms->norm[i] * terms->root_count[i];
      if (std::isfinite(sum_gamma)) out->tolerance[i] = std::max(out->tolerance[i], sum_gamma);
    }
  }
}

// Integers have no tolerance; those that rounding alone can change are not judged.
void integer_budget(const std::vector<const Value*>& runs, OutputBudget* out) {
  const std::size_t n = out->reference.ints.size();
  out->skip.assign(n, 0);
  out->tolerance.assign(n, 0);
  for (const Value* run : runs) {
    for (std::size_t i = 0; i < n; ++i) out->skip[i] |= run->ints[i] != out->reference.ints[i];
  }
}

std::string element(const Value& v, std::size_t i) {
  std::string text;
  auto rest = static_cast<std::int64_t>(i);
  for (std::size_t d = v.shape.size(); d-- > 0;) {
    const std::int64_t extent = std::max<std::int64_t>(1, v.shape[d]);
    text = fmt::format("{}{}{}", rest % extent, text.empty() ? "" : ",", text);
    rest /= extent;
  }
  return "[" + text + "]";
}

void fail(Comparison* c, std::string reason) {
  ++c->failed;
  if (c->ok) c->reason = std::move(reason);
  c->ok = false;
}

bool same_layout(const Value& a, const Value& b, Comparison* c) {
  if (a.shape == b.shape && is_float(a.dtype) == is_float(b.dtype) && a.floats.size() == b.floats.size() &&
      a.ints.size() == b.ints.size()) {
    return true;
  }
  fail(c, fmt::format("shapes or dtypes differ: {} and {}", dtype_name(a.dtype), dtype_name(b.dtype)));
  return false;
}
}  // namespace

double unit_roundoff(Dtype dtype) { return std::ldexp(1.0, -float_format(dtype).precision); }

Result<Budget> make_budget(const Program& naive, const ValueMap& inputs, std::uint64_t seed, const InterpOptions& options) {
  InterpOptions run = options;
  run.in_f64 = true;
  CAIRN_TRY(ValueMap reference, interpret(naive, inputs, run));
  run.in_f64 = false;
  run.rounding_seed = 0;
  CAIRN_TRY(ValueMap plain, interpret(naive, inputs, run));
  std::vector<ValueMap> random;
  for (int k = 0; k < kRandomRuns; ++k) {
    run.rounding_seed = combine64(seed, static_cast<std::uint64_t>(k)) | 1;
    CAIRN_TRY(ValueMap r, interpret(naive, inputs, run));
    random.push_back(std::move(r));
  }
  const auto norms = terms_norm(naive, inputs, options);
  Budget budget;
  for (auto& [name, ref] : reference) {
    OutputBudget out;
    out.reference = std::move(ref);
    out.naive = std::move(plain.at(name));
    std::vector<const Value*> runs{&out.naive};
    for (const ValueMap& r : random) runs.push_back(&r.at(name));
    const auto norm = norms.find(name);
    if (is_float(out.reference.dtype)) {
      float_budget(runs, norm == norms.end() ? nullptr : &norm->second, &out);
      if (norm != norms.end()) out.terms = norm->second.norm;
    } else {
      integer_budget(runs, &out);
    }
    budget.emplace(name, std::move(out));
  }
  return budget;
}

Result<std::map<std::string, std::vector<double>, std::less<>>> rounding_errors(const Program& program, const ValueMap& inputs,
                                                                               std::uint64_t seed, const InterpOptions& options) {
  InterpOptions run = options;
  run.rounding_seed = 0;
  CAIRN_TRY(const ValueMap plain, interpret(program, inputs, run));
  std::map<std::string, std::vector<double>, std::less<>> errors;
  for (int k = 0; k < kRandomRuns; ++k) {
    run.rounding_seed = combine64(seed, static_cast<std::uint64_t>(k)) | 1;
    CAIRN_TRY(const ValueMap random, interpret(perturb_operations(program, run.rounding_seed), inputs, run));
    for (const auto& [name, value] : random) {
      const std::vector<double>& base = plain.at(name).floats;
      std::vector<double>& own = errors.try_emplace(name, base.size(), 0.0).first->second;
      for (std::size_t i = 0; i < base.size(); ++i) own[i] = std::max(own[i], error_of(base[i], value.floats[i]));
    }
  }
  for (auto& [name, own] : errors) {
    const std::size_t width = row_width(plain.at(name));
    for (std::size_t start = 0; start < own.size(); start += width) {
      const std::size_t end = std::min(own.size(), start + width);
      double sum = 0, count = 0;
      for (std::size_t i = start; i < end; ++i) {
        if (!std::isfinite(own[i])) continue;
        sum += own[i] * own[i];
        count += 1;
      }
      const double rms = count > 0 ? std::sqrt(sum / count) : 0;
      for (std::size_t i = start; i < end; ++i) own[i] = std::max(own[i], rms);
    }
  }
  return errors;
}

bool element_holds(const OutputBudget& budget, const Value& candidate, std::size_t i) {
  if (!candidate.ints.empty()) return budget.skip[i] || candidate.ints[i] == budget.reference.ints[i];
  const double ref = budget.reference.floats[i];
  const double got = candidate.floats[i];
  if (budget.skip[i]) return !std::isnan(got) || std::isnan(budget.naive.floats[i]);
  return error_of(ref, got) <= budget.tolerance[i] && std::isnan(got) == std::isnan(ref);
}

Comparison compare_output(const OutputBudget& budget, const Value& candidate) {
  Comparison c;
  if (!same_layout(budget.reference, candidate, &c)) return c;
  for (std::size_t i = 0; i < candidate.ints.size(); ++i) {
    if (budget.skip[i]) {
      ++c.skipped;
      continue;
    }
    ++c.compared;
    if (candidate.ints[i] != budget.reference.ints[i]) {
      fail(&c, fmt::format("element {}: found {}, expected {}", element(candidate, i), candidate.ints[i], budget.reference.ints[i]));
    }
  }
  double err2 = 0;
  double ref2 = 0;
  for (std::size_t i = 0; i < candidate.floats.size(); ++i) {
    const double ref = budget.reference.floats[i];
    const double got = candidate.floats[i];
    if (budget.skip[i]) {
      ++c.skipped;
      if (std::isnan(got) && !std::isnan(budget.naive.floats[i])) {
        fail(&c, fmt::format("element {}: found NaN where the naive program overflows to {}", element(candidate, i),
                             budget.naive.floats[i]));
      }
      continue;
    }
    ++c.compared;
    const double tol = budget.tolerance[i];
    const double err = error_of(ref, got);
    if (!(err <= tol) || std::isnan(got) != std::isnan(ref)) {
      fail(&c, fmt::format("element {}: found {:.9g}, expected {:.9g}, off by {:.3g}, tolerance {:.3g}",
                           element(candidate, i), got, ref, err, tol));
    }
    if (!std::isfinite(ref) || !std::isfinite(got)) continue;
    err2 += err * err;
    ref2 += ref * ref;
    c.max_ulp = std::max(c.max_ulp, err / ulp_of(candidate.dtype, ref));
    if (tol > 0) c.worst_ratio = std::max(c.worst_ratio, err / tol);
  }
  c.relative_l2 = ref2 > 0 ? std::sqrt(err2 / ref2) : std::sqrt(err2);
  return c;
}

Comparison compare_exact(const Value& expected, const Value& candidate) {
  Comparison c;
  if (!same_layout(expected, candidate, &c)) return c;
  for (std::size_t i = 0; i < candidate.ints.size(); ++i) {
    ++c.compared;
    if (candidate.ints[i] != expected.ints[i]) {
      fail(&c, fmt::format("element {}: found {}, expected {}", element(candidate, i), candidate.ints[i], expected.ints[i]));
    }
  }
  for (std::size_t i = 0; i < candidate.floats.size(); ++i) {
    ++c.compared;
    const double a = expected.floats[i];
    const double b = candidate.floats[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    fail(&c, fmt::format("element {}: found {:.17g}, expected {:.17g} to the bit", element(candidate, i), b, a));
    if (std::isfinite(a) && std::isfinite(b)) c.max_ulp = std::max(c.max_ulp, std::fabs(a - b) / ulp_of(candidate.dtype, a));
  }
  return c;
}

}  // namespace cairn
