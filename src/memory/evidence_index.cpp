// Means of evidence with back-off over contexts (search-and-memory.md "The policy" 2):
//   m_c(x) = (sum w (R - c_f fail - c_r [R < limit]) + kappa m_parent(x)) / (sum w + kappa)
// over the contexts all < bottleneck < family at that bottleneck < this run. Above `all` stands the static prior.
#include <algorithm>

#include "memory/snapshot_impl.h"
#include "memory/trajectories.h"

namespace cairn {

namespace {

const EvidenceSums* find_context(const ContextSums& contexts, const std::string& name) {
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
  EvidenceSums run;
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

  double step(const EvidenceSums* sums, EvidenceKey key, double parent, double kappa) const {
    if (!sums) return parent;
    const auto it = sums->find(key);
    return it == sums->end() ? parent : it->second.mean(parent, kappa, parameters.failure_cost);
  }
  double run_mean(EvidenceKey key, double prior) const {
    return mode == MemoryMode::no_run ? prior : step(&run, key, prior, parameters.kappa_run);
  }
  double mean(EvidenceKey key, double prior) const {
    double m = step(&store->all, key, prior, parameters.kappa);
    if (mode != MemoryMode::no_context) {
      m = step(find_context(store->bottlenecks, state.bottleneck), key, m, parameters.kappa);
      m = step(find_context(store->families, family_context(state.task.family, state.bottleneck)), key, m, parameters.kappa);
    }
    return run_mean(key, m);
  }
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
  impl_->rows_run.clear();
  impl_->directions_run.clear();
  impl_->decisions = 0;
  const DecisionState& state = impl_->state;
  for (const Evidence& row : rows) {
    if (!is_counted(row, state.implementer)) continue;
    impl_->decisions += 1;
    impl_->rows_run[row.local] += 1;
    impl_->directions_run[row.direction] += 1;
    add_evidence(row, is_ours(row, state.implementer), weigh_evidence(row, state.device, state.now, impl_->parameters),
                 value_evidence(row, impl_->parameters, impl_->mode), &impl_->run);
  }
}

void EvidenceIndex::count_at(const std::string& direction, const Digest& program) { impl_->directions_at[{direction, program}] += 1; }
void EvidenceIndex::count_at(const std::string& direction, const std::string& local, const Digest& program) {
  count_at(direction, program);
  impl_->locals_at[{local, program}] += 1;
}
void EvidenceIndex::set_bottleneck(const std::string& bottleneck) { impl_->state.bottleneck = bottleneck; }

double EvidenceIndex::direction_mean(const std::string& direction, double prior) const { return impl_->mean(node_key('d', direction), prior); }
double EvidenceIndex::direction_edge(const std::string& from, const std::string& to, int lag, double prior) const {
  return impl_->mean(edge_key('D', from, to, lag), prior);
}
double EvidenceIndex::local_mean(const std::string& local, double prior) const { return impl_->mean(node_key('l', local), prior); }
double EvidenceIndex::local_edge(const std::string& from, const std::string& to, int lag, double prior) const {
  return impl_->mean(edge_key('L', from, to, lag), prior);
}
double EvidenceIndex::local_run_mean(const std::string& local, double prior) const { return impl_->run_mean(node_key('l', local), prior); }
double EvidenceIndex::local_run_edge(const std::string& from, const std::string& to, int lag, double prior) const {
  return impl_->run_mean(edge_key('L', from, to, lag), prior);
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

}  // namespace cairn
