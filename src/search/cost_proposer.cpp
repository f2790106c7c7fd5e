#include "search/cost_proposer.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "analysis/cost.h"
#include "base/pool.h"
#include "ir/canon.h"
#include "search/replay_memo.h"
#include "search/templates.h"

namespace cairn {

namespace {

// The root restructured in one way, with ranked choices for each nest.
struct Variant {
  Restructure how = Restructure::none;
  std::vector<Action> actions;
  Program program;
  double seconds = 0;                              // predicted as it stands
  std::vector<std::vector<RankedChoice>> choices;  // per nest, best first
};

// Which variant, and which ranked choice for each nest.
struct Plan {
  std::size_t variant = 0;
  std::vector<std::size_t> picks;
  std::string key() const {
    std::string text = std::to_string(variant);
    for (const std::size_t p : picks) text += "," + std::to_string(p);
    return text;
  }
};

// The composite that a plan is (local_moves.h): a restructuring with the schedule after it; without one the schedule of all
// nests, or the template of the only nest.
std::string plan_template(const Variant& variant, const Plan& plan) {
  if (!variant.actions.empty()) return std::string(restructure_name(variant.how));
  if (plan.picks.size() != 1) return "schedule";
  return variant.choices[0][plan.picks[0]].choice.kind == NestChoice::Kind::tile ? "tile" : "sweep";
}

constexpr int kMaxThreads = 32;
constexpr std::size_t kSingleMoves = 400;   // moves tried at a state when plans are used up

}  // namespace

struct CostProposer::Impl {
  Program root;
  Target target;
  std::vector<Variant> variants;
  bool ready = false;
  std::set<std::string> tried;
  std::map<Digest, Plan> plans;        // program -> the plan that made it
  std::optional<ReplayMemo> verified;  // neighbouring plans begin alike

  void prepare() {
    if (ready) return;
    ready = true;
    verified.emplace(root, target);
    std::set<Digest> known;
    for (const Restructure how : {Restructure::inline_and_fuse, Restructure::fuse_only, Restructure::inline_only, Restructure::none}) {
      Schedule schedule(root, target);
      apply_restructure(schedule, how);
      if (!known.insert(canonical_hash(schedule.program())).second) continue;
      Variant v;
      v.how = how;
      v.actions = schedule.actions();
      v.program = schedule.program();
      v.seconds = predict_cost(v.program, target).seconds;
      v.choices.resize(v.program.body().size());
      variants.push_back(std::move(v));
    }
    // Nests are ranked side by side; what comes out is the same in any order.
    ThreadPool pool(static_cast<unsigned>(std::clamp(target.cores, 1, kMaxThreads)));
    for (Variant& v : variants) {
      for (std::size_t nest = 0; nest < v.choices.size(); ++nest) {
        pool.submit([this, &v, nest] { v.choices[nest] = rank_choices(v.program, nest, target); });
      }
    }
    pool.wait();
  }

  double predict(const Plan& plan) const {
    const Variant& v = variants[plan.variant];
    double seconds = v.seconds;
    for (std::size_t nest = 0; nest < plan.picks.size(); ++nest) seconds += v.choices[nest][plan.picks[nest]].seconds - v.seconds;
    return seconds;
  }

  // The plan as a verified sequence of actions from the root, none where it changes nothing; or the step that is refused.
  Result<Proposal> realise(const Plan& plan) {
    const Variant& v = variants[plan.variant];
    Schedule schedule(v.program, target);
    for (std::size_t nest = plan.picks.size(); nest-- > 0;) {  // from the last: earlier indices stay
      if (!apply_choice(schedule, nest, v.choices[nest][plan.picks[nest]].choice)) {
        return Error{Code::illegal, schedule.refusal(), {}, {}};
      }
    }
    Proposal p;
    p.actions = v.actions;
    p.actions.insert(p.actions.end(), schedule.actions().begin(), schedule.actions().end());
    if (p.actions.empty()) return p;
    CAIRN_TRY(p.steps, verified->replay(p.actions));
    p.after = p.steps.back().after;
    p.predicted_seconds = predict_cost(p.after, target).seconds;
    p.origin = "cost-model";
    p.template_name = plan_template(v, plan);
    return p;
  }

  // Plans to try from a state, best predicted first.
  std::vector<Plan> neighbours(const SearchState& state) const {
    std::vector<Plan> found;
    const auto it = plans.find(state.hash);
    std::size_t starts = 0;
    if (it == plans.end()) {
      if (state.id != 0) return found;
      for (std::size_t v = 0; v < variants.size(); ++v) found.push_back({v, std::vector<std::size_t>(variants[v].choices.size(), 0)});
      starts = found.size();
      for (std::size_t i = 0; i < starts; ++i) add_changes(found[i], &found);
    } else {
      add_changes(it->second, &found);
    }
    // Every restructuring gets its best guess measured before details are varied.
    const auto better = [this](const Plan& a, const Plan& b) { return predict(a) < predict(b); };
    const auto middle = found.begin() + static_cast<std::ptrdiff_t>(starts);
    std::stable_sort(found.begin(), middle, better);
    std::stable_sort(middle, found.end(), better);
    return found;
  }

  void add_changes(const Plan& plan, std::vector<Plan>* out) const {
    const Variant& v = variants[plan.variant];
    const Plan copy = plan;  // it may live in *out
    for (std::size_t nest = 0; nest < copy.picks.size(); ++nest) {
      for (std::size_t pick = 0; pick < v.choices[nest].size(); ++pick) {
        if (pick == copy.picks[nest]) continue;
        Plan changed = copy;
        changed.picks[nest] = pick;
        out->push_back(std::move(changed));
      }
    }
  }

  // Single moves at a state, ranked by prediction: what no template says.
  void add_single_moves(const SearchState& state, const ProposeContext& context, std::vector<Proposal>* out) const {
    struct Candidate { double seconds; Action action; };
    std::vector<Candidate> candidates;
    for (const Strategy* s : all_strategies()) {
      for (const Args& args : s->sites(state.program, target)) {
        if (candidates.size() >= kSingleMoves) break;
        Result<Step> step = s->apply(state.program, target, args);
        if (!step.ok() || context.seen(canonical_hash(step->after))) continue;
        candidates.push_back({predict_cost(step->after, target).seconds, Action{std::string(s->name), args}});
      }
    }
    std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    for (const Candidate& c : candidates) {
      if (out->size() >= context.count) return;
      Result<Step> step = apply_action(state.program, target, c.action);
      if (!step.ok()) {
        context.refuse(step.error());
        continue;
      }
      Proposal p;
      p.actions = {c.action};
      p.after = step->after;
      p.steps.push_back(std::move(step.value()));
      p.predicted_seconds = c.seconds;
      p.origin = "cost-model";
      p.base = state.id;
      out->push_back(std::move(p));
    }
  }
};

CostProposer::CostProposer(Program root, Target target) : impl_(std::make_unique<Impl>()) {
  impl_->root = std::move(root);
  impl_->target = std::move(target);
}
CostProposer::~CostProposer() = default;

std::vector<Proposal> CostProposer::propose(const SearchState& state, const ProposeContext& context) {
  impl_->prepare();
  std::vector<Proposal> proposals;
  for (const Plan& plan : impl_->neighbours(state)) {
    if (proposals.size() >= context.count) break;
    if (!impl_->tried.insert(plan.key()).second) continue;
    Result<Proposal> p = impl_->realise(plan);
    if (!p) context.refuse(p.error());
    if (!p || p->actions.empty()) continue;
    const Digest hash = canonical_hash(p->after);
    if (context.seen(hash)) continue;
    impl_->plans.emplace(hash, plan);
    proposals.push_back(std::move(*p));
  }
  if (proposals.size() < context.count) impl_->add_single_moves(state, context, &proposals);
  return proposals;
}

}  // namespace cairn
