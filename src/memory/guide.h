// The memory in a search: decides at each state, turns every committed outcome into evidence and credits it.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "memory/policy.h"
#include "memory/store.h"
#include "search/guide.h"
#include "search/local_moves.h"
#include "search/state_summary.h"

namespace cairn {

struct GuideOptions {
  MemoryMode mode = MemoryMode::htam;
  PolicyParameters parameters;
  std::map<std::string, std::vector<std::string>> triggers;   // bottleneck classes by direction (cards.h list_triggers)
  std::vector<EdgeCard> edges;           // those that do not apply close a direction
  std::string run;                       // id of the run; its evidence rows are named after it
  TaskMark task;
  DeviceMark device;
  std::string implementer = "strategy";  // "strategy@COMMIT"
  std::int64_t now = 0;                  // seconds since 1970, fixed at the run's start
  // Takes rows that are new or whose credit changed, in one transaction; may be empty.
  std::function<Result<void>(const std::vector<Evidence>&)> store;
  // Takes the decision behind a committed proposal, for `cairn memory why`; may be empty.
  std::function<Result<void>(std::uint64_t number, const Decision&, const DecisionState&)> note;
};

// One guide serves one run. Its decisions depend on the snapshot, the options and what it observed, on nothing else.
class MemoryGuide final : public Guide {
 public:
  MemoryGuide(GuideOptions options, std::vector<Evidence> snapshot, const Target& target);
  // The same over rows that several runs share; taken for this mode, device, implementer and `now`.
  MemoryGuide(GuideOptions options, const EvidenceSnapshot& snapshot, const Target& target);
  ~MemoryGuide() override;
  std::string name() const override { return "memory"; }
  // Chooses a direction and a local among what is legal at the state (not empty); `ticket` goes into the proposal.
  struct Choice { Decision decision; std::uint64_t ticket = 0; };
  Choice decide(const SearchState& state, const std::vector<LocalOption>& options, Rng rng);
  // Completes a choice with the arguments that the local took.
  void set_arguments(std::uint64_t ticket, const MoveCandidate& candidate);
  // True if the local failed with arguments of this class in this run.
  bool has_failed(const std::string& local, const std::string& argument_class) const;
  Result<void> observe(const StepOutcome& outcome) override;
  // This run's rows so far, inner ones left out, by number.
  const std::vector<Evidence>& rows() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The mark of a task: family and features of its naive program.
TaskMark mark_task(const std::string& name, const Program& naive, const Target& target);
// The mark of a device: its fingerprint, and architecture and kind from the target; a simulated device is of its own kind.
DeviceMark mark_device(const std::string& fingerprint, const Target& target);

}  // namespace cairn
