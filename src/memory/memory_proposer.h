// Proposals that the memory chose: a direction, a local strategy, and its untried arguments that the cost model likes best.
#pragma once
#include <map>

#include "memory/guide.h"

namespace cairn {

class MemoryProposer final : public Proposer {
 public:
  // The guide must observe the run that this proposer serves.
  MemoryProposer(MemoryGuide& guide, Target target) : guide_(guide), target_(std::move(target)) {}
  std::string name() const override { return "memory"; }
  std::vector<Proposal> propose(const SearchState& state, const ProposeContext& context) override;

 private:
  const std::vector<LocalMoves>& moves_at(const SearchState& state);

  MemoryGuide& guide_;
  Target target_;
  std::map<Digest, std::vector<LocalMoves>> moves_;
  std::map<Digest, double> predicted_;   // seconds of states
  std::vector<Digest> order_;            // of moves_, oldest first
};

}  // namespace cairn
