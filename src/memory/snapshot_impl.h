// What a snapshot holds. Internal to the policy.
#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "memory/evidence_sums.h"
#include "memory/policy.h"

namespace cairn {

// By a context's name: bottleneck class, or family and class.
using ContextSums = std::unordered_map<std::string, EvidenceSums>;
inline std::string family_context(const std::string& family, const std::string& bottleneck) { return family + '\n' + bottleneck; }

// The value of a row in a mean, without the cost of a failure, which the rate brings in.
inline double value_evidence(const Evidence& row, const PolicyParameters& p, MemoryMode mode) {
  const double credit = mode == MemoryMode::no_credit ? row.gain : row.credit;
  return credit - (credit < p.regress_limit ? p.regress_cost : 0);
}

// Strategies and models fail for reasons of their own; `kind` is the part of an implementer before the '@'.
inline bool is_ours(const Evidence& row, const std::string& kind) {
  return row.implementer.compare(0, row.implementer.find('@'), kind, 0, kind.find('@')) == 0;
}
// Whether the row counts at all.
inline bool is_counted(const Evidence& row, const std::string& kind) {
  if (row.kind == EvidenceKind::passed) return true;
  return row.kind == EvidenceKind::failed && is_ours(row, kind);
}

struct EvidenceSnapshot::Impl {
  std::vector<Evidence> rows;                          // counted ones
  std::map<std::string, std::vector<std::size_t>> tasks;   // rows of each
  EvidenceSums all;
  ContextSums bottlenecks, families;
  std::unordered_map<std::string, std::uint64_t> counts;   // rows of each local
};

}  // namespace cairn
