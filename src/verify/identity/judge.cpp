// The verdict of each algebra over the recorded pairs, and the conditions of new divisors.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "ir/text.h"
#include "verify/identity/session.h"

namespace cairn::identity {

using Verdict = IdentityResult::Verdict;

namespace {
constexpr int kTiedTrials = 2;
constexpr std::size_t kOrderTrials = 64, kOrderNodes = 200'000;   // orders tried at most; terms evaluated for them
constexpr double kUnseenOrder = 0.01;

// The divisor's text with its subscripts left open: "E[..]".
std::string divisor_text(const Expr& division) {
  const ExprPtr& divisor = division.args.size() > 1 ? division.args[1] : division.args[0];
  const ExprPtr open = rewrite_expr(divisor, [](const ExprPtr& e) -> ExprPtr {
    if (e->op != Op::read || e->args.empty()) return nullptr;
    return make_read(e->name + "[..]", {});
  });
  return print_expr(*open);
}

// Operations of which the algebraic class knows only some laws.
bool is_incomplete(const Term& t) {
  if (t.kind != Kind::operation) return t.kind == Kind::round || t.kind == Kind::to_int;
  switch (t.op) {
    case Op::int_literal: case Op::float_literal: case Op::neg: case Op::add: case Op::mul: case Op::div: case Op::exp: case Op::tanh:
    case Op::select: return false;
    default: return t.type == ComputeType::f32 || t.type == ComputeType::f64 || t.type == ComputeType::boolean;
  }
}
// Whether the field may tell apart what is equal over the reals; it takes no exponential of what comes from one.
bool may_miss_laws(const TermGraph& graph, const std::vector<TermId>& cone) {
  std::unordered_set<TermId> grown;   // that exponentials went into
  for (const TermId id : cone) {
    const Term& t = graph[id];
    if (is_incomplete(t)) return true;
    TermId args[3];
    const int n = graph.operands(t, args);
    const bool from_one = std::any_of(args, args + n, [&grown](TermId a) { return grown.contains(a); });
    const bool is_exponential = t.kind == Kind::operation && (t.op == Op::exp || t.op == Op::tanh);
    if (from_one && is_exponential) return true;
    if (from_one || is_exponential) grown.insert(id);
  }
  return false;
}
}  // namespace

void Session::judge_terms(bool reassociates, IdentityResult* r) {
  std::vector<TermId> roots;
  for (const Pair& p : open_) roots.insert(roots.end(), {p.x, p.y});
  const std::vector<TermId> order = reachable(graph_, roots);
  evaluated_ += order.size();
  const std::vector<TermValue> values = evaluate_terms(graph_, order, roots, reassociates, Rng(options_.seed).split("terms").next());
  r->trials = 1;
  r->error_probability = std::min(1.0, r->error_probability + static_cast<double>(order.size()) * 0x1p-62);
  std::vector<Pair> unequal;
  bool movable = false;
  for (std::size_t i = 0; i < open_.size(); ++i) {
    // Where a comparison turns, rounding decides: an integer that only a weaker class settles is open.
    const bool integer = graph_[open_[i].x].type == ComputeType::i64 || graph_[open_[i].x].type == ComputeType::boolean;
    const bool equal = values[2 * i] == values[2 * i + 1];
    if (unequal.empty()) movable = equal && integer && reassociates;
    if (!equal || (integer && reassociates)) unequal.push_back(open_[i]);
  }
  open_ = std::move(unequal);
  r->verdict = open_.empty() ? Verdict::held : Verdict::failed;
  r->incomplete = !open_.empty() && movable;
  const char* other = movable ? "an integer that rounding may change" : reassociates ? "another reassociated term" : "another rounded term";
  r->reason = open_.empty() ? "" : origins(open_[0], other);
}

std::string Session::origins(const Pair& p, std::string_view what) const {
  return fmt::format("{} is {}: {} before, {} after", element_name(targets_[p.target].target, p.offset), what, term_text(graph_, *shared_, p.x),
                     term_text(graph_, *shared_, p.y));
}

int Session::order_trials(std::size_t nodes) const {
  const auto cheap = static_cast<int>(std::min<std::size_t>(kOrderTrials, kOrderNodes / std::max<std::size_t>(1, nodes)));
  return std::max(options_.trials, cheap);
}

// The chance that a wrong operand of some maximum never won in that many orders; 0 where the sets of operands agree.
double Session::unseen_order(const std::vector<TermId>& order, const std::vector<TermId>& roots, int trials) {
  std::size_t largest = 0;
  const std::uint64_t key = Rng(options_.seed).split("sets").next();
  const std::vector<FieldValue> values = evaluate_field(graph_, order, roots, key, FieldMode::sets, &largest);
  evaluated_ += order.size();
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
    if (values[i].kind == FieldValue::Kind::nothing || values[i + 1].kind == FieldValue::Kind::nothing) continue;
    if (!same_value(values[i], values[i + 1])) return std::pow(1 - 1 / static_cast<double>(std::max<std::size_t>(2, largest)), trials);
  }
  return 0;
}

void Session::judge_field(IdentityResult* r) {
  for (const Pair& p : open_) {
    if (graph_[p.x].type != ComputeType::i64 && graph_[p.x].type != ComputeType::boolean) continue;
    r->verdict = Verdict::failed;
    r->incomplete = true;
    r->reason = origins(p, "an integer that rounding may change");
    return;
  }
  std::vector<TermId> roots;
  for (const Pair& p : open_) roots.insert(roots.end(), {p.x, p.y});
  const std::vector<TermId> order = reachable(graph_, roots);
  std::vector<int> agreed(open_.size(), 0);
  FieldValue::Cause cause_before = FieldValue::Cause::none, cause_after = cause_before;
  std::size_t void_after = 0;
  std::size_t void_at = 0;
  r->trials = 0;
  // A wrong operand of a max shows only where it wins: more orders where they are cheap, and two trials with ties.
  const bool ordered = asks_order(graph_, order);
  const int plain = ordered ? order_trials(order.size()) : options_.trials;
  for (int trial = 0; trial < plain + (ordered ? kTiedTrials : 0); ++trial) {
    const std::uint64_t key = Rng(options_.seed).split("field").split(static_cast<std::uint64_t>(trial)).next();
    const std::vector<FieldValue> values = evaluate_field(graph_, order, roots, key, trial < plain ? FieldMode::plain : FieldMode::ties);
    evaluated_ += order.size();
    ++r->trials;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const FieldValue& x = values[2 * i];
      const FieldValue& y = values[2 * i + 1];
      if (x.kind == FieldValue::Kind::nothing) {
        cause_before = x.cause;
        continue;
      }
      if (y.kind == FieldValue::Kind::nothing) {
        cause_after = y.cause;
        void_at = i;
        ++void_after;
        continue;
      }
      ++agreed[i];
      if (same_value(x, y)) continue;
      r->verdict = Verdict::failed;
      r->reason = origins(open_[i], "another value over the field");
      r->incomplete = may_miss_laws(graph_, reachable(graph_, {open_[i].x, open_[i].y}));
      return;
    }
  }
  const auto settled = static_cast<std::size_t>(std::count_if(agreed.begin(), agreed.end(), [](int n) { return n > 0; }));
  if (void_after > 0 && std::any_of(agreed.begin(), agreed.end(), [](int n) { return n == 0; })) {
    const bool undefined = cause_after != FieldValue::Cause::unknown_sign && cause_after != FieldValue::Cause::undefined;
    r->verdict = undefined ? Verdict::failed : Verdict::absent;
    r->voided = true;
    r->reason = fmt::format("{} after is void: {}", element_name(targets_[open_[void_at].target].target, open_[void_at].offset), cause_text(cause_after));
    return;
  }
  if (settled == 0) {
    r->reason = fmt::format("every trial is void before: {}", cause_text(cause_before));
    return;
  }
  const double unseen = ordered ? unseen_order(order, roots, plain) : 0;
  if (unseen > kUnseenOrder) {
    r->reason = fmt::format("{} orders of the operands of a maximum or comparison were tried, too few to tell", plain);
    return;
  }
  r->verdict = Verdict::held;
  r->reason.clear();
  const double degree = std::min(0.5, static_cast<double>(order.size()) * 0x1p-60);
  r->error_probability = std::max({unseen, std::pow(degree, options_.trials), std::pow(0.5, std::min(900.0, static_cast<double>(settled) * options_.trials))});
  find_conditions(Rng(options_.seed).split("field").split(std::uint64_t{0}).next(), r);
}

void Session::factors_of(TermId id, std::set<TermId>* out) const {
  const Term& t = graph_[id];
  if (t.kind == Kind::round || t.kind == Kind::chain) return factors_of(t.a, out);
  if (t.kind == Kind::operation && t.op == Op::neg) return factors_of(t.a, out);
  if (t.kind == Kind::operation && t.op == Op::mul) {
    factors_of(t.a, out);
    factors_of(t.b, out);
    return;
  }
  if (t.kind == Kind::operation && (t.op == Op::sqrt || t.op == Op::rsqrt || t.op == Op::div)) return factors_of(t.a, out);
  out->insert(id);
}

// Divisors that one program has and the other lacks, unless known to be positive or negative.
void Session::find_conditions(std::uint64_t key, IdentityResult* r) {
  std::set<TermId> all;
  const auto collect = [&](const Recorder& recorder) {
    std::set<TermId> mine;
    for (const Recorder::Division& d : recorder.divisions()) factors_of(d.divisor, &mine);
    all.insert(mine.begin(), mine.end());
    return mine;
  };
  const std::set<TermId> mine_a = collect(*recorder_a_), mine_b = collect(*recorder_b_);
  if (mine_a == mine_b) return;
  const std::vector<TermId> list(all.begin(), all.end());
  const std::vector<TermId> order = reachable(graph_, list);
  const std::vector<FieldValue> values = evaluate_field(graph_, order, list, key);
  evaluated_ += order.size();
  const auto value_of = [&](TermId id) -> const FieldValue& {
    return values[static_cast<std::size_t>(std::lower_bound(list.begin(), list.end(), id) - list.begin())];
  };
  const auto residues = [&](const std::set<TermId>& of) {
    std::set<std::uint64_t> out;
    for (const TermId id : of) out.insert(value_of(id).p);
    return out;
  };
  const std::set<std::uint64_t> known_a = residues(mine_a), known_b = residues(mine_b);
  std::set<std::string> texts;
  const auto missing = [&](const Recorder& recorder, const std::set<std::uint64_t>& other) {
    for (const Recorder::Division& d : recorder.divisions()) {
      std::set<TermId> parts;
      factors_of(d.divisor, &parts);
      for (const TermId id : parts) {
        const FieldValue& v = value_of(id);
        if (v.kind != FieldValue::Kind::number || v.sign == 1 || v.sign == -1 || other.contains(v.p)) continue;
        texts.insert(divisor_text(*d.expr) + " != 0");
      }
    }
  };
  missing(*recorder_b_, known_a);
  missing(*recorder_a_, known_b);
  r->conditions.assign(texts.begin(), texts.end());
}

}  // namespace cairn::identity
