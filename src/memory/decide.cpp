// One decision: a direction drawn from the softmax, then a local of it; the other modes and ablations through the same path.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/check.h"
#include "memory/policy.h"

namespace cairn {

namespace {

constexpr std::string_view kModes[] = {"htam",  "flat", "flat+",  "replay", "feedback", "vanilla", "ucb", "random", "no-hierarchy",
                                       "no-local", "no-prefix", "k1", "uniform-w", "no-credit", "no-context", "no-run", "no-trigger"};

std::size_t draw_from(const std::vector<Scored>& scored, double draw) {
  double sum = 0;
  for (std::size_t k = 0; k < scored.size(); ++k) {
    sum += scored[k].probability;
    if (draw < sum) return k;
  }
  return scored.size() - 1;
}

// argmax of L + Normal(0, noise) + half the count term.
void pick_local(const EvidenceIndex& index, const DecisionState& state, const PolicyParameters& p, Rng* rng, Decision* decision) {
  if (state.model_picks) {
    decision->local = decision->locals.front().name;
    return;
  }
  double best = -1e300;
  for (Scored& s : decision->locals) {
    s.terms.push_back({"count", local_count_term(index, s.name, state.program, p)});
    s.terms.push_back({"noise", rng->normal() * local_noise(index, s.name, p)});
    s.score += s.terms[s.terms.size() - 2].value + s.terms.back().value;
    if (s.score <= best) continue;
    best = s.score;
    decision->local = s.name;
  }
}

// Draws a local from the softmax of the scores of all: the modes without directions.
void draw_local(double temperature, Rng* rng, Decision* decision) {
  fill_softmax(temperature, &decision->locals);
  decision->draw = rng->uniform();
  decision->local = decision->locals[draw_from(decision->locals, decision->draw)].name;
}

void pick_by_bandit(const EvidenceIndex& index, Decision* decision) {
  double best = -1e300;
  for (Scored& s : decision->locals) {
    const double n = static_cast<double>(index.run_rows(s.name));
    const double bound = n == 0 ? 1e6 : std::sqrt(2 * std::log(1 + static_cast<double>(index.run_decisions())) / n);
    s.terms = {{"this run", s.score}, {"bound", bound}};
    s.score = s.terms[0].value + bound;
    if (s.score <= best) continue;
    best = s.score;
    decision->local = s.name;
  }
}

// The next local on the nearest task's path that runs through where we are and goes on legally; empty if none does.
std::string follow_path(const EvidenceIndex& index, const DecisionState& state, const std::vector<LocalOption>& options) {
  const std::string& last = state.locals[0];
  for (const std::vector<std::string>& path : index.best_paths()) {
    for (std::size_t at = 0; at < path.size(); ++at) {
      if ((at == 0 ? kStartNode : path[at - 1]) != last) continue;
      const auto legal = [&](const LocalOption& o) { return o.local == path[at] && !o.failed_before; };
      if (std::any_of(options.begin(), options.end(), legal)) return path[at];
    }
  }
  return {};
}

}  // namespace

std::string_view memory_mode_name(MemoryMode mode) { return kModes[static_cast<std::size_t>(mode)]; }

std::optional<MemoryMode> parse_memory_mode(std::string_view name) {
  for (std::size_t k = 0; k < std::size(kModes); ++k) {
    if (kModes[k] == name) return static_cast<MemoryMode>(k);
  }
  return std::nullopt;
}

bool is_blind(MemoryMode mode) {
  return mode == MemoryMode::feedback || mode == MemoryMode::vanilla || mode == MemoryMode::ucb || mode == MemoryMode::random;
}

Decision decide(const EvidenceIndex& index, const DecisionState& state, const std::vector<LocalOption>& options,
                const std::map<std::string, std::vector<std::string>>& triggers, const PolicyParameters& p, MemoryMode mode, Rng rng) {
  Decision decision;
  if (options.empty()) return decision;
  const auto direction_of = [&](const std::string& local) {
    return std::find_if(options.begin(), options.end(), [&](const LocalOption& o) { return o.local == local; })->direction;
  };
  switch (mode) {
    case MemoryMode::random:
      decision.local = options[rng.below(options.size())].local;
      break;
    case MemoryMode::replay:
      decision.locals = score_locals(index, state, options, p, mode);
      decision.local = follow_path(index, state, options);
      if (decision.local.empty()) draw_local(p.flat_temperature, &rng, &decision);
      break;
    case MemoryMode::flat:
    case MemoryMode::vanilla:
      decision.locals = score_locals(index, state, options, p, mode);
      draw_local(p.flat_temperature, &rng, &decision);
      break;
    case MemoryMode::flat_plus:
      decision.locals = score_locals(index, state, options, p, mode);
      for (Scored& s : decision.locals) {
        s.terms.push_back({"trigger", score_trigger(direction_of(s.name), state, triggers, p)});
        s.score += s.terms.back().value;
      }
      draw_local(p.flat_temperature, &rng, &decision);
      break;
    case MemoryMode::ucb:
      decision.locals = score_locals(index, state, options, p, mode);
      pick_by_bandit(index, &decision);
      break;
    case MemoryMode::feedback:
    case MemoryMode::no_hierarchy:
      decision.locals = score_locals(index, state, options, p, mode);
      pick_local(index, state, p, &rng, &decision);
      break;
    default: {
      if (index.is_cold() && !state.model_picks && state.closed.empty()) {
        // With next to nothing stored directions have no evidence, and draws as wide as the prior would drown the cost model:
        // all locals are drawn from as flat draws, by flat's predictor and this run.
        decision.locals = score_locals(index, state, options, p, mode);
        draw_local(p.flat_temperature, &rng, &decision);
        break;
      }
      decision.directions = score_directions(index, state, options, triggers, p, mode);
      if (decision.directions.empty()) return decision;
      decision.draw = rng.uniform();
      decision.direction = decision.directions[draw_from(decision.directions, decision.draw)].name;
      std::vector<LocalOption> own;
      std::copy_if(options.begin(), options.end(), std::back_inserter(own), [&](const LocalOption& o) { return o.direction == decision.direction; });
      decision.locals = score_locals(index, state, own, p, mode);
      pick_local(index, state, p, &rng, &decision);
    }
  }
  if (decision.direction.empty()) decision.direction = direction_of(decision.local);
  return decision;
}

}  // namespace cairn
