#include "search/site_proposer.h"

#include <algorithm>

#include "analysis/cost.h"
#include "ir/canon.h"
#include "strategy/pairs.h"

namespace cairn {

namespace {

struct Candidates {
  const Strategy* strategy = nullptr;
  std::vector<Args> sites;
};

// The place in the catalogue, which orders moves that commute.
std::size_t rank_of(std::string_view name) {
  const auto& all = all_strategies();
  return static_cast<std::size_t>(std::find_if(all.begin(), all.end(), [&](const Strategy* s) { return s->name == name; }) - all.begin());
}

// The other order of two moves that always commute, the second of which was there before the first: one order is enough.
bool repeats_other_order(const SearchState& state, const Strategy& strategy, const Args& args, const std::vector<Args>* before) {
  if (state.trace.empty() || !before) return false;
  const Action& last = state.trace.back();
  return PairTable::shipped().commutes(last.strategy, strategy.name) == Commutes::always && rank_of(strategy.name) < rank_of(last.strategy) &&
         std::find(before->begin(), before->end(), args) != before->end();
}

}  // namespace

Result<Proposal> propose_move(const SearchState& state, const Target& target, const Action& action, std::string origin) {
  CAIRN_TRY(Step step, apply_action(state.program, target, action));
  Proposal p;
  p.actions = {action};
  p.after = step.after;
  p.steps.push_back(std::move(step));
  p.predicted_seconds = predict_cost(p.after, target).seconds;
  p.origin = std::move(origin);
  p.base = state.id;
  return p;
}

std::vector<Proposal> SiteProposer::propose(const SearchState& state, const ProposeContext& context) {
  Rng rng = context.rng;
  const SearchState* parent = state.id == 0 || !context.state_of ? nullptr : context.state_of(state.parent);
  std::vector<Candidates> candidates;
  for (const Strategy* strategy : all_strategies()) {
    Candidates c{strategy, strategy->sites(state.program, target_)};
    if (parent && parent->trace.size() + 1 == state.trace.size()) {
      const std::vector<Args> before = strategy->sites(parent->program, target_);
      std::erase_if(c.sites, [&](const Args& args) { return repeats_other_order(state, *strategy, args, &before); });
    }
    if (!c.sites.empty()) candidates.push_back(std::move(c));
  }
  std::vector<Proposal> proposals;
  std::size_t turn = 0;
  while (proposals.size() < context.count && !candidates.empty()) {
    const std::size_t which = order_ == SiteOrder::random ? rng.below(candidates.size()) : turn % candidates.size();
    Candidates& c = candidates[which];
    const std::size_t at = order_ == SiteOrder::random ? rng.below(c.sites.size()) : 0;
    const Action action{std::string(c.strategy->name), c.sites[at]};
    c.sites.erase(c.sites.begin() + static_cast<std::ptrdiff_t>(at));
    Result<Proposal> p = propose_move(state, target_, action, name());
    if (!p) context.refuse(p.error());
    const auto same = [&](const Proposal& other) { return canonical_hash(other.after) == canonical_hash(p->after); };
    if (p && !(context.seen && context.seen(canonical_hash(p->after))) && std::none_of(proposals.begin(), proposals.end(), same)) {
      proposals.push_back(*std::move(p));
    }
    if (c.sites.empty()) {
      candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      ++turn;
    }
  }
  return proposals;
}

}  // namespace cairn
