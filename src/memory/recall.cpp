#include "memory/recall.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "ir/canon.h"
#include "memory/evidence_sums.h"
#include "memory/trajectories.h"
#include "search/state_summary.h"

namespace cairn {

namespace {

using ById = std::unordered_map<Digest, const Evidence*>;

// The actions of a row: those inside a composite in their order, else its own. Empty if they are not known.
std::vector<Action> actions_of(const Evidence& row, const ById& by_id) {
  std::vector<Action> actions;
  const auto add = [&](const std::string& text) {
    const Result<Action> action = parse_action(text);
    if (action.ok()) actions.push_back(*action);
    return action.ok();
  };
  for (std::size_t k = 0;; ++k) {
    const auto inner = by_id.find(evidence_id(row.run, row.number, std::to_string(k)));
    if (inner == by_id.end()) break;
    if (!add(inner->second->arguments)) return {};
  }
  if (actions.empty() && !add(row.arguments)) return {};
  return actions;
}

struct Candidate {
  double distance = 0, score = 0;
  std::string task;
  std::vector<Action> actions;
};

}  // namespace

std::vector<std::vector<Action>> recall_traces(const std::vector<Evidence>& rows, const TaskMark& task, const PolicyParameters& parameters, std::size_t count) {
  ById by_id;
  Trajectories passed;
  for (const Evidence& row : rows) {
    if (row.task.family != task.family) continue;
    by_id.emplace(row.id, &row);
    passed.add(row);
  }
  std::map<std::string, Candidate> best;   // by task
  for (const auto& [key, row] : passed.rows()) {
    const std::vector<const Evidence*> path = passed.path_to(*row);
    const double score = Trajectories::score(path);
    const auto known = best.find(row->task.name);
    bool whole = path.front()->parent == 0;
    if (!whole || score <= 0 || (known != best.end() && known->second.score >= score)) continue;
    Candidate c{measure_task_distance(row->task, task, parameters), score, row->task.name, {}};
    for (const Evidence* step : path) {
      const std::vector<Action> actions = actions_of(*step, by_id);
      if (actions.empty()) whole = false;
      c.actions.insert(c.actions.end(), actions.begin(), actions.end());
    }
    if (whole) best[row->task.name] = std::move(c);
  }
  std::vector<Candidate> ordered;
  for (auto& [name, candidate] : best) ordered.push_back(std::move(candidate));
  std::stable_sort(ordered.begin(), ordered.end(), [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });
  std::vector<std::vector<Action>> traces;
  for (Candidate& c : ordered) {
    if (traces.size() == count) break;
    if (std::find(traces.begin(), traces.end(), c.actions) == traces.end()) traces.push_back(std::move(c.actions));
  }
  return traces;
}

std::string print_traces(const std::vector<std::vector<Action>>& traces) {
  std::string text;
  for (const std::vector<Action>& trace : traces) {
    for (const Action& action : trace) text += print_action(action) + "\n";
    text += "\n";
  }
  return text;
}

Result<std::vector<std::vector<Action>>> parse_traces(const std::string& text) {
  std::vector<std::vector<Action>> traces;
  std::vector<Action> trace;
  for (const TextLine& line : split_lines(text)) {
    if (line.text.empty()) {
      traces.push_back(std::move(trace));
      trace.clear();
    } else {
      CAIRN_TRY(Action action, parse_action(line.text));
      trace.push_back(std::move(action));
    }
  }
  return traces;
}

std::vector<Proposal> RecallProposer::propose(const SearchState& state, const ProposeContext& context) {
  std::vector<Proposal> proposals;
  std::set<Digest> made;
  while (state.id == 0 && next_ < traces_.size() && proposals.size() < context.count) {
    std::optional<Proposal> proposal = realise(state, traces_[next_++], context);
    if (!proposal) continue;
    const Digest hash = canonical_hash(proposal->after);
    if ((context.seen && context.seen(hash)) || !made.insert(hash).second) continue;
    proposals.push_back(*std::move(proposal));
  }
  if (proposals.size() == context.count) return proposals;
  ProposeContext rest = context;
  rest.count = context.count - proposals.size();
  rest.seen = [&](const Digest& hash) { return made.count(hash) != 0 || (context.seen && context.seen(hash)); };
  for (Proposal& proposal : base_->propose(state, rest)) proposals.push_back(std::move(proposal));
  return proposals;
}

std::optional<Proposal> RecallProposer::realise(const SearchState& root, const std::vector<Action>& trace, const ProposeContext& context) const {
  Proposal p;
  p.after = root.program;
  std::vector<Error> refusals;
  for (const Action& action : trace) {
    Result<Step> step = apply_action(p.after, target_, action);
    if (!step.ok()) {
      refusals.push_back(std::move(step.error()));
      continue;
    }
    p.after = step->after;
    p.actions.push_back(action);
    p.steps.push_back(*std::move(step));
  }
  // A trace of which nothing applies here is one refused proposal.
  if (p.actions.empty()) {
    if (!refusals.empty()) context.refuse(refusals.front());
    return std::nullopt;
  }
  for (const Error& error : refusals) context.leave_out(error);
  p.predicted_seconds = summarize_state(p.after, target_).seconds;
  p.origin = "memory";
  p.template_name = "recall";
  p.base = root.id;
  return p;
}

}  // namespace cairn
