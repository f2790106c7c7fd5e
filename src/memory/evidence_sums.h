// Weighted sums of evidence by node and edge: what the means with back-off are made of. Internal to the policy.
#pragma once
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "base/hash.h"
#include "memory/evidence.h"
#include "memory/parameters.h"

namespace cairn {

// Rows of one node or edge in one context. Gains pool over all implementers, the failure rate over one kind.
struct EvidenceSum {
  double passed = 0, own = 0;   // weight of correct rows: of all implementers, of ours
  double failed = 0;            // weight of our kind's failures
  double value = 0;             // sum of w (R - c_r [R < limit]) over the correct rows

  // Of the correct rows alone: (sum w (r - c_r [R < limit]) + kappa parent) / (sum w + kappa).
  double gain(double parent, double kappa) const { return passed > 0 ? (value + kappa * parent) / (passed + kappa) : parent; }
  // The share of our kind's rows that fail, the parent's counted kappa times.
  double failure(double parent, double kappa) const { return own + failed > 0 ? (failed + kappa * parent) / (own + failed + kappa) : parent; }
  // (sum w (R - c_f fail - c_r [R < limit]) + kappa parent) / (sum w + kappa) where all rows are of one kind; else the
  // correct rows' mean stands for those of ours and the failure rate is ours.
  double mean(double parent, double kappa, double failure_cost) const {
    const double weight = passed + failed;
    if (weight <= 0) return parent;
    const double rate = failed > 0 ? failed / (own + failed) : 0, gain = passed > 0 ? value / passed : 0;
    return (weight * ((1 - rate) * gain - rate * failure_cost) + kappa * parent) / (weight + kappa);
  }
};

// A node or edge by the hash of its kind and names: 64 bits over a few thousand names.
using EvidenceKey = std::uint64_t;
inline EvidenceKey node_key(char kind, std::string_view name) { return combine64(static_cast<std::uint64_t>(kind), hash64(name)); }
inline EvidenceKey edge_key(char kind, std::string_view from, std::string_view to, int lag) {
  return combine64(static_cast<std::uint64_t>(kind) * 8 + static_cast<std::uint64_t>(lag), combine64(hash64(from), hash64(to)));
}

using EvidenceSums = std::unordered_map<EvidenceKey, EvidenceSum>;

// w = certificate x 2^(-age / half life) x device; failures have no certificate.
double weigh_evidence(const Evidence& row, const DeviceMark& device, std::int64_t now, const PolicyParameters& parameters);

// Distance of flat retrieval: Euclidean over the features that both have, with a step between families.
double measure_task_distance(const TaskMark& a, const TaskMark& b, const PolicyParameters& parameters);

}  // namespace cairn
