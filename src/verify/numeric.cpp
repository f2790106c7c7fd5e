#include "verify/numeric.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analysis/concrete.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "verify/numeric_judge.h"

namespace cairn {

namespace {
// Most telling first: what is left of the budget decides how many run.
constexpr Family kExactOrder[] = {Family::normal,        Family::nonfinite,    Family::zeros,   Family::magnitude,
                                  Family::small_integers, Family::constant_rows, Family::denormals, Family::one_hot,
                                  Family::outliers,      Family::cancellation, Family::uniform};
constexpr Family kBudgetOrder[] = {Family::normal,    Family::one_hot,       Family::small_integers, Family::nonfinite,
                                   Family::magnitude, Family::cancellation,  Family::zeros,          Family::outliers,
                                   Family::constant_rows, Family::denormals, Family::uniform};
// The same, beginning with values that one meets in practice: up to a hundred or so, rows of zeros, equal rows. A side
// condition that is false on these withholds; one that only the others break is named.
constexpr Family kAlgebraicOrder[] = {Family::normal,    Family::scaled_rows, Family::small_integers, Family::one_hot,
                                      Family::zeros,     Family::magnitude,   Family::nonfinite,      Family::constant_rows,
                                      Family::uniform,   Family::cancellation, Family::outliers,      Family::denormals};
constexpr double kSameReal = 1e-9;        // between f64 runs, relative
constexpr double kNearMiss = 2;           // times the tolerance
constexpr std::uint64_t kMoreSamples = 4;
constexpr std::uint64_t kBudgetRuns = 8;  // of `before` for one error budget
constexpr std::uint64_t kMaxRounds = 8;
constexpr std::size_t kConfirming = 4;    // families, the most telling ones, where identity has shown the values equal
constexpr std::int64_t kEnoughElements = 20'000;
constexpr int kSampleSizes = 2;           // of sample_boxes

// The narrowest float dtype that a program stores or converts to: the precision it states.
Dtype narrowest_float(const Program& program) {
  Dtype narrowest = Dtype::f64;
  const auto meet = [&narrowest](Dtype d) {
    if (is_float(d) && unit_roundoff(d) > unit_roundoff(narrowest)) narrowest = d;
  };
  for (const Tensor& t : program.tensors()) meet(t.dtype);
  rewrite_exprs(program.body(), [&meet](const ExprPtr& e) -> ExprPtr {
    if (e->op == Op::cast) meet(e->dtype);
    return nullptr;
  });
  return narrowest;
}

// Operands rounded to `dtype`, sums wider: 4*u*||terms||_2 where the terms are known, else a few units of the
// largest value of the row.
void widen_to(Dtype dtype, OutputBudget* budget) {
  const double u = unit_roundoff(dtype);
  const std::vector<double>& ref = budget->reference.floats;
  const Shape& shape = budget->reference.shape;
  const auto width = static_cast<std::size_t>(shape.empty() ? 1 : std::max<std::int64_t>(1, shape.back()));
  for (std::size_t start = 0; start < ref.size(); start += width) {
    const std::size_t end = std::min(ref.size(), start + width);
    double largest = 0;
    for (std::size_t i = start; i < end; ++i) largest = std::max(largest, std::isfinite(ref[i]) ? std::fabs(ref[i]) : 0);
    for (std::size_t i = start; i < end; ++i) {
      const double wide = budget->terms.empty() ? 8 * u * largest : 4 * u * budget->terms[i];
      if (std::isfinite(wide)) budget->tolerance[i] = std::max(budget->tolerance[i], wide);
    }
  }
}

}  // namespace

bool NumericJudge::slice(JudgedSide* side, std::uint64_t cap, int sample) {
  side->boxes = sample_boxes(*before_.program, options_.seed, sample);
  Result<Slice> s = backward_slice(*side->program, side->boxes);
  if (!s) return false;
  side->slice = *std::move(s);
  side->options.slice = &side->slice;
  side->options.sampled = &side->boxes;
  side->options.max_instances = cap;
  return true;
}

bool NumericJudge::plan(std::string* absent) {
  std::int64_t elements = 0;
  for (const Tensor& t : before_.program->tensors()) {
    if (t.role != Role::tmp && t.shape) elements += element_count(*t.shape).value_or(INT64_MAX / 64);
    if (elements > options_.max_input_elements) {
      *absent = fmt::format("inputs of more than {} elements", options_.max_input_elements);
      return false;
    }
  }
  const std::uint64_t runs_before = options_.claim == Exactness::exact ? 1 : kBudgetRuns;
  const auto n = static_cast<std::uint64_t>(count_instances(before_.program->body()));
  const auto m = static_cast<std::uint64_t>(count_instances(after_.program->body()));
  const std::uint64_t limit = options_.budget / 3;  // three families at least
  const auto per_input = static_cast<std::uint64_t>(elements) * 3;
  if (n <= limit / runs_before && m <= limit && n * runs_before + m + per_input <= limit) {
    family_cost_ = std::max<std::uint64_t>(1, n * runs_before + m + per_input);
    before_.options.max_instances = after_.options.max_instances = options_.budget;
    return true;
  }
  sampled_ = true;
  family_cost_ = limit;
  const std::uint64_t cap = limit / runs_before;
  for (int sample = 0; sample < kSampleSizes; ++sample) {
    if (memo_->is_too_large(sample, cap)) continue;
    if (!slice(&before_, cap, sample) || !slice(&after_, limit, sample)) {
      *absent = "no slice of the outputs could be made";
      return false;
    }
    both_ = before_.slice;
    for (const auto& [name, box] : after_.slice.wanted) {
      const auto [it, fresh] = both_.wanted.emplace(name, box);
      for (std::size_t d = 0; !fresh && d < box.size() && d < it->second.size(); ++d) it->second[d] = unite(it->second[d], box[d]);
    }
    // How much a slice is shows when it runs; another family's will be no smaller.
    const NumericMemo::Values probe = run_plain(before_, inputs_of(Family::normal, options_.seed));
    if (probe->ok() || probe->error().code != Code::timeout) return true;
    memo_->note_too_large(sample, cap);
  }
  *absent = fmt::format("a slice of one element of each output needs more than {} equations", cap);
  return false;
}

NumericMemo::Values NumericJudge::run_plain(JudgedSide& side, const NumericMemo::Inputs& inputs) {
  if (!side.text) side.text = digest_bytes(print_program(*side.program));
  return memo_->run(*side.program, *side.text, inputs, side.options);
}

NumericMemo::Inputs NumericJudge::inputs_of(Family f, std::uint64_t seed) {
  return memo_->inputs(*before_.program, f, seed, sampled_ ? &both_ : nullptr);
}

void NumericJudge::judge_output(const std::string& on, const std::string& name, const Comparison& c) {
  compared_ += c.compared;
  skipped_ += c.skipped;
  max_ulp_ = std::max(max_ulp_, c.max_ulp);
  if (c.ok) {
    relative_l2_ = std::max(relative_l2_, c.relative_l2);
    return;
  }
  std::string reason = fmt::format("{}: {} {}", on, name, c.reason);
  if (!families_.empty()) reason += fmt::format("; equal on {}", families_);
  fail(std::move(reason));
}

bool NumericJudge::family(Family f, std::uint64_t seed) {
  const NumericMemo::Inputs made = inputs_of(f, seed);
  const ValueMap& inputs = **made.values;
  const std::string on = fmt::format("on family {} (seed {})", family_name(f), seed);
  // A program that reads outside or before a write is not judged equal to anything; only a sampled run may be
  // too long, and an integer divisor may be zero on some families.
  const auto give_up = [this](const Error& e) {
    before_refusal_ = render(e);
    if (e.code == Code::timeout || e.message.find("division by zero") != std::string::npos) return false;
    fail("the program before does not run: " + before_refusal_);
    return true;
  };
  if (options_.claim == Exactness::exact) {
    const NumericMemo::Values run_before = run_plain(before_, made);
    const Result<ValueMap>& a = *run_before;
    if (!a) return give_up(a.error());
    const NumericMemo::Values run_after = run_plain(after_, made);
    const Result<ValueMap>& b = *run_after;
    if (!b) {
      if (b.error().code == Code::timeout) return before_refusal_ = render(b.error()), false;
      fail(fmt::format("{} the program after does not run: {}", on, b.error().message));
      return true;
    }
    for (const auto& [name, value] : *a) judge_output(on, name, compare_exact(value, b->at(name)));
    return true;
  }
  Result<Budget> budget = make_budget(*before_.program, inputs, seed, before_.options);
  if (!budget) return give_up(budget.error());
  const NumericMemo::Values run_after = run_plain(after_, made);
  const Result<ValueMap>& b = *run_after;
  if (!b) {
    if (b.error().code == Code::timeout) return before_refusal_ = render(b.error()), false;
    fail(fmt::format("{} the program after does not run: {}", on, b.error().message));
    return true;
  }
  if (options_.claim == Exactness::algebraic) {
    judge_identity(f, on, inputs, &*budget, *b);
    return true;
  }
  bool near = false;
  for (auto& [name, one] : *budget) {
    if (options_.claim == Exactness::changes_precision) widen_to(narrowest_float(*after_.program), &one);
    const Comparison c = compare_output(one, b->at(name));
    near |= !c.ok && c.worst_ratio < kNearMiss;
  }
  // A handful of runs underestimates the largest error now and then: a near miss is judged by a larger sample.
  for (std::uint64_t k = 1; near && k <= kMoreSamples; ++k) {
    Result<Budget> more = make_budget(*before_.program, inputs, combine64(seed, k), before_.options);
    if (!more) return give_up(more.error());
    for (auto& [name, one] : *budget) {
      const std::vector<double>& tolerance = more->at(name).tolerance;
      for (std::size_t i = 0; i < one.tolerance.size(); ++i) one.tolerance[i] = std::max(one.tolerance[i], tolerance[i]);
    }
  }
  if (options_.claim == Exactness::reassociates) allow_own_roundings(f, inputs, seed, *b, &*budget);
  for (const auto& [name, one] : *budget) judge_output(on, name, compare_output(one, b->at(name)));
  return true;
}

// Sums in another order make roundings of their own, where the naive order may make none, and overflow elsewhere
// (docs/decisions/0004). Where `after` is right in f64 and keeps and converts to no narrower float, an element may be off by
// what randomised rounding does to `after` itself; on extreme values it may overflow.
void NumericJudge::allow_own_roundings(Family f, const ValueMap& inputs, std::uint64_t seed, const ValueMap& got, Budget* budget) {
  if (std::all_of(budget->begin(), budget->end(), [&](const auto& b) { return compare_output(b.second, got.at(b.first)).ok; })) return;
  if (!keeps_precision(*before_.program, *after_.program)) return;
  InterpOptions wide = after_.options;
  wide.in_f64 = true;
  const Result<ValueMap> real = interpret(*after_.program, inputs, wide);
  const auto errors = rounding_errors(*after_.program, inputs, seed, after_.options);
  if (!real || !errors) return;
  const bool extreme = f == Family::magnitude || f == Family::cancellation || f == Family::outliers || f == Family::nonfinite;
  for (auto& [name, one] : *budget) {
    const auto own = errors->find(name);
    const std::vector<double>&ref = one.reference.floats, &value = got.at(name).floats, &exact = real->at(name).floats;
    if (own == errors->end() || value.size() != ref.size()) continue;
    for (std::size_t i = 0; i < ref.size(); ++i) {
      const double off = std::fabs(exact[i] - ref[i]);
      if (element_holds(one, got.at(name), i) || !std::isfinite(off)) continue;
      if (std::isfinite(value[i])) {
        const double wider = one.tolerance[i] + 2 * own->second[i];   // also of the f64 run where that is the run itself
        if (std::isfinite(wider) && off <= (exact[i] == value[i] ? wider : one.tolerance[i])) one.tolerance[i] = wider;
      } else if (extreme && off <= kSameReal * std::fabs(ref[i])) {
        ++excused_;
        one.skip[i] = 1;
        one.naive.floats[i] = std::nan("");
      }
    }
  }
}

std::optional<Certificate> NumericJudge::run(std::string* absent) {
  if (const Result<void> same = check_interfaces(*before_.program, *after_.program); !same) {
    fail(same.error().message);
    return certificate_;
  }
  if (!plan(absent)) return std::nullopt;
  std::vector<Family> order(std::begin(kBudgetOrder), std::end(kBudgetOrder));
  if (options_.claim == Exactness::exact) order.assign(std::begin(kExactOrder), std::end(kExactOrder));
  if (options_.claim == Exactness::algebraic) {
    order.assign(std::begin(kAlgebraicOrder), std::end(kAlgebraicOrder));
    explainer_.emplace(*before_.program, *after_.program, sampled_ ? &before_.boxes : nullptr);
    keeps_precision_ = keeps_precision(*before_.program, *after_.program);
    for (const Tensor& t : before_.program->tensors()) {
      if (is_float(t.dtype) && t.shape && t.role != Role::out && t.role != Role::tmp) hot_.push_back(t.name);
    }
    if (hot_.size() > kMaxHotTensors) hot_.resize(kMaxHotTensors);   // declared first: what a program works on, then its weights
    // Each input in turn is the large one: the family picks it by the seed.
    for (std::size_t k = 1; k < hot_.size(); ++k) order.insert(order.begin() + 2, Family::scaled_rows);
  } else if (options_.confirmed) {
    order.resize(kConfirming);
  }
  const std::vector<Tensor>& tensors = before_.program->tensors();
  const auto is_input = [](const Tensor& t) { return is_float(t.dtype) && t.shape && t.role != Role::out && t.role != Role::tmp; };
  const auto inputs = static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(1, std::count_if(tensors.begin(), tensors.end(), is_input)));
  int ran = 0;
  // Small programs are cheap and show little a run: several seeds, until enough elements were seen.
  std::uint64_t rounds = 0;
  const std::uint64_t max_rounds = options_.confirmed && !explainer_ ? 1 : kMaxRounds;
  for (; rounds < max_rounds && certificate_.held; ++rounds) {
    if (rounds > 0 && (compared_ >= kEnoughElements || !withheld_.empty() || spent_ + 11 * family_cost_ > options_.budget / 50)) break;
    std::uint64_t large = 0;
    for (const Family f : order) {
      if (ran > 0 && spent_ + family_cost_ > options_.budget) break;
      if (!certificate_.held) break;
      spent_ += family_cost_;
      const std::uint64_t seed = options_.seed + rounds;
      // The k-th run of scaled_rows has the k-th input large: the family picks by the seed.
      if (!family(f, f == Family::scaled_rows ? seed * inputs + large++ : seed)) continue;
      ++ran;
      if (certificate_.held && rounds == 0 && large < 2) families_ += fmt::format("{}{}", families_.empty() ? "" : " ", family_name(f));
    }
  }
  if (explainer_ && certificate_.held && withheld_.empty() && partial_operations(*before_.program) != partial_operations(*after_.program)) {
    scale_to_overflow();
  }
  if (ran == 0) {
    if (sampled_) {
      *absent = "a sampled slice is too large or does not run: " + before_refusal_;
      return std::nullopt;
    }
    fail("the program before does not run on any family: " + before_refusal_);
  }
  finish(rounds);
  return certificate_;
}

std::optional<Certificate> check_numeric(const Program& before, const Program& after, const NumericOptions& options,
                                         std::string* absent) {
  return NumericJudge(before, after, options).run(absent);
}

}  // namespace cairn
