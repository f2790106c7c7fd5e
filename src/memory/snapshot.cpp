// Rows of other runs, weighed and summed once (search-and-memory.md "The policy" 2).
#include <algorithm>
#include <array>
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

// Adds the row to a node.
void add_evidence(const Evidence& row, bool ours, double weight, double value, EvidenceKey node, EvidenceSums* sums) {
  EvidenceSum& sum = (*sums)[node];
  if (row.kind != EvidenceKind::passed) {
    sum.failed += weight;
    return;
  }
  sum.passed += weight;
  sum.own += ours ? weight : 0;
  sum.value += weight * value;
}

// Adds by how much a passed row deviates from its node to the edges that lead there from what came before.
void add_deviation(const Prefix& before, char kind, const std::string& name, double weight, double deviation, EvidenceSums* sums) {
  for (std::size_t lag = 1; lag <= before.size(); ++lag) {
    const std::string& from = before[lag - 1];
    if (from.empty()) continue;
    EvidenceSum& sum = (*sums)[edge_key(kind, from, name, static_cast<int>(lag))];
    sum.passed += weight;
    sum.value += weight * deviation;
  }
}

}  // namespace

void Context::add(const Evidence& row, const std::set<std::string>& made, bool ours, double weight, double value) {
  add_evidence(row, ours, weight, value, node_key('d', row.direction), &sums);
  add_evidence(row, ours, weight, value, node_key('l', row.local), &sums);
  const std::string name = name_of(row.local, made);
  if (name != row.local) add_evidence(row, ours, weight, value, node_key('l', name), &sums);
}

void Context::add_edges(const Evidence& row, const std::set<std::string>& made, double weight, const Deviation& deviation) {
  add_deviation(row.directions, 'D', row.direction, weight, deviation.direction, &sums);
  add_deviation(row.locals, 'L', name_of(row.local, made), weight, deviation.local, &sums);
}

Deviation find_deviation(const std::vector<Level>& levels, const Evidence& row, const std::set<std::string>& made, double value) {
  double direction = 0, local = 0;
  for (const Level& l : levels) {
    direction = l.context->gain(node_key('d', row.direction), direction, l.kappa);
    local = l.context->gain(node_key('l', l.context->name_of(row.local, made)), local, l.kappa);
  }
  return {value - direction, value - local};
}

double Context::gain(EvidenceKey key, double parent, double kappa) const {
  const auto it = sums.find(key);
  return it == sums.end() ? parent : it->second.gain(parent, kappa);
}

std::string Context::name_of(const std::string& local, const std::set<std::string>& made) const {
  const auto it = prerequisites.find(local);
  return it == prerequisites.end() ? local : conditioned_name(local, made.count(it->second) != 0);
}

const Prerequisites& EvidenceSnapshot::Impl::prerequisites(const std::string& family, const std::string& bottleneck) const {
  if (const auto f = families.find(family_context(family, bottleneck)); f != families.end()) return f->second.prerequisites;
  if (const auto b = bottlenecks.find(bottleneck); b != bottlenecks.end()) return b->second.prerequisites;
  return all.prerequisites;
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
  const auto impl = std::make_shared<Impl>();
  impl_ = impl;
  if (is_blind(mode)) return;
  const auto uncounted = [&](const Evidence& row) { return !is_counted(row, state.implementer); };
  store.erase(std::remove_if(store.begin(), store.end(), uncounted), store.end());
  impl->rows = std::move(store);
  const std::vector<MadeBefore> made = list_made(impl->rows);
  // Where a row counts, the widest context first, and how much.
  struct Placed {
    std::array<Context*, 3> contexts;
    double weight = 0;
  };
  std::vector<Placed> placed;
  std::unordered_map<Context*, std::vector<PathRow>> rows_of;
  std::unordered_map<const Context*, const Context*> wider;
  for (std::size_t k = 0; k < impl->rows.size(); ++k) {
    const Evidence& row = impl->rows[k];
    Context* const bottleneck = &impl->bottlenecks[row.bottleneck];
    Context* const family = &impl->families[family_context(row.task.family, row.bottleneck)];
    placed.push_back({{&impl->all, bottleneck, family}, weigh_evidence(row, state.device, state.now, p)});
    for (Context* context : placed[k].contexts) rows_of[context].push_back({&row, placed[k].weight, &made[k]});
    wider[family] = bottleneck;
    impl->counts[row.local] += 1;
    impl->tasks[row.task.name].push_back(k);
  }
  for (auto& [context, rows] : rows_of) context->prerequisites = find_prerequisites(rows, p);
  // A context knows of the prerequisites that the wider one does, unless it knows better.
  const auto inherit = [](Context* context, const Context& from) { context->prerequisites.insert(from.prerequisites.begin(), from.prerequisites.end()); };
  for (auto& [name, context] : impl->bottlenecks) inherit(&context, impl->all);
  for (auto& [name, context] : impl->families) inherit(&context, *wider.at(&context));
  for (std::size_t k = 0; k < impl->rows.size(); ++k) {
    const Evidence& row = impl->rows[k];
    const double value = value_evidence(row, row.gain, p);
    for (Context* context : placed[k].contexts) context->add(row, made[k].locals, is_ours(row, state.implementer), placed[k].weight, value);
  }
  // A row deviates from what its local gains in its own family at its bottleneck: between families locals gain on other scales.
  for (std::size_t k = 0; k < impl->rows.size(); ++k) {
    const Evidence& row = impl->rows[k];
    if (row.kind != EvidenceKind::passed) continue;
    std::vector<Level> levels;
    for (const Context* context : placed[k].contexts) levels.push_back({context, p.kappa});
    const Deviation deviation = find_deviation(levels, row, made[k].locals, value_evidence(row, row.gain, p));
    for (Context* context : placed[k].contexts) context->add_edges(row, made[k].locals, placed[k].weight, deviation);
  }
}

std::size_t EvidenceSnapshot::tasks() const { return impl_->tasks.size(); }

}  // namespace cairn
