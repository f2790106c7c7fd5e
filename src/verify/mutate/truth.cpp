#include "verify/mutate/truth.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "verify/budget.h"

namespace cairn {

namespace {
// Families on which a difference beyond rounding noise is a difference over the reals.
bool is_benign(Family f) { return f == Family::normal || f == Family::uniform || f == Family::small_integers || f == Family::one_hot; }
constexpr Family kOrder[] = {Family::normal, Family::uniform, Family::small_integers, Family::one_hot,   Family::zeros,   Family::nonfinite,
                             Family::constant_rows, Family::magnitude, Family::cancellation, Family::outliers, Family::denormals};
constexpr double kNoise = 1e-9;        // relative to the element: f64 rounds at 1e-16
constexpr double kRowNoise = 1e-12;    // relative to the largest element
constexpr double kCoarser = 3;         // errors above this multiple of the original's are a loss of precision

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

double largest_finite(const std::vector<double>& v) {
  double m = 0;
  for (const double x : v) m = std::isfinite(x) ? std::max(m, std::fabs(x)) : m;
  return m;
}
// Errors of finite elements relative to the reference, none below what a chain of a few roundings in the output's dtype gives.
void append_errors(const ValueMap& got, const ValueMap& reference, std::vector<double>& errors) {
  for (const auto& [name, ref] : reference) {
    const auto found = got.find(name);
    if (found == got.end() || found->second.floats.size() != ref.floats.size()) continue;
    for (std::size_t i = 0; i < ref.floats.size(); ++i) {
      const double e = std::fabs(found->second.floats[i] - ref.floats[i]);
      if (!std::isfinite(e) || ref.floats[i] == 0) continue;
      errors.push_back(std::max(e / std::fabs(ref.floats[i]), 2 * unit_roundoff(ref.dtype)));
    }
  }
}
double quantile(std::vector<double>& errors, double share) {
  if (errors.empty()) return 0;
  const auto at = errors.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(errors.size() - 1));
  std::nth_element(errors.begin(), at, errors.end());
  return *at;
}
}  // namespace

Result<Truth> Truth::make(const Program& reference, const TruthOptions& options) {
  Truth truth;
  truth.options_ = options;
  bool any = false;
  Error last;
  for (int k = 0; k < options.inputs; ++k) {
    Input in;
    in.family = kOrder[static_cast<std::size_t>(k) % std::size(kOrder)];
    in.seed = options.seed + static_cast<std::uint64_t>(k);
    in.values = make_inputs(reference, in.family, in.seed);
    InterpOptions run;
    run.in_f64 = true;
    run.max_instances = options.max_instances;
    Result<ValueMap> exact = interpret(reference, in.values, run);
    run.in_f64 = false;
    Result<ValueMap> working = exact ? interpret(reference, in.values, run) : Result<ValueMap>(exact.error());
    if (exact && working) {
      in.in_f64 = *std::move(exact);
      in.working = *std::move(working);
      in.runs = any = true;
    } else {
      last = working.error();
    }
    truth.inputs_.push_back(std::move(in));
  }
  if (!any) return last;
  return truth;
}

Difference Truth::compare(const Program& other) const {
  Difference d;
  std::vector<double> own, theirs;   // relative errors on the normal family
  const auto note = [&d](const Input& in, std::string what) {
    if (d.witness.empty()) d.witness = fmt::format("{} seed {}: {}", family_name(in.family), in.seed, what);
  };
  for (const Input& in : inputs_) {
    if (!in.runs) continue;
    InterpOptions run;
    run.max_instances = options_.max_instances;
    run.in_f64 = true;
    const Result<ValueMap> exact = interpret(other, in.values, run);
    run.in_f64 = false;
    const Result<ValueMap> working = exact ? interpret(other, in.values, run) : Result<ValueMap>(exact.error());
    if (!working) {
      d.fails = d.bits = d.real = true;
      note(in, working.error().message);
      return d;
    }
    const auto check = [&](const ValueMap& mine, const ValueMap& reference, bool in_f64) {
      for (const auto& [name, ref] : reference) {
        const auto found = mine.find(name);
        if (found == mine.end() || found->second.shape != ref.shape || found->second.dtype != ref.dtype) {
          d.bits = d.real = true;
          note(in, name + " is missing or of another form");
          continue;
        }
        const Value& got = found->second;
        for (std::size_t i = 0; i < ref.ints.size(); ++i) {
          if (got.ints[i] == ref.ints[i]) continue;
          d.bits = true;
          if (in_f64) d.real = true;  // integers chosen by rounded values may move with them in the working dtype
          note(in, fmt::format("{}[{}] is {}, was {}", name, i, got.ints[i], ref.ints[i]));
          break;
        }
        const double row = largest_finite(ref.floats);
        for (std::size_t i = 0; i < ref.floats.size(); ++i) {
          const double a = ref.floats[i], b = got.floats[i];
          if (same(a, b)) continue;
          d.bits = true;
          if (!in_f64 || d.real) continue;
          const bool worse = std::isfinite(a) && !std::isfinite(b);
          const bool finite = std::isfinite(a) && std::isfinite(b);
          const bool far = finite && std::fabs(a - b) > kNoise * std::max(std::fabs(a), std::fabs(b)) + kRowNoise * row;
          if (worse || (is_benign(in.family) && (far || !finite))) {
            d.real = true;
            d.witness.clear();
            note(in, fmt::format("{}[{}] is {:.17g}, was {:.17g}", name, i, b, a));
          }
        }
      }
    };
    check(*exact, in.in_f64, true);
    check(*working, in.working, false);
    if (d.real) return d;
    if (in.family == Family::normal) {
      append_errors(in.working, in.in_f64, own);
      append_errors(*working, in.in_f64, theirs);
    }
  }
  for (const double share : {0.75, 0.9}) {   // quantiles: a few ill-conditioned elements decide nothing
    const double a = quantile(own, share), b = quantile(theirs, share);
    if (!(b > kCoarser * a)) continue;
    d.precision = true;
    d.witness = fmt::format("relative error {:.3g} of {:.0f} in 100 elements, was {:.3g}", b, 100 * share, a);
  }
  return d;
}

}  // namespace cairn
