// Means of evidence with back-off over contexts (search-and-memory.md "The policy" 2):
//   m_c(x) = (sum w (r - c_r [R < limit]) + kappa m_parent(x)) / (sum w + kappa)
// over the contexts all < bottleneck < family at that bottleneck < this run at that bottleneck. Above `all` stands the static prior.
// A local's failures have a rate of their own; a direction's are in its mean, each as a gain of -c_f.
// A local whose gain hangs on another made before it has its rows with and without it apart (docs/decisions/0008).
#include <algorithm>

#include "memory/snapshot_impl.h"
#include "memory/trajectories.h"

namespace cairn {

namespace {

const Context* find_context(const Contexts& contexts, const std::string& name) {
  const auto it = contexts.find(name);
  return it == contexts.end() ? nullptr : &it->second;
}

template <class Map, class Key>
std::uint64_t count_of(const Map& counts, const Key& key) {
  const auto it = counts.find(key);
  return it == counts.end() ? 0 : it->second;
}

}  // namespace

struct EvidenceIndex::Impl {
  PolicyParameters parameters;
  MemoryMode mode = MemoryMode::htam;
  DecisionState state;
  std::shared_ptr<const EvidenceSnapshot::Impl> store;
  Contexts run;                                         // by bottleneck
  struct RunRow { std::string local; std::set<std::string> made; bool failed; double weight; };
  std::vector<RunRow> run_rows;                         // of our kind
  std::unordered_map<std::string, std::uint64_t> rows_run, directions_run;
  std::uint64_t decisions = 0;
  std::map<std::pair<std::string, Digest>, std::uint64_t> directions_at, locals_at;
  std::unordered_map<std::string, std::pair<double, double>> nearest;   // by local: rows, sum of R
  std::vector<std::vector<std::string>> paths;

  // Flat retrieval: the rows of the nearest tasks, the nearer first, ties by name.
  void find_nearest() {
    std::vector<std::pair<double, const std::string*>> order;
    for (const auto& [name, rows] : store->tasks) {
      order.emplace_back(measure_task_distance(store->rows[rows.front()].task, state.task, parameters), &name);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    if (order.size() > static_cast<std::size_t>(parameters.flat_tasks)) order.resize(static_cast<std::size_t>(parameters.flat_tasks));
    for (const auto& [distance, name] : order) {
      const std::vector<std::size_t>& rows = store->tasks.at(*name);
      for (const std::size_t k : rows) {
        const Evidence& row = store->rows[k];
        auto& [count, sum] = nearest[row.local];
        count += 1;
        if (row.kind == EvidenceKind::passed) sum += row.credit;
      }
      if (mode == MemoryMode::replay) paths.push_back(best_path_of(rows));
    }
  }

  // Locals along the path with the largest sum of gains; empty if none gains.
  std::vector<std::string> best_path_of(const std::vector<std::size_t>& rows) const {
    Trajectories passed;
    for (const std::size_t k : rows) passed.add(store->rows[k]);
    std::vector<const Evidence*> best;
    double best_score = 0;
    for (const auto& [key, row] : passed.rows()) {
      std::vector<const Evidence*> steps = passed.path_to(*row);
      const double score = Trajectories::score(steps);
      if (score <= best_score) continue;
      best_score = score;
      best = std::move(steps);
    }
    std::vector<std::string> path;
    for (const Evidence* step : best) path.push_back(step->local);
    return path;
  }

  double step(const Context& context, EvidenceKey key, double parent, double kappa) const {
    const auto it = context.sums.find(key);
    return it == context.sums.end() ? parent : it->second.mean(parent, kappa, parameters.failure_cost);
  }
  // This run's rows at a bottleneck; nullptr without.
  const Context* run_context(const std::string& bottleneck) const { return mode == MemoryMode::no_run ? nullptr : find_context(run, bottleneck); }
  std::vector<Level> levels() const { return levels_at(state.bottleneck); }
  std::vector<Level> levels_at(const std::string& bottleneck) const {
    std::vector<Level> list = store_levels(bottleneck);
    const Context* own = run_context(bottleneck);
    if (own) list.push_back({own, parameters.kappa_run});
    return list;
  }
  std::vector<Level> store_levels(const std::string& bottleneck) const {
    std::vector<Level> list{{&store->all, parameters.kappa}};
    if (mode != MemoryMode::no_context) {
      list.push_back({find_context(store->bottlenecks, bottleneck), parameters.kappa});
      list.push_back({find_context(store->families, family_context(state.task.family, bottleneck)), parameters.kappa});
    }
    list.erase(std::remove_if(list.begin(), list.end(), [](const Level& l) { return !l.context; }), list.end());
    return list;
  }
  // A local's name in a context's sums on a path that made these.
  std::string name_in(const Context& context, const std::string& local, const std::set<std::string>& made) const {
    return mode == MemoryMode::no_prefix ? local : context.name_of(local, made);
  }
  double run_mean(EvidenceKey key, double prior) const {
    const Context* own = run_context(state.bottleneck);
    return own ? step(*own, key, prior, parameters.kappa_run) : prior;
  }
  double mean(EvidenceKey key, double prior) const {
    double m = prior;
    for (const Level& l : levels()) m = step(*l.context, key, m, l.kappa);
    return m;
  }
  // What a local gains where it is correct, and how often it is not: at any bottleneck in this run, on paths like this one.
  double local_gain(const std::string& local, const std::set<std::string>& made, double prior) const {
    double g = prior;
    for (const Level& l : levels()) g = l.context->gain(node_key('l', name_in(*l.context, local, made)), g, l.kappa);
    return g;
  }
  double local_failure(const std::string& local, const std::set<std::string>& made) const {
    double rate = 0;
    for (const Level& l : store_levels(state.bottleneck)) {
      const auto it = l.context->sums.find(node_key('l', name_in(*l.context, local, made)));
      if (it != l.context->sums.end()) rate = it->second.failure(rate, l.kappa);
    }
    if (mode == MemoryMode::no_run) return rate;
    const Prerequisites& known = store->prerequisites(state.task.family, state.bottleneck);
    const auto needs = mode == MemoryMode::no_prefix ? known.end() : known.find(local);
    EvidenceSum sum;
    for (const RunRow& row : run_rows) {
      if (row.local != local || (needs != known.end() && row.made.count(needs->second) != made.count(needs->second))) continue;
      (row.failed ? sum.failed : sum.own) += row.weight;
    }
    return sum.failure(rate, parameters.kappa_failure);
  }
  double local_mean(const std::string& local, const std::set<std::string>& made, double prior) const {
    const double rate = local_failure(local, made);
    return (1 - rate) * local_gain(local, made, prior) - rate * parameters.failure_cost;
  }
  // By how much an edge deviates from the node that it leads to, in correct rows.
  double deviation(char kind, const std::string& from, const std::string& to, int lag) const {
    double d = 0;
    for (const Level& l : levels()) d = l.context->gain(edge_key(kind, from, kind == 'L' ? name_in(*l.context, to, state.made) : to, lag), d, l.kappa);
    return d;
  }
  // What the row is worth in this run: modes that score what a local enables where they decide, with a store that tells, read its gain.
  double own_gain(const Evidence& row) const {
    const bool ahead = mode != MemoryMode::feedback && mode != MemoryMode::ucb && mode != MemoryMode::flat_plus;
    return ahead && !is_cold() ? row.gain : row.credit;
  }
  bool is_cold() const { return store->tasks.size() < static_cast<std::size_t>(parameters.cold_tasks); }
};

EvidenceIndex::EvidenceIndex(std::vector<Evidence> store, const DecisionState& state, const PolicyParameters& parameters, MemoryMode mode)
    : EvidenceIndex(EvidenceSnapshot(std::move(store), state, parameters, mode), state, parameters, mode) {}

EvidenceIndex::EvidenceIndex(const EvidenceSnapshot& snapshot, const DecisionState& state, const PolicyParameters& parameters, MemoryMode mode)
    : impl_(std::make_shared<Impl>()) {
  impl_->parameters = parameters;
  impl_->mode = mode;
  impl_->state = state;
  impl_->store = snapshot.impl_;
  impl_->find_nearest();
}

void EvidenceIndex::set_run(const std::vector<Evidence>& rows) {
  impl_->run.clear();
  impl_->run_rows.clear();
  impl_->rows_run.clear();
  impl_->directions_run.clear();
  impl_->decisions = 0;
  const DecisionState& state = impl_->state;
  const std::vector<MadeBefore> made = list_made(rows);
  std::vector<double> weights(rows.size(), 0), values(rows.size(), 0);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const Evidence& row = rows[k];
    if (!is_counted(row, state.implementer)) continue;
    impl_->decisions += 1;
    impl_->rows_run[row.local] += 1;
    impl_->directions_run[row.direction] += 1;
    const auto [at, fresh] = impl_->run.try_emplace(row.bottleneck);
    if (fresh) at->second.prerequisites = impl_->store->prerequisites(state.task.family, row.bottleneck);
    const bool ours = is_ours(row, state.implementer);
    weights[k] = weigh_evidence(row, state.device, state.now, impl_->parameters);
    values[k] = value_evidence(row, impl_->own_gain(row), impl_->parameters);
    at->second.add(row, made[k].locals, ours, weights[k], values[k]);
    if (ours) impl_->run_rows.push_back({row.local, made[k].locals, row.kind == EvidenceKind::failed, weights[k]});
  }
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const Evidence& row = rows[k];
    if (row.kind != EvidenceKind::passed) continue;   // all of these count
    const Deviation deviation = find_deviation(impl_->levels_at(row.bottleneck), row, made[k].locals, values[k]);
    impl_->run.at(row.bottleneck).add_edges(row, made[k].locals, weights[k], deviation);
  }
}

void EvidenceIndex::count_at(const std::string& direction, const Digest& program) { impl_->directions_at[{direction, program}] += 1; }
void EvidenceIndex::count_at(const std::string& direction, const std::string& local, const Digest& program) {
  count_at(direction, program);
  impl_->locals_at[{local, program}] += 1;
}
void EvidenceIndex::set_place(const std::string& bottleneck, std::set<std::string> made) {
  impl_->state.bottleneck = bottleneck;
  impl_->state.made = std::move(made);
}

double EvidenceIndex::direction_mean(const std::string& direction, double prior) const { return impl_->mean(node_key('d', direction), prior); }
double EvidenceIndex::direction_edge(const std::string& from, const std::string& to, int lag, double prior) const {
  return direction_mean(to, prior) + impl_->deviation('D', from, to, lag);
}
double EvidenceIndex::local_mean(const std::string& local, double prior) const { return impl_->local_mean(local, impl_->state.made, prior); }
double EvidenceIndex::local_edge(const std::string& from, const std::string& to, int lag, double prior) const {
  return local_gain(to, prior) + impl_->deviation('L', from, to, lag);
}
double EvidenceIndex::local_run_mean(const std::string& local, double prior) const { return impl_->run_mean(node_key('l', local), prior); }
double EvidenceIndex::local_run_edge(const std::string& from, const std::string& to, int lag, double prior) const {
  const Context* own = impl_->run_context(impl_->state.bottleneck);
  return own ? prior + own->gain(edge_key('L', from, own->name_of(to, impl_->state.made), lag), 0, impl_->parameters.kappa_run) : prior;
}
double EvidenceIndex::local_gain(const std::string& local, double prior) const { return impl_->local_gain(local, impl_->state.made, prior); }
double EvidenceIndex::local_failure(const std::string& local) const { return impl_->local_failure(local, impl_->state.made); }
EvidenceIndex::Enabled EvidenceIndex::enabled_by(const std::string& local) const {
  Enabled best;
  const DecisionState& state = impl_->state;
  std::set<std::string> then = state.made;
  if (impl_->mode == MemoryMode::no_prefix || impl_->mode == MemoryMode::no_credit || !then.insert(local).second) return best;
  for (const auto& [other, needs] : impl_->store->prerequisites(state.task.family, state.bottleneck)) {
    if (needs != local || state.made.count(other) != 0) continue;
    const double gain = impl_->local_mean(other, then, 0) - std::max(0.0, impl_->local_mean(other, state.made, 0));
    if (gain > best.gain || (gain == best.gain && gain > 0 && other < best.local)) best = {other, gain};
  }
  return best;
}
std::optional<double> EvidenceIndex::nearest_mean(const std::string& local) const {
  const auto it = impl_->nearest.find(local);
  if (it == impl_->nearest.end()) return std::nullopt;
  return it->second.second / it->second.first;
}
const std::vector<std::vector<std::string>>& EvidenceIndex::best_paths() const { return impl_->paths; }

std::uint64_t EvidenceIndex::run_rows(const std::string& local) const { return count_of(impl_->rows_run, local); }
std::uint64_t EvidenceIndex::all_rows(const std::string& local) const { return count_of(impl_->store->counts, local); }
std::uint64_t EvidenceIndex::run_decisions() const { return impl_->decisions; }
std::uint64_t EvidenceIndex::run_decisions(const std::string& direction) const { return count_of(impl_->directions_run, direction); }
std::uint64_t EvidenceIndex::run_decisions(const std::string& direction, const Digest& program) const {
  return count_of(impl_->directions_at, std::pair(direction, program));
}
std::uint64_t EvidenceIndex::run_rows(const std::string& local, const Digest& program) const {
  return count_of(impl_->locals_at, std::pair(local, program));
}
std::size_t EvidenceIndex::tasks() const { return impl_->store->tasks.size(); }
bool EvidenceIndex::is_cold() const { return impl_->is_cold(); }

}  // namespace cairn
