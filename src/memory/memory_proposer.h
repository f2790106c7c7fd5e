// Proposals that the memory chose: a direction, a local strategy, and its untried arguments that the cost model likes best.
#pragma once
#include <memory>

#include "memory/guide.h"

namespace cairn {

class MemoryProposer final : public Proposer {
 public:
  // The guide must observe the run that this proposer serves; searches of one task may share their lists.
  MemoryProposer(MemoryGuide& guide, std::shared_ptr<MoveLists> lists) : guide_(guide), lists_(std::move(lists)) {}
  MemoryProposer(MemoryGuide& guide, Target target) : MemoryProposer(guide, std::make_shared<MoveLists>(std::move(target))) {}
  std::string name() const override { return "memory"; }
  std::vector<Proposal> propose(const SearchState& state, const ProposeContext& context) override;

 private:
  MemoryGuide& guide_;
  std::shared_ptr<MoveLists> lists_;
};

}  // namespace cairn
