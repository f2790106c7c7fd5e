// Recalled traces: what ended best on the tasks nearest to this one, proposed before anything else is. A repeated task starts
// where its last run ended; a similar one gets what of the trace is legal there.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "memory/evidence.h"
#include "memory/parameters.h"
#include "search/proposer.h"

namespace cairn {

// Traces from the root with the largest sum of gains, one a task, nearest tasks of the family first; at most `count`. Rows of
// composites need their inner rows. Traces that an unknown action is in are left out.
std::vector<std::vector<Action>> recall_traces(const std::vector<Evidence>& rows, const TaskMark& task, const PolicyParameters& parameters, std::size_t count);

// One action a line, an empty line after each trace; and back.
std::string print_traces(const std::vector<std::vector<Action>>& traces);
Result<std::vector<std::vector<Action>>> parse_traces(const std::string& text);

// Proposes the traces at the root, then what another proposer says. Each step is applied with every check; steps that are
// refused here are left out.
class RecallProposer final : public Proposer {
 public:
  RecallProposer(std::unique_ptr<Proposer> base, std::vector<std::vector<Action>> traces, Target target)
      : base_(std::move(base)), traces_(std::move(traces)), target_(std::move(target)) {}
  std::string name() const override { return base_->name(); }
  std::vector<Proposal> propose(const SearchState& state, const ProposeContext& context) override;

 private:
  std::optional<Proposal> realise(const SearchState& root, const std::vector<Action>& trace, const ProposeContext& context) const;

  std::unique_ptr<Proposer> base_;
  std::vector<std::vector<Action>> traces_;
  Target target_;
  std::size_t next_ = 0;
};

}  // namespace cairn
