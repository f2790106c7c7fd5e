#include "memory/memory_proposer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace cairn {

std::vector<Proposal> MemoryProposer::propose(const SearchState& state, const ProposeContext& context) {
  const std::shared_ptr<const MoveLists::Entry> entry = lists_->at(state);
  std::vector<Proposal> proposals;
  std::set<Digest> taken;   // proposed now, or refused when replayed
  const auto first_untried = [&](const LocalMoves& local) {
    return std::find_if(local.candidates.begin(), local.candidates.end(),
                        [&](const MoveCandidate& c) { return taken.count(c.hash) == 0 && !(context.seen && context.seen(c.hash)); });
  };
  for (std::uint64_t turn = 0; proposals.size() < context.count; ++turn) {
    std::vector<LocalOption> options;
    std::map<std::string, std::pair<const LocalMoves*, const MoveCandidate*>> choices;
    for (const LocalMoves& local : entry->locals) {
      const auto untried = first_untried(local);
      if (untried == local.candidates.end()) continue;
      options.push_back({local.direction, local.local, std::log(entry->seconds / untried->seconds), guide_.has_failed(local.local, untried->argument_class)});
      choices[local.local] = {&local, &*untried};
    }
    if (options.empty()) break;
    const MemoryGuide::Choice choice = guide_.decide(state, options, context.rng.split(turn));
    if (choice.decision.local.empty()) break;   // no direction applies: the trajectory ends
    const auto [local, candidate] = choices.at(choice.decision.local);
    taken.insert(candidate->hash);
    Result<Proposal> proposal = propose_candidate(state, lists_->target(), *local, *candidate, name());
    if (!proposal) {
      context.refuse(proposal.error());
      continue;
    }
    proposal->decision = choice.ticket;
    guide_.set_arguments(choice.ticket, *candidate);
    proposals.push_back(*std::move(proposal));
  }
  return proposals;
}

}  // namespace cairn
