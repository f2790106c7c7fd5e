// Means of evidence with back-off over contexts (search-and-memory.md "The policy" 2):
//   m_c(x) = (sum w v + kappa m_parent(x)) / (sum w + kappa),  v = R - c_f fail - c_r [R < limit]
// over the contexts all < bottleneck < family (rows of the family at that bottleneck) < this run (rows of this run at that
// bottleneck). Above `all` stands the static prior.
#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "memory/policy.h"

namespace cairn {

namespace {

struct Sum {
  double weight = 0, value = 0;
  void add(double w, double v) {
    weight += w;
    value += w * v;
  }
  double mean(double parent, double kappa) const { return (value + kappa * parent) / (weight + kappa); }
};
using Sums = std::unordered_map<std::string, Sum>;

std::string node_key(char kind, const std::string& name) { return std::string(1, kind) + name; }
std::string edge_key(char kind, const std::string& from, const std::string& to, int lag) {
  return std::string(1, kind) + static_cast<char>('0' + lag) + from + ">" + to;
}

double certificate_weight(const Evidence& row, const PolicyParameters& p) {
  if (row.certificate == "executed") return p.weight_executed;
  return row.certificate == "numeric" ? p.weight_numeric : p.weight_lower;
}

double device_weight(const DeviceMark& a, const DeviceMark& b, const PolicyParameters& p) {
  if (a == b) return p.device_same;
  if (a.architecture == b.architecture && a.kind == b.kind) return p.device_architecture;
  return a.kind == b.kind ? p.device_kind : p.device_other;
}

// Euclidean, over the features that both have.
double task_distance(const TaskMark& a, const TaskMark& b) {
  double sum = a.family == b.family ? 0 : 4;
  for (std::size_t k = 0; k < std::min(a.features.size(), b.features.size()); ++k) sum += (a.features[k] - b.features[k]) * (a.features[k] - b.features[k]);
  return std::sqrt(sum);
}

}  // namespace

struct EvidenceIndex::Impl {
  PolicyParameters parameters;
  MemoryMode mode = MemoryMode::htam;
  DecisionState state;
  Sums all, family;                                   // of the store
  std::unordered_map<std::string, Sums> bottlenecks;  // by class
  std::unordered_map<std::string, Sums> families;     // by class, rows of the task's family
  std::unordered_map<std::string, Sums> run;          // by class
  std::unordered_map<std::string, std::uint64_t> rows_all, rows_run, directions_run;
  std::uint64_t decisions = 0;
  std::map<std::pair<std::string, Digest>, std::uint64_t> at_program;
  std::set<std::string> task_names;
  Sums nearest;
  std::vector<std::string> path;

  double value_of(const Evidence& row) const {
    const bool failed = row.kind == EvidenceKind::failed;
    const double credit = failed ? 0 : mode == MemoryMode::no_credit ? row.gain : row.credit;
    return credit - (failed ? parameters.failure_cost : 0) - (credit < parameters.regress_limit ? parameters.regress_cost : 0);
  }
  double weight_of(const Evidence& row) const {
    const double days = std::max(0.0, static_cast<double>(state.now - row.date) / 86400);
    const double weight = std::exp2(-days / parameters.half_life_days) * device_weight(row.device, state.device, parameters);
    return row.kind == EvidenceKind::failed ? weight : weight * certificate_weight(row, parameters);
  }
  // Failures of another kind of implementer say nothing of this one.
  bool counts(const Evidence& row) const {
    if (row.kind == EvidenceKind::host || row.kind == EvidenceKind::inner) return false;
    return row.kind != EvidenceKind::failed || row.implementer.compare(0, state.implementer.size(), state.implementer) == 0;
  }

  static void add_row(const Evidence& row, double w, double v, Sums* sums) {
    (*sums)[node_key('d', row.direction)].add(w, v);
    (*sums)[node_key('l', row.local)].add(w, v);
    for (int lag = 1; lag <= 2; ++lag) {
      const auto at = static_cast<std::size_t>(lag - 1);
      if (!row.directions[at].empty()) (*sums)[edge_key('D', row.directions[at], row.direction, lag)].add(w, v);
      if (!row.locals[at].empty()) (*sums)[edge_key('L', row.locals[at], row.local, lag)].add(w, v);
    }
  }

  void add_store(const std::vector<Evidence>& rows) {
    for (const Evidence& row : rows) {
      if (!counts(row)) continue;
      task_names.insert(row.task.name);
      rows_all[row.local] += 1;
      const double w = weight_of(row), v = value_of(row);
      add_row(row, w, v, &all);
      add_row(row, w, v, &bottlenecks[row.bottleneck]);
      if (row.task.family == state.task.family) add_row(row, w, v, &families[row.bottleneck]);
    }
  }

  // Flat retrieval: the rows of the nearest tasks.
  void find_nearest(const std::vector<Evidence>& rows) {
    std::map<std::string, double> distance;
    for (const Evidence& row : rows) {
      if (counts(row)) distance.try_emplace(row.task.name, task_distance(row.task, state.task));
    }
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [name, d] : distance) order.emplace_back(d, name);
    std::sort(order.begin(), order.end());
    if (order.size() > static_cast<std::size_t>(parameters.flat_tasks)) order.resize(static_cast<std::size_t>(parameters.flat_tasks));
    std::set<std::string> near;
    for (const auto& [d, name] : order) near.insert(name);
    const Evidence* best = nullptr;
    double best_score = 0;
    std::map<std::pair<std::string, std::uint64_t>, const Evidence*> by_number;
    for (const Evidence& row : rows) {
      if (counts(row) && near.count(row.task.name) != 0) by_number[{row.run, row.number}] = &row;
    }
    for (const auto& [key, row] : by_number) {
      nearest[row->local].add(1, row->kind == EvidenceKind::failed ? 0 : row->credit);
      double score = 0;
      for (const Evidence* at = row; at;) {
        score += at->gain;
        const auto up = by_number.find({at->run, at->parent});
        at = up == by_number.end() || up->second == at ? nullptr : up->second;
      }
      if (row->kind == EvidenceKind::passed && score > best_score) {
        best_score = score;
        best = row;
      }
    }
    for (const Evidence* at = best; at;) {
      path.insert(path.begin(), at->local);
      const auto up = by_number.find({at->run, at->parent});
      at = up == by_number.end() || up->second == at ? nullptr : up->second;
    }
  }

  double mean(const std::string& key, double prior) const {
    const auto step = [&](const Sums& sums, double parent, double kappa) {
      const auto it = sums.find(key);
      return it == sums.end() ? parent : it->second.mean(parent, kappa);
    };
    const auto part = [&](const std::unordered_map<std::string, Sums>& parts, double parent, double kappa) {
      const auto it = parts.find(state.bottleneck);
      return it == parts.end() ? parent : step(it->second, parent, kappa);
    };
    double m = step(all, prior, parameters.kappa);
    if (mode != MemoryMode::no_context) {
      m = part(bottlenecks, m, parameters.kappa);
      m = part(families, m, parameters.kappa);
    }
    if (mode != MemoryMode::no_run) m = part(run, m, parameters.kappa_run);
    return m;
  }
};

EvidenceIndex::EvidenceIndex(std::vector<Evidence> store, const DecisionState& state, const PolicyParameters& parameters, MemoryMode mode)
    : impl_(std::make_shared<Impl>()) {
  impl_->parameters = parameters;
  impl_->mode = mode;
  impl_->state = state;
  // These know nothing of other runs.
  const bool blind = mode == MemoryMode::feedback || mode == MemoryMode::vanilla || mode == MemoryMode::ucb || mode == MemoryMode::random;
  if (blind) store.clear();
  impl_->add_store(store);
  impl_->find_nearest(store);
}

void EvidenceIndex::set_run(std::vector<Evidence> rows) {
  impl_->run.clear();
  impl_->rows_run.clear();
  impl_->directions_run.clear();
  impl_->at_program.clear();
  impl_->decisions = 0;
  for (const Evidence& row : rows) {
    if (!impl_->counts(row)) continue;
    impl_->decisions += 1;
    impl_->rows_run[row.local] += 1;
    impl_->directions_run[row.direction] += 1;
    Impl::add_row(row, impl_->weight_of(row), impl_->value_of(row), &impl_->run[row.bottleneck]);
  }
}

void EvidenceIndex::count_at(const std::string& direction, const Digest& program) { impl_->at_program[{direction, program}] += 1; }
void EvidenceIndex::set_bottleneck(const std::string& bottleneck) { impl_->state.bottleneck = bottleneck; }

double EvidenceIndex::direction_mean(const std::string& direction, double prior) const { return impl_->mean(node_key('d', direction), prior); }
double EvidenceIndex::direction_edge(const std::string& from, const std::string& to, int lag, double prior) const {
  return impl_->mean(edge_key('D', from, to, lag), prior);
}
double EvidenceIndex::local_mean(const std::string& local, double prior) const { return impl_->mean(node_key('l', local), prior); }
double EvidenceIndex::local_edge(const std::string& from, const std::string& to, int lag, double prior) const {
  return impl_->mean(edge_key('L', from, to, lag), prior);
}
std::optional<double> EvidenceIndex::nearest_mean(const std::string& local) const {
  const auto it = impl_->nearest.find(local);
  if (it == impl_->nearest.end()) return std::nullopt;
  return it->second.value / it->second.weight;
}
const std::vector<std::string>& EvidenceIndex::best_path() const { return impl_->path; }

namespace {
std::uint64_t count_of(const std::unordered_map<std::string, std::uint64_t>& counts, const std::string& name) {
  const auto it = counts.find(name);
  return it == counts.end() ? 0 : it->second;
}
}  // namespace

std::uint64_t EvidenceIndex::run_rows(const std::string& local) const { return count_of(impl_->rows_run, local); }
std::uint64_t EvidenceIndex::all_rows(const std::string& local) const { return count_of(impl_->rows_all, local); }
std::uint64_t EvidenceIndex::run_decisions() const { return impl_->decisions; }
std::uint64_t EvidenceIndex::run_decisions(const std::string& direction) const { return count_of(impl_->directions_run, direction); }
std::uint64_t EvidenceIndex::run_decisions(const std::string& direction, const Digest& program) const {
  const auto it = impl_->at_program.find({direction, program});
  return it == impl_->at_program.end() ? 0 : it->second;
}
std::size_t EvidenceIndex::tasks() const { return impl_->task_names.size(); }

}  // namespace cairn
