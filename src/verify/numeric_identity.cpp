// The numeric rung for algebraic claims: an identity holds over the reals, so it is judged where both programs keep to real
// arithmetic, within the rounding errors of either; conditions that are false elsewhere are named.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "verify/numeric_judge.h"

namespace cairn {

namespace {
// An identity rounds at other places than the naive program: three bits more, where a drop to TF32 costs 13.
constexpr double kAlgebraicSlack = 8;

bool is_ordinary(Family f) {
  return f == Family::normal || f == Family::scaled_rows || f == Family::constant_rows || f == Family::uniform;
}

// With unproved recorded conditions, what a family's mismatch means.
enum class Excuse { none, nonfinite_only, all };
Excuse excuse_of(Family family, bool conditional) {
  if (!conditional || family == Family::normal || family == Family::uniform) return Excuse::none;
  switch (family) {
    case Family::one_hot: case Family::small_integers: case Family::constant_rows: return Excuse::nonfinite_only;
    default: return Excuse::all;
  }
}

}  // namespace

bool NumericJudge::excused(Family f, const OutputBudget& budget, const Value& got, std::int64_t* count) const {
  const Excuse excuse = excuse_of(f, conditional_);
  if (excuse == Excuse::none || got.floats.size() != budget.reference.floats.size()) return false;
  OutputBudget lenient = budget;
  for (std::size_t i = 0; i < got.floats.size(); ++i) {
    const double ref = budget.reference.floats[i];
    const bool finite = std::isfinite(got.floats[i]) && std::isfinite(ref);
    if (finite && excuse == Excuse::nonfinite_only) continue;
    if (got.floats[i] == ref || (std::isnan(got.floats[i]) && std::isnan(ref))) continue;
    const double off = std::fabs(got.floats[i] - ref);
    if (!lenient.skip[i] && !(off <= budget.tolerance[i])) {
      ++*count;
      lenient.skip[i] = 1;
      lenient.naive.floats[i] = std::nan("");
    }
  }
  return compare_output(lenient, got).ok;
}

void NumericJudge::judge_identity(Family f, const std::string& on, const ValueMap& inputs, Budget* budget, const ValueMap& results) {
  std::optional<std::map<std::string, std::vector<double>, std::less<>>> own;
  explainer_->begin(inputs, options_.budget);
  for (auto& [name, one] : *budget) {
    const Value& got = results.at(name);
    for (double& tolerance : one.tolerance) tolerance *= kAlgebraicSlack;
    const std::size_t n = std::max(got.floats.size(), got.ints.size());
    std::vector<std::size_t> failing;
    for (std::size_t i = 0; i < n && one.skip.size() == n; ++i) {
      if (!element_holds(one, got, i)) failing.push_back(i);
    }
    std::set<std::string> conditions;
    OutputBudget judged = one;
    if (!failing.empty() && got.ints.empty() && keeps_precision_) {
      if (!own) {
        Result<std::map<std::string, std::vector<double>, std::less<>>> errors = rounding_errors(*after_.program, inputs, options_.seed, after_.options);
        own.emplace();
        if (errors) own = *std::move(errors);
      }
      const auto errors = own->find(name);
      for (const std::size_t i : failing) {
        const double ref = one.reference.floats[i], off = std::fabs(got.floats[i] - ref);
        if (errors == own->end() || judged.skip[i] || !std::isfinite(off)) continue;   // roundings alone may even overflow
        const double wider = one.tolerance[i] + 2 * kAlgebraicSlack * errors->second[i];
        if (!(off <= wider)) continue;
        ++ill_conditioned_;
        judged.tolerance[i] = wider;
        // More than half of the digits are lost: not what one calls equal.
        if (!(off * off > unit_roundoff(got.dtype) * ref * ref)) continue;
        conditions.insert(fmt::format("after {}: no cancellation", changed_sum(*before_.program, *after_.program)));
      }
      std::erase_if(failing, [&](std::size_t i) { return element_holds(judged, got, i); });
    }
    const std::vector<std::size_t> open = failing;
    if (!failing.empty()) explainer_->explain(name, &failing, &conditions);
    for (const std::size_t i : open) {
      if (std::binary_search(failing.begin(), failing.end(), i)) continue;
      ++excused_;
      judged.skip[i] = 1;
      if (got.ints.empty()) judged.naive.floats[i] = std::nan("");
    }
    add_conditions(is_ordinary(f), on, conditions);
    std::int64_t count = 0;
    const Comparison c = compare_output(judged, got);
    if (!c.ok && excused(f, judged, got, &count)) excused_ += count;
    else judge_output(on, name, c);
  }
}

void NumericJudge::add_conditions(bool withhold, const std::string& on, const std::set<std::string>& conditions) {
  const auto add = [](std::vector<std::string>* list, const std::string& text) {
    if (std::find(list->begin(), list->end(), text) == list->end()) list->push_back(text);
  };
  for (const std::string& text : conditions) {
    if (withhold && withheld_.empty()) withheld_on_ = on;
    add(withhold ? &withheld_ : &conditions_, text);
  }
}

// Inputs scaled up step by step until one program overflows where the other does not.
void NumericJudge::scale_to_overflow() {
  const NumericMemo::Inputs made = inputs_of(Family::normal, options_.seed);
  const ValueMap& inputs = **made.values;
  for (std::size_t h = 0; h <= hot_.size() && certificate_.held; ++h) {
    if (hot_.size() < 2 && h == hot_.size()) break;   // all of them together
    bool named = false;   // one overflow tells enough
    for (double scale = 16; scale <= 4096 && certificate_.held && !named; scale *= 2) {
      if (spent_ + 2 * family_cost_ > options_.budget) return;
      spent_ += std::max<std::uint64_t>(1, family_cost_ / 4);
      ValueMap scaled = inputs;
      for (std::size_t k = 0; k < hot_.size(); ++k) {
        if (k != h && h != hot_.size()) continue;
        Value& v = scaled.at(hot_[k]);
        for (double& x : v.floats) x = round_to(v.dtype, x * scale);
      }
      const Result<ValueMap> a = interpret(*before_.program, scaled, before_.options);
      const Result<ValueMap> b = interpret(*after_.program, scaled, after_.options);
      if (!a || !b) continue;
      explainer_->begin(scaled, options_.budget);
      const std::string on = fmt::format("on normal values, {} times {:g}", h == hot_.size() ? "all" : hot_[h], scale);
      for (const auto& [name, value] : *a) {
        const Value& got = b->at(name);
        std::vector<std::size_t> failing;
        for (std::size_t i = 0; i < value.floats.size(); ++i) {
          if (std::isfinite(value.floats[i]) != std::isfinite(got.floats[i])) failing.push_back(i);
        }
        if (failing.empty()) continue;
        std::set<std::string> conditions;
        const std::size_t first = failing[0];
        explainer_->explain(name, &failing, &conditions);
        add_conditions(false, on, conditions);
        named |= !conditions.empty();
        if (!failing.empty() && !conditional_) {
          fail(fmt::format("{}: {} element {} is {:.9g} before and {:.9g} after", on, name, first, value.floats[first], got.floats[first]));
        }
      }
    }
  }
}

void NumericJudge::finish(std::uint64_t rounds) {
  std::vector<std::string> named = withheld_;
  for (const std::string& text : conditions_) {
    if (std::find(named.begin(), named.end(), text) == named.end()) named.push_back(text);
  }
  const bool different = !certificate_.held;
  if (!named.empty() && !conditional_ && certificate_.held) {
    const std::vector<std::string>& broken = withheld_.empty() ? conditions_ : withheld_;
    std::string list;
    for (std::size_t i = 0; i < broken.size() && i < kMaxConditions; ++i) list += (list.empty() ? "" : "; ") + broken[i];
    fail(fmt::format("equal only where {}{}", list, withheld_.empty() ? "" : fmt::format(" ({} it is false)", withheld_on_)));
    certificate_.reason = certificate_.reason.substr(0, 2000);
  }
  certificate_.facts = {{"shape", sampled_ ? "sampled" : "full"},
                        {"families", families_},
                        {"seed", fmt::format("{}", options_.seed)},
                        {"seeds", fmt::format("{}", rounds)},
                        {"compared", fmt::format("{}", compared_)},
                        {"skipped", fmt::format("{}", skipped_)},
                        {"max_ulp", fmt::format("{:.3g}", max_ulp_)},
                        {"relative_l2", fmt::format("{:.3g}", relative_l2_)}};
  if (!explainer_) {
    if (excused_ > 0) certificate_.facts.emplace_back("excused", fmt::format("{}", excused_));
    return;
  }
  certificate_.facts.emplace_back("excused", fmt::format("{}", excused_));
  certificate_.facts.emplace_back("ill_conditioned", fmt::format("{}", ill_conditioned_));
  if (different) return;
  if (!certificate_.held) {
    certificate_.facts.emplace_back("verdict", "conditional");
    certificate_.facts.emplace_back("broken_by", withheld_.empty() ? "extreme" : "ordinary");
  }
  for (std::size_t i = 0; i < named.size() && i < kMaxConditions; ++i) certificate_.facts.emplace_back(fmt::format("condition_{}", i + 1), named[i]);
}
}  // namespace cairn
