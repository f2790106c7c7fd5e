#include "memory/memory_proposer.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"

namespace cairn {

namespace {
// Lists kept of states: a search comes back to a few.
constexpr std::size_t kKeptStates = 64;
}  // namespace

const std::vector<LocalMoves>& MemoryProposer::moves_at(const SearchState& state) {
  const auto it = moves_.find(state.hash);
  if (it != moves_.end()) return it->second;
  if (order_.size() >= kKeptStates) {
    moves_.erase(order_.front());
    order_.erase(order_.begin());
  }
  order_.push_back(state.hash);
  return moves_.emplace(state.hash, list_local_moves(state.program, target_)).first->second;
}

std::vector<Proposal> MemoryProposer::propose(const SearchState& state, const ProposeContext& context) {
  const std::vector<LocalMoves>& moves = moves_at(state);
  const auto [at, fresh] = predicted_.try_emplace(state.hash, 0);
  if (fresh) at->second = summarize_state(state.program, target_).seconds;
  std::vector<Proposal> proposals;
  std::set<Digest> taken;   // proposed now, or refused when replayed
  const auto first_untried = [&](const LocalMoves& local) {
    return std::find_if(local.candidates.begin(), local.candidates.end(),
                        [&](const MoveCandidate& c) { return taken.count(c.hash) == 0 && !(context.seen && context.seen(c.hash)); });
  };
  for (std::uint64_t turn = 0; proposals.size() < context.count; ++turn) {
    std::vector<LocalOption> options;
    std::map<std::string, std::pair<const LocalMoves*, const MoveCandidate*>> choices;
    for (const LocalMoves& local : moves) {
      const auto untried = first_untried(local);
      if (untried == local.candidates.end()) continue;
      options.push_back({local.direction, local.local, std::log(at->second / untried->seconds), guide_.has_failed(local.local, untried->argument_class)});
      choices[local.local] = {&local, &*untried};
    }
    if (options.empty()) break;
    const MemoryGuide::Choice choice = guide_.decide(state, options, context.rng.split(turn));
    const auto [local, candidate] = choices.at(choice.decision.local);
    taken.insert(candidate->hash);
    std::optional<Proposal> proposal = propose_candidate(state, target_, *local, *candidate, name());
    if (!proposal) continue;
    proposal->decision = choice.ticket;
    guide_.set_arguments(choice.ticket, *candidate);
    proposals.push_back(*std::move(proposal));
  }
  return proposals;
}

}  // namespace cairn
