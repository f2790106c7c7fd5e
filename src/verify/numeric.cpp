#include "verify/numeric.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analysis/concrete.h"
#include "ir/walk.h"
#include "verify/budget.h"
#include "verify/families.h"

namespace cairn {

namespace {
// Most telling first: what is left of the budget decides how many run.
constexpr Family kExactOrder[] = {Family::normal,        Family::nonfinite,    Family::zeros,   Family::magnitude,
                                  Family::small_integers, Family::constant_rows, Family::denormals, Family::one_hot,
                                  Family::outliers,      Family::cancellation, Family::uniform};
constexpr Family kBudgetOrder[] = {Family::normal,    Family::one_hot,       Family::small_integers, Family::nonfinite,
                                   Family::magnitude, Family::cancellation,  Family::zeros,          Family::outliers,
                                   Family::constant_rows, Family::denormals, Family::uniform};
constexpr std::uint64_t kBudgetRuns = 8;  // of `before` for one error budget
// An identity rounds at other places than the naive program: three bits more, where a drop to TF32 costs 13.
constexpr double kAlgebraicSlack = 8;

constexpr std::uint64_t kMaxRounds = 8;
constexpr std::int64_t kEnoughElements = 20'000;

// With unproved recorded conditions, what a family's mismatch means.
enum class Excuse { none, nonfinite_only, all };
Excuse excuse_of(Family family, bool conditional) {
  if (!conditional || family == Family::normal || family == Family::uniform) return Excuse::none;
  switch (family) {
    case Family::one_hot: case Family::small_integers: case Family::constant_rows: return Excuse::nonfinite_only;
    default: return Excuse::all;
  }
}

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

struct Side {
  const Program* program = nullptr;
  Slice slice;
  std::map<std::string, Box, std::less<>> boxes;
  InterpOptions options;
};

class Judge {
 public:
  Judge(const Program& before, const Program& after, const NumericOptions& options) : options_(options) {
    before_.program = &before;
    after_.program = &after;
    conditional_ = options.claim >= Exactness::algebraic &&
                   std::any_of(options.conditions.begin(), options.conditions.end(), [](const auto& c) { return !c.proved; });
    certificate_.rung = Rung::numeric;
    certificate_.held = true;
  }
  std::optional<Certificate> run(std::string* absent);

 private:
  bool plan(std::string* absent);
  bool slice(Side* side, std::uint64_t cap);
  // False when the family could not be run (not a verdict).
  bool family(Family f, std::uint64_t seed);
  void judge_output(Family f, std::uint64_t seed, const std::string& name, const Comparison& c);
  bool excused(Family f, const OutputBudget& budget, const Value& got, std::int64_t* count) const;
  void fail(std::string reason) {
    if (certificate_.held) certificate_.reason = std::move(reason);
    certificate_.held = false;
  }

  NumericOptions options_;
  Side before_, after_;
  Slice both_;   // what either needs of the inputs
  bool conditional_ = false;
  bool sampled_ = false;
  std::string before_refusal_;
  std::uint64_t family_cost_ = 1;
  Certificate certificate_;
  std::string families_;
  std::int64_t compared_ = 0, skipped_ = 0, excused_ = 0;
  double max_ulp_ = 0, relative_l2_ = 0;
};

bool Judge::slice(Side* side, std::uint64_t cap) {
  side->boxes = sample_boxes(*before_.program, options_.seed);
  Result<Slice> s = backward_slice(*side->program, side->boxes);
  if (!s) return false;
  side->slice = *std::move(s);
  side->options.slice = &side->slice;
  side->options.sampled = &side->boxes;
  side->options.max_instances = cap;
  return true;
}

bool Judge::plan(std::string* absent) {
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
  if (!slice(&before_, limit / runs_before) || !slice(&after_, limit)) {
    *absent = "no slice of the outputs could be made";
    return false;
  }
  both_ = before_.slice;
  for (const auto& [name, box] : after_.slice.wanted) {
    const auto [it, fresh] = both_.wanted.emplace(name, box);
    for (std::size_t d = 0; !fresh && d < box.size() && d < it->second.size(); ++d) it->second[d] = unite(it->second[d], box[d]);
  }
  return true;
}

bool Judge::excused(Family f, const OutputBudget& budget, const Value& got, std::int64_t* count) const {
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

void Judge::judge_output(Family f, std::uint64_t seed, const std::string& name, const Comparison& c) {
  compared_ += c.compared;
  skipped_ += c.skipped;
  max_ulp_ = std::max(max_ulp_, c.max_ulp);
  if (c.ok) {
    relative_l2_ = std::max(relative_l2_, c.relative_l2);
    return;
  }
  std::string reason = fmt::format("on family {} (seed {}): {} {}", family_name(f), seed, name, c.reason);
  if (!families_.empty()) reason += fmt::format("; equal on {}", families_);
  fail(std::move(reason));
}

bool Judge::family(Family f, std::uint64_t seed) {
  const ValueMap inputs = make_sliced_inputs(*before_.program, f, seed, sampled_ ? &both_ : nullptr);
  // A program that reads outside or before a write is not judged equal to anything; only a sampled run may be
  // too long, and an integer divisor may be zero on some families.
  const auto give_up = [this](const Error& e) {
    before_refusal_ = render(e);
    if (e.code == Code::timeout || e.message.find("division by zero") != std::string::npos) return false;
    fail("the program before does not run: " + before_refusal_);
    return true;
  };
  if (options_.claim == Exactness::exact) {
    const Result<ValueMap> a = interpret(*before_.program, inputs, before_.options);
    if (!a) return give_up(a.error());
    const Result<ValueMap> b = interpret(*after_.program, inputs, after_.options);
    if (!b) {
      if (b.error().code == Code::timeout) return before_refusal_ = render(b.error()), false;
      fail(fmt::format("on family {} (seed {}) the program after does not run: {}", family_name(f), seed, b.error().message));
      return true;
    }
    for (const auto& [name, value] : *a) judge_output(f, seed, name, compare_exact(value, b->at(name)));
    return true;
  }
  Result<Budget> budget = make_budget(*before_.program, inputs, seed, before_.options);
  if (!budget) return give_up(budget.error());
  const Result<ValueMap> b = interpret(*after_.program, inputs, after_.options);
  if (!b) {
    if (b.error().code == Code::timeout) return before_refusal_ = render(b.error()), false;
    fail(fmt::format("on family {} (seed {}) the program after does not run: {}", family_name(f), seed, b.error().message));
    return true;
  }
  for (auto& [name, one] : *budget) {
    const Value& got = b->at(name);
    if (options_.claim == Exactness::algebraic) {
      for (double& tolerance : one.tolerance) tolerance *= kAlgebraicSlack;
    }
    if (options_.claim == Exactness::changes_precision) widen_to(narrowest_float(*after_.program), &one);
    const Comparison c = compare_output(one, got);
    std::int64_t count = 0;
    if (!c.ok && excused(f, one, got, &count)) {
      excused_ += count;
      continue;
    }
    judge_output(f, seed, name, c);
  }
  return true;
}

std::optional<Certificate> Judge::run(std::string* absent) {
  if (const Result<void> same = check_interfaces(*before_.program, *after_.program); !same) {
    fail(same.error().message);
    return certificate_;
  }
  if (!plan(absent)) return std::nullopt;
  const auto& order = options_.claim == Exactness::exact ? kExactOrder : kBudgetOrder;
  std::uint64_t spent = 0;
  int ran = 0;
  // Small programs are cheap and show little a run: several seeds, until enough elements were seen.
  std::uint64_t rounds = 0;
  for (; rounds < kMaxRounds && certificate_.held; ++rounds) {
    if (rounds > 0 && (compared_ >= kEnoughElements || spent + 11 * family_cost_ > options_.budget / 50)) break;
    for (const Family f : order) {
      if (ran > 0 && spent + family_cost_ > options_.budget) break;
      if (!certificate_.held) break;
      spent += family_cost_;
      if (!family(f, options_.seed + rounds)) continue;
      ++ran;
      if (certificate_.held && rounds == 0) families_ += fmt::format("{}{}", families_.empty() ? "" : " ", family_name(f));
    }
  }
  if (ran == 0) {
    if (sampled_) {
      *absent = "a sampled slice is too large or does not run: " + before_refusal_;
      return std::nullopt;
    }
    fail("the program before does not run on any family: " + before_refusal_);
  }
  certificate_.facts = {{"shape", sampled_ ? "sampled" : "full"},
                        {"families", families_},
                        {"seed", fmt::format("{}", options_.seed)},
                        {"seeds", fmt::format("{}", rounds)},
                        {"compared", fmt::format("{}", compared_)},
                        {"skipped", fmt::format("{}", skipped_)},
                        {"max_ulp", fmt::format("{:.3g}", max_ulp_)},
                        {"relative_l2", fmt::format("{:.3g}", relative_l2_)}};
  if (conditional_) certificate_.facts.emplace_back("excused", fmt::format("{}", excused_));
  return certificate_;
}
}  // namespace

std::optional<Certificate> check_numeric(const Program& before, const Program& after, const NumericOptions& options,
                                         std::string* absent) {
  return Judge(before, after, options).run(absent);
}

}  // namespace cairn
