// How a pair fails, and the smallest pair that fails so.
#include <fmt/core.h>

#include <cmath>

#include "analysis/concrete.h"
#include "verify/budget.h"
#include "verify/families.h"
#include "verify/numeric.h"
#include "verify/shrink.h"
#include "verify/verify.h"

namespace cairn {

namespace {
constexpr std::int64_t kMaxInstances = 300'000;       // of one program, while shrinking
constexpr std::int64_t kEnoughInstances = 3'000;      // where the shrinking of large programs stops
constexpr double kSlack = 8;                          // as the numeric rung gives an identity

using Kind = PairFailure::Kind;

std::int64_t instances_of(const ShrinkCase& c) {
  std::int64_t most = 0;
  for (const Program& p : c.programs) most = std::max(most, static_cast<std::int64_t>(count_instances(p.body())));
  return most;
}

std::optional<PairFailure> refusal_of(const Program& before, const Program& after, const Target& target) {
  const auto refused = [&](const Program& p, Kind kind) -> std::optional<PairFailure> {
    const VerifyReport report = verify_program(p, target);
    const Finding* finding = report.first_refusal();
    if (finding == nullptr) return std::nullopt;
    return PairFailure{kind, finding->rule, fmt::format("rule {}: {}", finding->rule, finding->error.message)};
  };
  if (auto failure = refused(before, Kind::refused_before)) return failure;
  if (auto failure = refused(after, Kind::refused_after)) return failure;
  return std::nullopt;
}

std::string element_text(const Value& v, std::size_t i) {
  std::string text;
  auto rest = static_cast<std::int64_t>(i);
  for (std::size_t d = v.shape.size(); d-- > 0;) {
    const std::int64_t extent = std::max<std::int64_t>(1, v.shape[d]);
    text = fmt::format("{}{}{}", rest % extent, text.empty() ? "" : ",", text);
    rest /= extent;
  }
  return "[" + text + "]";
}
}  // namespace

std::optional<PairFailure> failure_on(const Program& before, const Program& after, const ValueMap& inputs, Exactness claim,
                                      const Target& target) {
  if (!check_interfaces(before, after)) return std::nullopt;
  if (auto failure = refusal_of(before, after, target)) return failure;
  InterpOptions options;
  options.max_instances = static_cast<std::uint64_t>(kMaxInstances) * 4;
  const Result<ValueMap> a = interpret(before, inputs, options);
  if (!a) return std::nullopt;
  const Result<ValueMap> b = interpret(after, inputs, options);
  if (!b) {
    if (b.error().code == Code::timeout) return std::nullopt;
    return PairFailure{Kind::run_error, 0, b.error().message};
  }
  std::optional<Budget> budget;
  if (claim != Exactness::exact) {
    Result<Budget> made = make_budget(before, inputs, 1, options);
    if (!made) return std::nullopt;
    budget = *std::move(made);
    for (auto& [name, one] : *budget) {
      for (double& tolerance : one.tolerance) tolerance *= kSlack;
    }
  }
  for (const auto& [name, x] : *a) {
    const Value& y = b->at(name);
    const std::size_t n = std::max(x.floats.size(), x.ints.size());
    for (std::size_t i = 0; i < n; ++i) {
      bool same = budget ? element_holds(budget->at(name), y, i)
                  : x.floats.empty() ? x.ints[i] == y.ints[i]
                                     : x.floats[i] == y.floats[i] || (std::isnan(x.floats[i]) && std::isnan(y.floats[i]));
      if (same) continue;
      const double before_value = x.floats.empty() ? static_cast<double>(x.ints[i]) : x.floats[i];
      const double after_value = x.floats.empty() ? static_cast<double>(y.ints[i]) : y.floats[i];
      const bool finite = std::isfinite(before_value) && std::isfinite(after_value);
      return PairFailure{finite ? Kind::value : Kind::nonfinite, 0,
                         fmt::format("{} element {} is {:.9g} before and {:.9g} after", name, element_text(x, i), before_value, after_value)};
    }
  }
  return std::nullopt;
}

std::optional<ShrinkCase> find_failing_case(const Program& before, const Program& after, Exactness claim, const Target& target,
                                            std::uint64_t seed, PairFailure* failure) {
  if (!check_interfaces(before, after)) return std::nullopt;
  ShrinkCase c{{before, after}, {}};
  if (auto refused = refusal_of(before, after, target)) {
    *failure = *std::move(refused);
    return c;
  }
  if (instances_of(c) > kMaxInstances) {
    const auto still_large = [&](const ShrinkCase& smaller) {
      return instances_of(smaller) >= kEnoughInstances && check_interfaces(smaller.programs[0], smaller.programs[1]).ok() &&
             !refusal_of(smaller.programs[0], smaller.programs[1], target);
    };
    ShrinkOptions quick;
    quick.seconds = 2;
    c = shrink_case(std::move(c), still_large, quick).smallest;
    if (instances_of(c) > kMaxInstances) return std::nullopt;
  }
  for (const Family f : {Family::normal, Family::small_integers, Family::scaled_rows, Family::one_hot, Family::zeros, Family::constant_rows,
                         Family::magnitude, Family::nonfinite, Family::cancellation, Family::outliers}) {
    for (std::uint64_t k = 0; k < 3; ++k) {
      c.inputs = make_inputs(c.programs[0], f, seed + k);
      if (auto found = failure_on(c.programs[0], c.programs[1], c.inputs, claim, target)) {
        *failure = *std::move(found);
        return c;
      }
    }
  }
  return std::nullopt;
}

std::optional<CounterExample> shrink_pair(const Program& before, const Program& after, Exactness claim, const Target& target,
                                          std::uint64_t seed, const ShrinkOptions& options) {
  CounterExample result;
  std::optional<ShrinkCase> start = find_failing_case(before, after, claim, target, seed, &result.failure);
  if (!start) return std::nullopt;
  const PairFailure wanted = result.failure;
  const auto fails = [&](const ShrinkCase& c) {
    if (instances_of(c) > kMaxInstances) return false;
    const auto failure = failure_on(c.programs[0], c.programs[1], c.inputs, claim, target);
    return failure && *failure == wanted;
  };
  result.shrunk = shrink_case(*std::move(start), fails, options);
  const ShrinkCase& end = result.shrunk.smallest;
  if (auto failure = failure_on(end.programs[0], end.programs[1], end.inputs, claim, target)) result.failure = *std::move(failure);
  return result;
}

}  // namespace cairn
