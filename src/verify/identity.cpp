#include "verify/identity.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "analysis/access_bindings.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "verify/identity/pass.h"
#include "verify/identity/recorder.h"
#include "verify/identity/targets.h"
#include "verify/numeric.h"

namespace cairn {

namespace {
using namespace identity;
using Verdict = IdentityResult::Verdict;

Program expand_bindings(const Program& program) {
  const BindingTable bindings(program);
  if (std::none_of(program.tensors().begin(), program.tensors().end(), [&](const Tensor& t) { return bindings.is_binding(t.name); })) return program;
  Program out = program;
  out.set_body(rewrite_stmts(program.body(), [&bindings](const StmtPtr& s) -> std::optional<Body> {
    if (s->is_loop()) return std::nullopt;
    if (s->is_test()) return Body{make_test(bindings.expand(s->cond), s->body, s->pos)};
    if (bindings.is_binding(s->tensor)) return std::nullopt;
    std::vector<ExprPtr> subscripts;
    for (const ExprPtr& x : s->subscripts) subscripts.push_back(bindings.expand(x));
    return Body{make_equation(s->tensor, std::move(subscripts), bindings.expand(s->rhs), s->pos)};
  }));
  return out;
}

std::string element_name(const Compared& c, std::int64_t offset) {
  std::string text;
  for (std::size_t d = c.shape->size(); d-- > 0;) {
    text = fmt::format("{}{}{}", offset % (*c.shape)[d], text.empty() ? "" : ",", text);
    offset /= (*c.shape)[d];
  }
  return text.empty() ? c.name : fmt::format("{}_{{{}}}", c.name, text);
}

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

// One pair: recorded once, judged in any class.
class Session {
 public:
  Session(const Program& before, const Program& after, const IdentityOptions& options)
      : options_(options), a_(expand_bindings(before)), b_(expand_bindings(after)) {}

  IdentityResult judge(const std::vector<Exactness>& classes);

 private:
  struct Pair {
    std::size_t target = 0;
    std::int64_t offset = 0;
    TermId x = kUnwrittenTerm, y = kUnwrittenTerm;
  };
  bool open(IdentityResult* r);
  // Records the elements of these tensors; false when refused (in r).
  bool record(const std::vector<Compared>& targets, IdentityResult* r);
  bool record_target(std::size_t index, std::uint64_t limit, IdentityResult* r);
  IdentityResult judge_targets(const std::vector<Compared>& targets, const std::vector<Exactness>& classes);
  void judge_terms(bool reassociates, IdentityResult* r);
  void judge_field(IdentityResult* r);
  void find_conditions(std::uint64_t key, IdentityResult* r);
  void factors_of(TermId id, std::set<TermId>* out) const;
  std::uint64_t work() const { return recorder_a_->work() + recorder_b_->work() + evaluated_; }

  IdentityOptions options_;
  Program a_, b_;
  Prepared code_a_, code_b_;
  std::unique_ptr<StateTable> table_a_, table_b_;
  std::unique_ptr<SharedStates> shared_;
  TermGraph graph_;
  std::unique_ptr<Recorder> recorder_a_, recorder_b_;
  std::vector<Compared> targets_;
  std::vector<Pair> open_;
  std::uint64_t evaluated_ = 0;
};

bool Session::open(IdentityResult* r) {
  const auto refuse = [r](const Error& e) {
    r->reason = e.message;
    return false;
  };
  Result<Prepared> a = prepare(a_);
  if (!a) return refuse(a.error());
  Result<Prepared> b = prepare(b_);
  if (!b) return refuse(b.error());
  code_a_ = *std::move(a);
  code_b_ = *std::move(b);
  table_a_ = std::make_unique<StateTable>(code_a_);
  table_b_ = std::make_unique<StateTable>(code_b_);
  shared_ = std::make_unique<SharedStates>(code_a_, *table_a_, code_b_, *table_b_, options_.seed);
  recorder_a_ = std::make_unique<Recorder>(code_a_, *table_a_, *shared_, &graph_);
  recorder_b_ = std::make_unique<Recorder>(code_b_, *table_b_, *shared_, &graph_);
  return true;
}

bool Session::record_target(std::size_t index, std::uint64_t limit, IdentityResult* r) {
  const Compared& c = targets_[index];
  std::vector<std::vector<std::int64_t>> cuts(c.shape->size());
  bool counted = true;
  if (c.size > options_.whole) {
    counted = collect_cuts(code_a_, c.before, c.nest_before, &cuts) && collect_cuts(code_b_, c.after, c.nest_after, &cuts);
  }
  const Elements elements = choose_elements(*c.shape, c.size, cuts, counted, options_, Rng(options_.seed).split(c.name));
  r->pieces += elements.pieces;
  std::size_t done = 0;
  for (const std::int64_t offset : elements.offsets) {
    if (done >= elements.base && work() > limit / 2) break;
    Index at{};
    std::int64_t rest = offset;
    for (std::size_t d = c.shape->size(); d-- > 0;) {
      at[d] = rest % (*c.shape)[d];
      rest /= (*c.shape)[d];
    }
    recorder_a_->set_limit(recorder_a_->work() + (limit - std::min(limit, work())));
    const TermId x = recorder_a_->element(c.before, c.nest_before, at);
    if (recorder_a_->stopped()) {
      if (done >= static_cast<std::size_t>(options_.per_piece) && !recorder_a_->faulty()) break;
      r->verdict = Verdict::absent;
      r->reason = fmt::format("{} before: {}", element_name(c, offset), recorder_a_->reason());
      return false;
    }
    recorder_b_->set_limit(recorder_b_->work() + (limit - std::min(limit, work())));
    const TermId y = recorder_b_->element(c.after, c.nest_after, at);
    if (recorder_b_->stopped()) {
      if (done >= static_cast<std::size_t>(options_.per_piece) && !recorder_b_->faulty()) break;
      r->verdict = recorder_b_->faulty() ? Verdict::failed : Verdict::absent;
      r->reason = fmt::format("{} after: {}", element_name(c, offset), recorder_b_->reason());
      return false;
    }
    ++done;
    if (x == kUnwrittenTerm && y == kUnwrittenTerm) continue;
    if (x == kUnwrittenTerm || y == kUnwrittenTerm) {
      r->verdict = Verdict::failed;
      r->reason = fmt::format("{} is never written {}", element_name(c, offset), x == kUnwrittenTerm ? "before" : "after");
      return false;
    }
    ++r->elements;
    if (x != y) open_.push_back({index, offset, x, y});
  }
  if (done < elements.offsets.size() || !elements.complete) r->sampled = true;
  recorder_a_->clear_stop();
  recorder_b_->clear_stop();
  return true;
}

bool Session::record(const std::vector<Compared>& targets, IdentityResult* r) {
  targets_ = targets;
  open_.clear();
  recorder_a_->clear_stop();
  recorder_b_->clear_stop();
  // Half of the cap is for recording, an even share a tensor.
  const std::uint64_t start = work(), cap = options_.max_nodes / 2;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const std::uint64_t share = start + cap * (i + 1) / targets_.size();
    r->compared.push_back(targets_[i].name);
    if (!record_target(i, share, r)) return false;
  }
  return true;
}

void Session::judge_terms(bool reassociates, IdentityResult* r) {
  std::vector<TermId> roots;
  for (const Pair& p : open_) roots.insert(roots.end(), {p.x, p.y});
  const std::vector<TermId> order = reachable(graph_, roots);
  evaluated_ += order.size();
  const std::vector<TermValue> values = evaluate_terms(graph_, order, roots, reassociates, Rng(options_.seed).split("terms").next());
  r->trials = 1;
  for (std::size_t i = 0; i < open_.size(); ++i) {
    if (values[2 * i] == values[2 * i + 1]) continue;
    r->verdict = Verdict::failed;
    r->reason = fmt::format("{} is another {} term after ({:016x} before, {:016x} after)", element_name(targets_[open_[i].target], open_[i].offset),
                            reassociates ? "reassociated" : "rounded", values[2 * i].a, values[2 * i + 1].a);
    return;
  }
  r->verdict = Verdict::held;
  r->error_probability = std::min(1.0, static_cast<double>(order.size()) * 0x1p-62);
}

void Session::judge_field(IdentityResult* r) {
  std::vector<TermId> roots;
  for (const Pair& p : open_) roots.insert(roots.end(), {p.x, p.y});
  const std::vector<TermId> order = reachable(graph_, roots);
  std::vector<int> agreed(open_.size(), 0);
  FieldValue::Cause cause_before = FieldValue::Cause::none, cause_after = cause_before;
  std::size_t void_after = 0;
  std::size_t void_at = 0;
  for (int trial = 0; trial < options_.trials; ++trial) {
    const std::uint64_t key = Rng(options_.seed).split("field").split(static_cast<std::uint64_t>(trial)).next();
    const std::vector<FieldValue> values = evaluate_field(graph_, order, roots, key);
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
      r->reason = fmt::format("{} is another value over the field in trial {} ({:x} before, {:x} after)",
                              element_name(targets_[open_[i].target], open_[i].offset), trial, x.p, y.p);
      const std::vector<TermId> cone = reachable(graph_, {open_[i].x, open_[i].y});
      r->incomplete = std::any_of(cone.begin(), cone.end(), [this](TermId id) { return is_incomplete(graph_[id]); });
      return;
    }
  }
  const auto settled = static_cast<std::size_t>(std::count_if(agreed.begin(), agreed.end(), [](int n) { return n > 0; }));
  if (void_after > 0 && std::any_of(agreed.begin(), agreed.end(), [](int n) { return n == 0; })) {
    const bool undefined = cause_after != FieldValue::Cause::unknown_sign && cause_after != FieldValue::Cause::undefined;
    r->verdict = undefined ? Verdict::failed : Verdict::absent;
    r->reason = fmt::format("{} after is void: {}", element_name(targets_[open_[void_at].target], open_[void_at].offset), cause_text(cause_after));
    return;
  }
  if (settled == 0) {
    r->reason = fmt::format("every trial is void before: {}", cause_text(cause_before));
    return;
  }
  r->verdict = Verdict::held;
  const double degree = std::min(0.5, static_cast<double>(order.size()) * 0x1p-60);
  r->error_probability = std::max(std::pow(degree, options_.trials), std::pow(0.5, std::min(900.0, static_cast<double>(settled) * options_.trials)));
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

IdentityResult Session::judge_targets(const std::vector<Compared>& targets, const std::vector<Exactness>& classes) {
  IdentityResult r;
  r.claim = classes.front();
  if (!record(targets, &r)) return r;
  const IdentityResult recorded = r;
  for (const Exactness claim : classes) {
    r = recorded;
    r.claim = claim;
    if (open_.empty()) {
      r.verdict = Verdict::held;  // the same terms: no hash was needed
    } else if (claim == Exactness::algebraic) {
      judge_field(&r);
    } else {
      judge_terms(claim == Exactness::reassociates, &r);
    }
    if (r.held()) break;
  }
  if (r.held() && r.elements == 0) {
    r.verdict = Verdict::absent;
    r.reason = "no element could be compared";
  }
  if (r.sampled) r.miss_probability = std::pow(0.95, static_cast<double>(r.elements));
  return r;
}

IdentityResult Session::judge(const std::vector<Exactness>& classes) {
  IdentityResult r;
  r.claim = classes.front();
  if (const Result<void> same = check_interfaces(a_, b_); !same) {
    r.verdict = Verdict::failed;
    r.reason = same.error().message;
    return r;
  }
  if (!open(&r)) return r;
  const std::vector<Compared> outputs = differing_outputs(code_a_, *table_a_, code_b_, *table_b_);
  if (outputs.empty()) {
    r.verdict = Verdict::held;  // every output is built by the same nests from the same states
    return r;
  }
  const std::vector<Compared> fed = fed_tensors(code_a_, *table_a_, code_b_, *table_b_);
  if (!fed.empty()) {
    r = judge_targets(fed, classes);
    if (r.held() && r.claim == classes.front()) {
      r.nodes = work();
      return r;
    }
    // What the tensors differ in may not matter to what reads them.
    IdentityResult whole = judge_targets(outputs, classes);
    if (!r.held() || (whole.held() && whole.claim < r.claim)) r = std::move(whole);
  } else {
    r = judge_targets(outputs, classes);
  }
  r.nodes = work();
  return r;
}
}  // namespace

IdentityResult check_identity(const Program& before, const Program& after, const IdentityOptions& options) {
  if (options.claim == Exactness::changes_precision) {
    IdentityResult r;
    r.claim = options.claim;
    r.reason = "a change of precision is no identity";
    return r;
  }
  // A stronger class implies the weaker, which need not see it (an opaque function of equal terms).
  std::vector<Exactness> classes{options.claim};
  if (options.claim == Exactness::algebraic) classes = {Exactness::reassociates, Exactness::algebraic};
  IdentityResult r = Session(before, after, options).judge(classes);
  r.claim = options.claim;
  return r;
}

IdentityResult find_identity(const Program& before, const Program& after, const IdentityOptions& options) {
  return Session(before, after, options).judge({Exactness::exact, Exactness::reassociates, Exactness::algebraic});
}

std::optional<Certificate> identity_certificate(const IdentityResult& result, bool conditions_stated, std::string* absent) {
  if (result.verdict == Verdict::absent) {
    *absent = result.reason;
    return std::nullopt;
  }
  Certificate c;
  c.rung = Rung::identity;
  c.held = result.held();
  c.reason = result.reason;
  std::string compared, conditions;
  for (const std::string& name : result.compared) compared += fmt::format("{}{}", compared.empty() ? "" : " ", name);
  for (const std::string& text : result.conditions) conditions += fmt::format("{}{}", conditions.empty() ? "" : "; ", text);
  if (c.held && !conditions.empty() && !conditions_stated) {
    c.held = false;
    c.reason = fmt::format("equal only where {}, which the claim does not state", conditions);
  }
  c.facts = {{"algebra", std::string(exactness_name(result.claim))},
             {"mode", result.sampled ? "sampled" : "full"},
             {"compared", compared},
             {"elements", fmt::format("{}", result.elements)},
             {"pieces", fmt::format("{}", result.pieces)},
             {"trials", fmt::format("{}", result.trials)},
             {"nodes", fmt::format("{}", result.nodes)},
             {"error_probability", fmt::format("{:.2g}", result.error_probability)}};
  if (result.sampled) c.facts.emplace_back("miss_probability", fmt::format("{:.2g}", result.miss_probability));
  if (!conditions.empty()) c.facts.emplace_back("conditions", conditions);
  return c;
}

}  // namespace cairn
