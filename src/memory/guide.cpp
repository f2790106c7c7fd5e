#include "memory/guide.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/check.h"
#include "memory/cards.h"
#include "memory/evidence_row.h"
#include "search/simulated.h"

namespace cairn {

namespace {

// Where a state stands: what led to it, and what limits it.
struct Place {
  Prefix directions, locals;
  std::set<std::string> made;
  std::string bottleneck;
  std::map<std::string, double> time_shares;
};

// A choice that waits for its outcome.
struct Pending {
  Decision decision;
  DecisionState state;
  std::string arguments, argument_class;
};

Digest trace_digest(const std::vector<Action>& before, const std::vector<Action>& made) {
  std::string text;
  for (const Action& action : before) text += print_action(action) + "\n";
  for (const Action& action : made) text += print_action(action) + "\n";
  return digest_bytes(text);
}

// What holds at every state of a run.
DecisionState first_state(const GuideOptions& o) {
  DecisionState state;
  state.task = o.task;
  state.device = o.device;
  state.now = o.now;
  state.implementer = o.implementer.substr(0, o.implementer.find('@'));
  return state;
}

}  // namespace

struct MemoryGuide::Impl {
  GuideOptions options;
  Target target;
  EvidenceIndex index;
  std::unordered_map<std::uint64_t, Place> places;      // by state id
  std::unordered_map<std::uint64_t, Pending> pending;   // by ticket
  std::uint64_t tickets = 0;
  std::vector<Evidence> rows;                           // by number
  std::set<std::pair<std::string, std::string>> failures;

  Impl(GuideOptions o, const EvidenceSnapshot& snapshot, Target t)
      : options(std::move(o)), target(std::move(t)), index(snapshot, first_state(options), options.parameters, options.mode) {
    Place& root = places[0];
    root.directions[0] = root.locals[0] = kStartNode;
  }

  Place& place_of(const SearchState& state) {
    Place& place = places[state.id];
    if (place.bottleneck.empty()) {
      StateSummary summary = summarize_state(state.program, target);
      place.bottleneck = std::move(summary.bottleneck);
      place.time_shares = std::move(summary.time_shares);
    }
    return place;
  }

  // A proposal of another proposer: named after its template or its only action. What is neither a strategy nor a composite, a
  // recalled trace or a bred sequence, stands under a direction of its own name: it says what a trace gained, and nothing of
  // any direction. It has no card, for nobody could propose it again but as the trace that it is.
  Pending adopt(const StepOutcome& outcome) const {
    Pending p;
    const Proposal& made = *outcome.made;
    if (!made.template_name.empty() || made.actions.size() != 1) {
      p.decision.local = made.template_name.empty() ? "sequence" : made.template_name;
      p.decision.direction = composite_direction(p.decision.local);
      if (p.decision.direction.empty()) p.decision.direction = p.decision.local;
    } else {
      const Strategy* strategy = find_strategy(made.actions[0].strategy);
      CAIRN_CHECK(strategy != nullptr);
      p.decision.local = strategy->name;
      p.decision.direction = direction_name(strategy->direction);
      p.arguments = print_action(made.actions[0]);
      p.argument_class = argument_class(outcome.from->program, made.actions[0]);
    }
    return p;
  }

  // What a decision at the place knows, but the program and what it closes.
  DecisionState state_at(const Place& place) const {
    DecisionState state = first_state(options);
    state.bottleneck = place.bottleneck;
    state.time_shares = place.time_shares;
    state.directions = place.directions;
    state.locals = place.locals;
    state.made = place.made;
    return state;
  }

  Evidence make_row(const StepOutcome& outcome, const Pending& choice, const Place& from) const {
    const EvalResult& result = *outcome.result;
    const bool passed = result.passed() && result.time.has_value();
    const EvidenceKind kind = passed ? EvidenceKind::passed : result.outcome == Outcome::host ? EvidenceKind::host : EvidenceKind::failed;
    const TakenStep step{options.run, outcome.proposal, outcome.parent, choice.decision.direction, choice.decision.local, choice.arguments,
                         choice.argument_class};
    Evidence row = make_evidence(state_at(from), step, kind, outcome_name(result.outcome), outcome.gain, options.implementer);
    row.program = outcome.program;
    row.trace = trace_digest(outcome.from->trace, outcome.made->actions);
    return row;
  }

  // The actions inside a composite, as knowledge that enters no mean.
  std::vector<Evidence> inner_rows(const StepOutcome& outcome, const Evidence& row) const {
    std::vector<Evidence> inner;
    if (outcome.made->template_name.empty()) return inner;
    for (std::size_t k = 0; k < outcome.made->actions.size(); ++k) {
      const Action& action = outcome.made->actions[k];
      const Strategy* strategy = find_strategy(action.strategy);
      CAIRN_CHECK(strategy != nullptr);
      Evidence e = row;
      e.kind = EvidenceKind::inner;
      e.id = evidence_id(row.run, row.number, std::to_string(k));
      e.local = strategy->name;
      e.direction = direction_name(strategy->direction);
      e.arguments = print_action(action);
      e.argument_class.clear();
      e.gain = e.credit = 0;
      inner.push_back(std::move(e));
    }
    return inner;
  }

  // Credits all rows anew; returns those whose credit changed.
  std::vector<Evidence> credit_rows() {
    std::vector<double> gains;
    std::vector<std::int64_t> parents;
    std::vector<bool> failed;
    std::unordered_map<std::uint64_t, std::int64_t> places_of;
    for (const Evidence& row : rows) {
      const auto parent = places_of.find(row.parent);
      places_of[row.number] = static_cast<std::int64_t>(gains.size());
      gains.push_back(row.gain);
      parents.push_back(parent == places_of.end() ? -1 : parent->second);
      failed.push_back(row.kind != EvidenceKind::passed);
    }
    const std::vector<double> credits = credit_tree(gains, parents, failed, options.parameters.credit_fade);
    std::vector<Evidence> changed;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const bool fresh = k + 1 == rows.size();
      if (!fresh && rows[k].credit == credits[k]) continue;
      rows[k].credit = credits[k];
      changed.push_back(rows[k]);
    }
    return changed;
  }
};

MemoryGuide::MemoryGuide(GuideOptions options, std::vector<Evidence> snapshot, const Target& target)
    : impl_(std::make_unique<Impl>(options, EvidenceSnapshot(std::move(snapshot), first_state(options), options.parameters, options.mode), target)) {}
MemoryGuide::MemoryGuide(GuideOptions options, const EvidenceSnapshot& snapshot, const Target& target)
    : impl_(std::make_unique<Impl>(std::move(options), snapshot, target)) {}
MemoryGuide::~MemoryGuide() = default;

MemoryGuide::Choice MemoryGuide::decide(const SearchState& state, const std::vector<LocalOption>& options, Rng rng) {
  const Place& place = impl_->place_of(state);
  Pending pending;
  pending.state = impl_->state_at(place);
  pending.state.program = state.hash;
  pending.state.closed = list_closed(impl_->options.edges, place.directions[0], place.bottleneck);
  impl_->index.set_place(place.bottleneck, place.made);
  pending.decision = cairn::decide(impl_->index, pending.state, options, impl_->options.triggers, impl_->options.parameters, impl_->options.mode, rng);
  Choice choice{pending.decision, ++impl_->tickets};
  impl_->pending.emplace(choice.ticket, std::move(pending));
  return choice;
}

void MemoryGuide::set_arguments(std::uint64_t ticket, const MoveCandidate& candidate) {
  Pending& pending = impl_->pending.at(ticket);
  pending.arguments = candidate.arguments;
  pending.argument_class = candidate.argument_class;
}

bool MemoryGuide::has_failed(const std::string& local, const std::string& argument_class) const {
  return impl_->failures.count({local, argument_class}) != 0;
}

Result<void> MemoryGuide::observe(const StepOutcome& outcome) {
  CAIRN_CHECK(outcome.made && outcome.from && outcome.result);
  const Place from = impl_->place_of(*outcome.from);
  const auto found = impl_->pending.find(outcome.made->decision);
  const bool decided = found != impl_->pending.end();
  Pending choice = decided ? std::move(found->second) : impl_->adopt(outcome);
  if (decided) impl_->pending.erase(found);
  Evidence row = impl_->make_row(outcome, choice, from);
  if (row.kind == EvidenceKind::failed) impl_->failures.emplace(row.local, row.argument_class);
  if (row.kind == EvidenceKind::passed) {
    Place& next = impl_->places[outcome.proposal];
    next.directions = {row.direction, from.directions[0]};
    next.locals = {row.local, from.locals[0]};
    next.made = from.made;
    next.made.insert(row.local);
  }
  // The machine's fault says nothing of the move, which is as new here as before.
  if (row.kind != EvidenceKind::host) impl_->index.count_at(row.direction, row.local, outcome.from->hash);
  const std::vector<Evidence> inner = impl_->inner_rows(outcome, row);
  impl_->rows.push_back(std::move(row));
  std::vector<Evidence> changed = impl_->credit_rows();
  impl_->index.set_run(impl_->rows);
  if (impl_->options.store) {
    changed.insert(changed.end(), inner.begin(), inner.end());
    CAIRN_CHECKED(impl_->options.store(changed));
  }
  if (impl_->options.note && decided) CAIRN_CHECKED(impl_->options.note(outcome.proposal, choice.decision, choice.state));
  return {};
}

const std::vector<Evidence>& MemoryGuide::rows() const { return impl_->rows; }

TaskMark mark_task(const std::string& name, const Program& naive, const Target& target) { return {name, family_of(naive), task_features(naive, target)}; }

DeviceMark mark_device(const std::string& fingerprint, const Target& target) {
  // Predicted times say little of any machine, whatever target they were predicted for.
  if (fingerprint == kSimulatedDevice) return {fingerprint, fingerprint, fingerprint};
  const int width = target.vector_bytes.empty() ? 0 : target.vector_bytes.back();
  return {fingerprint, fmt::format("{}-v{}", target.kind, width), target.kind};
}

}  // namespace cairn
