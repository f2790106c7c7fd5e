// The proposer of the main job: composite schedules from general templates, ranked by the cost model
// (cpu.md "Composite proposals"); single moves refine what templates made.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "search/proposer.h"

namespace cairn {

class CostProposer : public Proposer {
 public:
  CostProposer(Program root, Target target);
  ~CostProposer() override;
  std::string name() const override { return "cost-model"; }
  std::vector<Proposal> propose(const SearchState& state, const ProposeContext& context) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cairn
