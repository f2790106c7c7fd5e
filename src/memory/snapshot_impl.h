// What a snapshot holds. Internal to the policy.
#pragma once
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "memory/evidence_sums.h"
#include "memory/policy.h"
#include "memory/prerequisites.h"

namespace cairn {

// By how much a row's value differs from the means of its direction and of its local.
struct Deviation {
  double direction = 0, local = 0;
};
// What one context holds.
struct Context {
  EvidenceSums sums;               // a local with a prerequisite has sums of its own with and without it beside those of all rows
  Prerequisites prerequisites;
  // To its nodes, then to the edges between them.
  void add(const Evidence& row, const std::set<std::string>& made, bool ours, double weight, double value);
  void add_edges(const Evidence& row, const std::set<std::string>& made, double weight, const Deviation& deviation);
  // The mean of correct rows of a node, or of deviations on an edge, with the wider context's.
  double gain(EvidenceKey key, double parent, double kappa) const;
  // Where the sums of a local are on a path that made these.
  std::string name_of(const std::string& local, const std::set<std::string>& made) const;
};
// A context and the weight of what is wider; what a mean backs off over, the widest first.
struct Level { const Context* context; double kappa; };
Deviation find_deviation(const std::vector<Level>& levels, const Evidence& row, const std::set<std::string>& made, double value);
// By a context's name: bottleneck class, or family and class.
using Contexts = std::unordered_map<std::string, Context>;
inline std::string family_context(const std::string& family, const std::string& bottleneck) { return family + '\n' + bottleneck; }

// The value of a row in a mean, without the cost of a failure, which the rate brings in; regress is judged on the credit.
inline double value_evidence(const Evidence& row, double gain, const PolicyParameters& p) {
  return gain - (row.credit < p.regress_limit ? p.regress_cost : 0);
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
  Context all;
  Contexts bottlenecks, families;
  std::unordered_map<std::string, std::uint64_t> counts;   // rows of each local
  // Of the narrowest context that holds rows.
  const Prerequisites& prerequisites(const std::string& family, const std::string& bottleneck) const;
};

}  // namespace cairn
