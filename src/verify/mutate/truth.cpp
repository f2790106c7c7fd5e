#include "verify/mutate/truth.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "verify/budget.h"

namespace cairn {

namespace {
// Families on which a difference beyond rounding noise is a difference over the reals.
bool is_benign(Family f) { return f == Family::normal || f == Family::uniform || f == Family::small_integers || f == Family::one_hot; }
constexpr Family kOrder[] = {Family::normal, Family::uniform, Family::small_integers, Family::one_hot,   Family::zeros,   Family::nonfinite,
                             Family::constant_rows, Family::magnitude, Family::cancellation, Family::outliers, Family::denormals};
constexpr double kNoise = 1e-9;        // relative to the element: f64 rounds at 1e-16
constexpr double kRowNoise = 1e-12;    // relative to the largest element
constexpr double kCoarser = 3;         // errors above this multiple of what rounding does to the original are a loss of precision
constexpr int kRandomRuns = 4;

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

double largest_finite(const std::vector<double>& v) {
  double m = 0;
  for (const double x : v) m = std::isfinite(x) ? std::max(m, std::fabs(x)) : m;
  return m;
}
// Errors of finite elements in units of what roundings do to the reference there.
void append_errors(const ValueMap& got, const ValueMap& reference, const std::map<std::string, std::vector<double>, std::less<>>& noise,
                   std::vector<double>& errors) {
  for (const auto& [name, ref] : reference) {
    const auto found = got.find(name);
    const auto own = noise.find(name);
    if (found == got.end() || own == noise.end() || found->second.floats.size() != ref.floats.size()) continue;
    for (std::size_t i = 0; i < ref.floats.size(); ++i) {
      const double e = std::fabs(found->second.floats[i] - ref.floats[i]);
      if (std::isfinite(e) && ref.floats[i] != 0 && own->second[i] > 0) errors.push_back(e / own->second[i]);
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
      if (in.family == Family::normal) CAIRN_CHECKED(truth.add_noise(reference, &in));
      in.runs = any = true;
    } else {
      last = working.error();
    }
    truth.inputs_.push_back(std::move(in));
  }
  if (!any) return last;
  return truth;
}

// None is below what a chain of a few roundings in the output's dtype gives.
Result<void> Truth::add_noise(const Program& reference, Input* in) const {
  for (int k = 0; k <= kRandomRuns; ++k) {
    InterpOptions run;
    run.max_instances = options_.max_instances;
    run.rounding_seed = k == 0 ? 0 : combine64(in->seed, static_cast<std::uint64_t>(k)) | 1;
    CAIRN_TRY(const ValueMap values, interpret(reference, in->values, run));
    for (const auto& [name, ref] : in->in_f64) {
      std::vector<double>& noise = in->noise.try_emplace(name, ref.floats.size(), 0.0).first->second;
      for (std::size_t i = 0; i < noise.size(); ++i) {
        const double e = std::fabs(values.at(name).floats[i] - ref.floats[i]);
        noise[i] = std::max({noise[i], 2 * unit_roundoff(ref.dtype) * std::fabs(ref.floats[i]), std::isfinite(e) ? e : 0});
      }
    }
  }
  return {};
}

void Truth::compare_values(const Input& in, const ValueMap& mine, bool in_f64, Difference* d) const {
  const auto note = [&](std::string what, bool better = false) {
    if (d->witness.empty() || better) d->witness = fmt::format("{} seed {}: {}", family_name(in.family), in.seed, what);
  };
  for (const auto& [name, ref] : in_f64 ? in.in_f64 : in.working) {
    const auto found = mine.find(name);
    if (found == mine.end() || found->second.shape != ref.shape || found->second.dtype != ref.dtype) {
      d->bits = d->real = d->defined = true;
      note(name + " is missing or of another form");
      continue;
    }
    const Value& got = found->second;
    for (std::size_t i = 0; i < ref.ints.size(); ++i) {
      if (got.ints[i] == ref.ints[i]) continue;
      d->bits = true;
      if (in_f64) d->real = d->defined = true;  // integers chosen by rounded values may move with them in the working dtype
      note(fmt::format("{}[{}] is {}, was {}", name, i, got.ints[i], ref.ints[i]));
      break;
    }
    const double row = largest_finite(ref.floats);
    for (std::size_t i = 0; i < ref.floats.size(); ++i) {
      const double a = ref.floats[i], b = got.floats[i];
      if (same(a, b)) continue;
      d->bits = true;
      if (!in_f64 || d->defined) continue;
      const bool worse = std::isfinite(a) && !std::isfinite(b);
      const bool finite = std::isfinite(a) && std::isfinite(b);
      const bool far = finite && std::fabs(a - b) > kNoise * std::max(std::fabs(a), std::fabs(b)) + kRowNoise * row;
      if (!worse && !(is_benign(in.family) && (far || !finite))) continue;
      const bool defined = !std::isnan(a);
      note(fmt::format("{}[{}] is {:.17g}, was {:.17g}", name, i, b, a), !d->real || defined);
      d->real = true;
      d->defined = defined;
    }
  }
}

Difference Truth::compare(const Program& other) const {
  Difference d;
  std::vector<double> errors;   // on the normal family
  for (const Input& in : inputs_) {
    if (!in.runs) continue;
    InterpOptions run;
    run.max_instances = options_.max_instances;
    run.in_f64 = true;
    const Result<ValueMap> exact = interpret(other, in.values, run);
    run.in_f64 = false;
    const Result<ValueMap> working = exact ? interpret(other, in.values, run) : Result<ValueMap>(exact.error());
    if (!working) {
      d.fails = d.bits = d.real = d.defined = true;
      d.witness = fmt::format("{} seed {}: {}", family_name(in.family), in.seed, working.error().message);
      return d;
    }
    compare_values(in, *exact, true, &d);
    compare_values(in, *working, false, &d);
    if (d.defined) return d;
    if (in.family == Family::normal) append_errors(*working, in.in_f64, in.noise, errors);
  }
  for (const double share : {0.75, 0.9}) {   // quantiles: a few ill-conditioned elements decide nothing
    const double e = quantile(errors, share);
    if (!(e > kCoarser)) continue;
    d.precision = true;
    d.witness = fmt::format("the error of {:.0f} in 100 elements is {:.3g} times what roundings do or more", 100 - 100 * share, e);
  }
  return d;
}

}  // namespace cairn
