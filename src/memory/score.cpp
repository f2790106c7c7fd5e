// Scores of directions and locals (search-and-memory.md "The policy" 3 and 4).
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "memory/policy.h"

namespace cairn {

namespace {

double count_term(std::uint64_t decisions, double seen, const PolicyParameters& p) {
  return p.count * std::sqrt(std::log(2 + static_cast<double>(decisions)) / (1 + seen));
}

// What flat retrieval knows of a local; the cost model's word where no near task has tried it.
double flat_value(const EvidenceIndex& index, const LocalOption& option, const PolicyParameters& p) {
  const std::optional<double> mean = index.nearest_mean(option.local);
  return mean ? *mean : p.flat_predicted * option.predicted_gain;
}

// m of a local and the transitions to it over this run alone.
void add_run_terms(const EvidenceIndex& index, const DecisionState& state, const std::string& local, double prior, const std::vector<double>& weights,
                   Scored* s) {
  const double own = index.local_run_mean(local, prior);
  if (weights.empty()) s->terms.push_back({"local", own});
  for (std::size_t i = 0; i < weights.size(); ++i) {
    s->terms.push_back({"after " + state.locals[i], weights[i] * index.local_run_edge(state.locals[i], local, static_cast<int>(i) + 1, own)});
  }
}

// What a local gains after what came before, what it enables, and what its failures cost of both.
void add_local_terms(const EvidenceIndex& index, const DecisionState& state, const std::string& local, double prior, const std::vector<double>& weights,
                     const PolicyParameters& p, Scored* s) {
  if (weights.empty()) s->terms.push_back({"local", index.local_gain(local, prior)});
  for (std::size_t i = 0; i < weights.size(); ++i) {
    s->terms.push_back({"after " + state.locals[i], weights[i] * index.local_edge(state.locals[i], local, static_cast<int>(i) + 1, prior)});
  }
  const EvidenceIndex::Enabled enabled = index.enabled_by(local);
  if (enabled.gain > 0) s->terms.push_back({"enables " + enabled.local, p.credit_fade * enabled.gain});
  double sum = 0;
  for (const Term& term : s->terms) sum += term.value;
  s->terms.push_back({"failures", -index.local_failure(local) * (std::max(0.0, sum) + p.failure_cost)});
}

}  // namespace

double score_trigger(const std::string& direction, const DecisionState& state, const std::map<std::string, std::vector<std::string>>& triggers,
                     const PolicyParameters& p) {
  const auto named = triggers.find(direction);
  if (named == triggers.end()) return 0;
  double share = 0;
  for (const std::string& bottleneck : named->second) {
    const auto it = state.time_shares.find(bottleneck);
    if (it != state.time_shares.end()) share = std::max(share, it->second);
  }
  return p.trigger * share;
}

std::vector<double> prefix_weights(const Prefix& prefix, const PolicyParameters& p, MemoryMode mode) {
  const int longest = mode == MemoryMode::k1 ? 1 : p.prefix;
  std::vector<double> weights;
  double total = 0;
  for (int i = 0; i < longest && i < static_cast<int>(prefix.size()) && !prefix[static_cast<std::size_t>(i)].empty(); ++i) {
    weights.push_back(mode == MemoryMode::uniform_w ? 1 : std::exp(-p.prefix_decay * i));
    total += weights.back();
  }
  for (double& w : weights) w /= total;
  return weights;
}

std::vector<Scored> score_locals(const EvidenceIndex& index, const DecisionState& state, const std::vector<LocalOption>& options,
                                 const PolicyParameters& p, MemoryMode mode) {
  const bool steps = mode != MemoryMode::no_prefix && mode != MemoryMode::feedback;
  const std::vector<double> weights = steps ? prefix_weights(state.locals, p, mode) : std::vector<double>();
  std::vector<Scored> scored;
  for (const LocalOption& option : options) {
    Scored s;
    s.name = option.local;
    switch (mode) {
      case MemoryMode::no_local: s.terms.push_back({"predicted", p.predicted * option.predicted_gain}); break;
      case MemoryMode::flat:
      case MemoryMode::replay:
      case MemoryMode::vanilla: s.terms.push_back({"nearest tasks", flat_value(index, option, p)}); break;
      case MemoryMode::flat_plus: s.terms.push_back({"nearest tasks and this run", index.local_run_mean(option.local, flat_value(index, option, p))}); break;
      case MemoryMode::ucb: s.terms.push_back({"this run", index.local_run_mean(option.local, 0)}); break;
      default:
        if (index.is_cold()) {
          add_run_terms(index, state, option.local, flat_value(index, option, p), weights, &s);
        } else {
          add_local_terms(index, state, option.local, p.predicted * option.predicted_gain, weights, p, &s);
        }
    }
    const bool remembers = mode != MemoryMode::flat && mode != MemoryMode::replay && mode != MemoryMode::vanilla;
    if (option.failed_before && remembers) s.terms.push_back({"failed before", -p.repeat_failure});
    for (const Term& term : s.terms) s.score += term.value;
    scored.push_back(std::move(s));
  }
  std::stable_sort(scored.begin(), scored.end(), [](const Scored& a, const Scored& b) { return a.score > b.score; });
  return scored;
}

void fill_softmax(double temperature, std::vector<Scored>* scored) {
  CAIRN_CHECK(temperature > 0);
  double top = -1e300, total = 0;
  for (const Scored& s : *scored) top = std::max(top, s.score);
  for (Scored& s : *scored) total += s.probability = std::exp((s.score - top) / temperature);
  for (Scored& s : *scored) s.probability /= total;
}

std::vector<Scored> score_directions(const EvidenceIndex& index, const DecisionState& state, const std::vector<LocalOption>& options,
                                     const std::map<std::string, std::vector<std::string>>& triggers, const PolicyParameters& p, MemoryMode mode) {
  std::vector<Scored> scored;
  const std::vector<double> weights = prefix_weights(state.directions, p, mode);
  std::vector<std::string> names;
  for (const LocalOption& option : options) {
    if (state.closed.count(option.direction) != 0) continue;
    if (std::find(names.begin(), names.end(), option.direction) == names.end()) names.push_back(option.direction);
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    Scored s;
    s.name = name;
    if (mode != MemoryMode::no_trigger) s.terms.push_back({"trigger", score_trigger(name, state, triggers, p)});
    if (mode != MemoryMode::no_prefix) {
      for (std::size_t i = 0; i < weights.size(); ++i) {
        s.terms.push_back({"after " + state.directions[i], weights[i] * index.direction_edge(state.directions[i], name, static_cast<int>(i) + 1, 0)});
      }
    }
    std::vector<LocalOption> own;
    std::copy_if(options.begin(), options.end(), std::back_inserter(own), [&](const LocalOption& o) { return o.direction == name; });
    const std::vector<Scored> locals = score_locals(index, state, own, p, mode);
    s.terms.push_back({"best local " + locals.front().name, p.local_share * locals.front().score});
    const double seen = static_cast<double>(index.run_decisions(name)) + p.transition_count * static_cast<double>(index.run_decisions(name, state.program));
    s.terms.push_back({"count", count_term(index.run_decisions(), seen, p)});
    for (const Term& term : s.terms) s.score += term.value;
    scored.push_back(std::move(s));
  }
  fill_softmax(state.model_picks ? p.temperature_llm : p.temperature, &scored);
  return scored;
}

double local_count_term(const EvidenceIndex& index, const std::string& local, const Digest& program, const PolicyParameters& p) {
  const double seen = static_cast<double>(index.run_rows(local)) + p.transition_count * static_cast<double>(index.run_rows(local, program));
  return 0.5 * count_term(index.run_decisions(), seen, p);
}

double local_noise(const EvidenceIndex& index, const std::string& local, const PolicyParameters& p) {
  const double run = static_cast<double>(index.run_rows(local));
  const double all = static_cast<double>(std::min<std::uint64_t>(index.all_rows(local), static_cast<std::uint64_t>(p.noise_rows)));
  return p.noise / std::sqrt(1 + p.noise_run * run + all);
}

}  // namespace cairn
