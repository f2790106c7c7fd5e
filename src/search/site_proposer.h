// Proposers of single moves: every site of every strategy, in catalogue order, at random, or ranked by the cost model.
#pragma once
#include "search/proposer.h"

namespace cairn {

enum class SiteOrder : std::uint8_t { enumerate, random };

// enumerate: the next unseen moves in catalogue order, one a strategy before a second of any. random: a strategy drawn
// uniformly from those that fire, then one of its sites. Moves that the pair table says only repeat another order, or take
// back the last step to a program already seen, are left out. Stateless: the same state and context give the same moves.
class SiteProposer : public Proposer {
 public:
  SiteProposer(Target target, SiteOrder order) : target_(std::move(target)), order_(order) {}
  std::string name() const override { return order_ == SiteOrder::random ? "random" : "enumerate"; }
  std::vector<Proposal> propose(const SearchState& state, const ProposeContext& context) override;

 private:
  Target target_;
  SiteOrder order_;
};

// The move as a proposal, every check made; the error if it is refused.
Result<Proposal> propose_move(const SearchState& state, const Target& target, const Action& action, std::string origin);

}  // namespace cairn
