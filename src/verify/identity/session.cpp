#include "verify/identity/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analysis/access_bindings.h"
#include "ir/walk.h"
#include "verify/identity/choices.h"
#include "verify/numeric.h"

namespace cairn::identity {

using Verdict = IdentityResult::Verdict;

namespace {
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
}  // namespace

std::string element_name(const Compared& c, std::int64_t offset) { return element_text(c.name, *c.shape, offset); }

Session::Session(const Program& before, const Program& after, const IdentityOptions& options)
    : options_(options), a_(expand_bindings(before)), b_(expand_bindings(after)) {}

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
  start(true);
  return true;
}

void Session::start(bool cut) {
  if (recorder_a_) evaluated_ += recorder_a_->work() + recorder_b_->work();
  shared_ = std::make_unique<SharedStates>(code_a_, *table_a_, code_b_, *table_b_, options_.seed, cut);
  recorder_a_ = std::make_unique<Recorder>(&code_a_, *table_a_, *shared_, &graph_);
  recorder_b_ = std::make_unique<Recorder>(&code_b_, *table_b_, *shared_, &graph_);
}

void Session::choose(const std::vector<Compared>& targets, IdentityResult* r) {
  targets_.clear();
  open_.clear();
  // Half of what is left of the cap is for recording, an even share a tensor.
  const std::uint64_t start = work(), cap = (options_.max_nodes - std::min(options_.max_nodes, start)) / 2;
  for (const Compared& c : targets) {
    std::vector<std::vector<std::int64_t>> cuts(c.shape->size());
    bool counted = true;
    if (c.size > options_.whole) {
      counted = collect_cuts(code_a_, c.before, c.nest_before, &cuts) && collect_cuts(code_b_, c.after, c.nest_after, &cuts);
    }
    Progress p;
    p.target = c;
    p.elements = choose_elements(*c.shape, c.size, cuts, counted, options_, Rng(options_.seed).split(c.name));
    p.limit = start + cap * (targets_.size() + 1) / targets.size();
    r->pieces += p.elements.pieces;
    r->compared.push_back(c.name);
    targets_.push_back(std::move(p));
  }
}

bool Session::record_element(Progress* p, std::size_t target, std::int64_t offset, IdentityResult* r) {
  const Compared& c = p->target;
  Index at{};
  std::int64_t rest = offset;
  for (std::size_t d = c.shape->size(); d-- > 0;) {
    at[d] = rest % (*c.shape)[d];
    rest /= (*c.shape)[d];
  }
  const auto side = [&](Recorder& recorder, std::int32_t tensor, std::uint32_t nest, const char* which, TermId* out) {
    recorder.clear_stop();
    recorder.set_limit(recorder.work() + (p->limit - std::min(p->limit, work())));
    *out = recorder.element(tensor, nest, at);
    if (!recorder.stopped()) return true;
    if (!recorder.faulty() && p->done >= static_cast<std::size_t>(options_.per_piece)) {
      p->exhausted = true;
    } else {
      r->verdict = recorder.faulty() && &recorder == recorder_b_.get() ? Verdict::failed : Verdict::absent;
      r->reason = fmt::format("{} {}: {}", element_name(c, offset), which, recorder.reason());
    }
    return false;
  };
  Pair pair{target, offset, kUnwrittenTerm, kUnwrittenTerm};
  if (!side(*recorder_a_, c.before, c.nest_before, "before", &pair.x) || !side(*recorder_b_, c.after, c.nest_after, "after", &pair.y)) {
    return p->exhausted;
  }
  ++p->done;
  // Equal nests read no element that nobody wrote before (rule 9): the fill of a tail that one program pads.
  if (pair.x == kUnwrittenTerm && (fed_ || pair.y == kUnwrittenTerm)) return true;
  if (pair.x == kUnwrittenTerm || pair.y == kUnwrittenTerm) {
    r->verdict = Verdict::failed;
    r->reason = fmt::format("{} is never written {}", element_name(c, offset), pair.x == kUnwrittenTerm ? "before" : "after");
    return false;
  }
  ++r->elements;
  if (pair.x != pair.y) open_.push_back(pair);
  return true;
}

bool Session::record(bool full, IdentityResult* r) {
  const std::uint64_t soft = work() + options_.enough / 10 / targets_.size();
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    Progress& p = targets_[i];
    const Elements& e = p.elements;
    const std::uint64_t begun = work(), left = p.limit - std::min(p.limit, begun);
    const std::uint64_t ample = begun + std::min(left / 2, options_.enough / targets_.size());
    while (p.done < e.offsets.size() && !p.exhausted) {
      if (p.done >= e.least && !full && work() > soft && p.target.size > options_.whole) break;
      if (p.done >= e.base && work() > ample) break;
      if (!record_element(&p, i, e.offsets[p.done], r)) return false;
    }
  }
  r->sampled = std::any_of(targets_.begin(), targets_.end(), [](const Progress& p) { return p.done < p.elements.complete_at; });
  return true;
}

// What a stronger class settles stays settled in a weaker one, which need not see it.
void Session::judge_recorded(Exactness weakest, IdentityResult* r) {
  r->claim = Exactness::exact;
  r->verdict = Verdict::held;   // the same terms: no hash was needed
  for (const Exactness claim : {Exactness::exact, Exactness::reassociates, Exactness::algebraic}) {
    if (open_.empty() || claim > weakest) break;
    r->claim = claim;
    r->verdict = Verdict::absent;
    if (claim == Exactness::algebraic) {
      // Order-dependent values show in some elements only: the whole sample.
      const std::int64_t before = r->elements;
      if (!record(true, r)) return;
      if (r->elements != before) {
        judge_terms(false, r);
        if (!open_.empty() && resolve()) judge_terms(false, r);
        judge_terms(true, r);
        r->verdict = Verdict::absent;
      }
      judge_field(r);
    } else {
      judge_terms(claim == Exactness::reassociates, r);
      if (claim == Exactness::exact && !open_.empty() && resolve()) judge_terms(false, r);
    }
  }
}

// What stays unequal with the choices made that other choices around them decide.
bool Session::resolve() {
  std::vector<TermId> roots;
  for (const Pair& p : open_) roots.insert(roots.end(), {p.x, p.y});
  if (!resolve_choices(&graph_, &roots, options_.max_nodes / 4, &evaluated_)) return false;
  for (std::size_t i = 0; i < open_.size(); ++i) {
    open_[i].x = roots[2 * i];
    open_[i].y = roots[2 * i + 1];
  }
  return true;
}

IdentityResult Session::judge_targets(const std::vector<Compared>& targets, Exactness weakest, bool fed) {
  IdentityResult r;
  fed_ = fed;
  r.claim = weakest;
  choose(targets, &r);
  if (!record(false, &r)) return r;
  judge_recorded(weakest, &r);
  if (r.held() && r.elements == 0) {
    r.verdict = Verdict::absent;
    r.reason = "no element could be compared";
  }
  if (r.sampled) r.miss_probability = std::pow(0.95, static_cast<double>(r.elements));
  return r;
}

IdentityResult Session::judge(Exactness weakest) {
  IdentityResult r;
  r.claim = weakest;
  if (const Result<void> same = check_interfaces(a_, b_); !same) {
    r.verdict = Verdict::failed;
    r.reason = same.error().message;
    return r;
  }
  if (!open(&r)) return r;
  const std::vector<Compared> outputs = differing_outputs(code_a_, *table_a_, code_b_, *table_b_);
  if (outputs.empty()) {
    r.verdict = Verdict::held;  // every output is built by the same nests from the same states
    r.claim = Exactness::exact;
    return r;
  }
  // From cheap to sure: what the changed nests feed to unchanged ones may differ where nothing reads it, and a cut
  // point hides values that one program knows (a padding of zeros).
  const std::vector<Compared> fed = fed_tensors(code_a_, *table_a_, code_b_, *table_b_);
  const bool cuts = shared_->cuts() > 0;
  const bool index_output = std::any_of(outputs.begin(), outputs.end(), [this](const Compared& c) {
    return !is_float(code_a_.tensors[static_cast<std::size_t>(c.before)].tensor->dtype);
  });
  for (int attempt = fed.empty() ? 1 : 0; attempt < (cuts ? 3 : 2); ++attempt) {
    if (attempt == 2) start(false);
    IdentityResult one = judge_targets(attempt == 0 ? fed : outputs, weakest, attempt == 0);
    // What feeds an index must be the same to the bit.
    if (attempt == 0 && index_output && one.held() && one.claim != Exactness::exact) one.verdict = Verdict::absent;
    if (attempt == 0 || one.verdict != Verdict::absent || r.verdict == Verdict::absent) {
      if (!(r.held() && (!one.held() || one.claim >= r.claim))) r = std::move(one);
    }
    if (r.held() && r.claim == Exactness::exact) break;
    if (work() > options_.max_nodes / 2) break;
  }
  r.nodes = work();
  return r;
}

}  // namespace cairn::identity
