// Rows of other runs, weighed and summed once (search-and-memory.md "The policy" 2).
#include <algorithm>
#include <cmath>

#include "memory/snapshot_impl.h"

namespace cairn {

namespace {

double certificate_weight(const Evidence& row, const PolicyParameters& p) {
  if (row.certificate == "executed") return p.weight_executed;
  return row.certificate == "numeric" ? p.weight_numeric : p.weight_lower;
}

double device_weight(const DeviceMark& a, const DeviceMark& b, const PolicyParameters& p) {
  if (a.fingerprint == b.fingerprint) return p.device_same;
  if (a.architecture == b.architecture) return p.device_architecture;
  return a.kind == b.kind ? p.device_kind : p.device_other;
}

}  // namespace

void add_evidence(const Evidence& row, bool ours, double weight, double value, EvidenceSums* sums) {
  const bool passed = row.kind == EvidenceKind::passed;
  const auto add = [&](EvidenceKey key) {
    EvidenceSum& sum = (*sums)[key];
    if (!passed) {
      sum.failed += weight;
      return;
    }
    sum.passed += weight;
    sum.own += ours ? weight : 0;
    sum.value += weight * value;
  };
  add(node_key('d', row.direction));
  add(node_key('l', row.local));
  for (std::size_t lag = 1; lag <= row.directions.size(); ++lag) {
    const std::string& direction = row.directions[lag - 1];
    const std::string& local = row.locals[lag - 1];
    if (!direction.empty()) add(edge_key('D', direction, row.direction, static_cast<int>(lag)));
    if (!local.empty()) add(edge_key('L', local, row.local, static_cast<int>(lag)));
  }
}

double weigh_evidence(const Evidence& row, const DeviceMark& device, std::int64_t now, const PolicyParameters& p) {
  const double days = std::max(0.0, static_cast<double>(now - row.date) / 86400);
  const double weight = std::exp2(-days / p.half_life_days) * device_weight(row.device, device, p);
  return row.kind == EvidenceKind::failed ? weight : weight * certificate_weight(row, p);
}

double measure_task_distance(const TaskMark& a, const TaskMark& b, const PolicyParameters& p) {
  double sum = a.family == b.family ? 0 : p.flat_family_distance * p.flat_family_distance;
  for (std::size_t k = 0; k < std::min(a.features.size(), b.features.size()); ++k) {
    const double apart = a.features[k] - b.features[k];
    sum += apart * apart;
  }
  return std::sqrt(sum);
}

EvidenceSnapshot::EvidenceSnapshot(std::vector<Evidence> store, const DecisionState& state, const PolicyParameters& p, MemoryMode mode) {
  const auto made = std::make_shared<Impl>();
  if (mode == MemoryMode::feedback || mode == MemoryMode::vanilla || mode == MemoryMode::ucb || mode == MemoryMode::random) store.clear();
  for (Evidence& row : store) {
    if (!is_counted(row, state.implementer)) continue;
    const bool ours = is_ours(row, state.implementer);
    const double weight = weigh_evidence(row, state.device, state.now, p), value = value_evidence(row, p, mode);
    add_evidence(row, ours, weight, value, &made->all);
    add_evidence(row, ours, weight, value, &made->bottlenecks[row.bottleneck]);
    add_evidence(row, ours, weight, value, &made->families[family_context(row.task.family, row.bottleneck)]);
    made->counts[row.local] += 1;
    made->tasks[row.task.name].push_back(made->rows.size());
    made->rows.push_back(std::move(row));
  }
  impl_ = made;
}

std::size_t EvidenceSnapshot::tasks() const { return impl_->tasks.size(); }

}  // namespace cairn
