// What stands on what: locals that gain more on paths that made another local before them (docs/decisions/0008). Internal to the policy.
#pragma once
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "memory/evidence.h"
#include "memory/parameters.h"

namespace cairn {

// By local: the one before it that it gains most by, where the evidence is clear.
using Prerequisites = std::unordered_map<std::string, std::string>;

// What a row's path made before it, by the run's passed rows.
struct MadeBefore {
  std::set<std::string> locals;
  std::unordered_map<std::string, double> losses;   // of those that lost: the sum of their negative gains
};
// Of each row; rows of a run hang together by number and parent.
std::vector<MadeBefore> list_made(const std::vector<Evidence>& rows);

// A row with its weight and its path.
struct PathRow {
  const Evidence* row = nullptr;
  double weight = 0;
  const MadeBefore* made = nullptr;
};

// Compares, for each local, the rows after each other local with the rest (gains, 0 for a failure; less what the other lost, for what
// only repairs that is no gain) and keeps the difference of the largest z score that is at least prerequisite_z; both sides have
// prerequisite_rows rows, and the rows after it gain prerequisite_gain, and so much more than the rest.
Prerequisites find_prerequisites(const std::vector<PathRow>& rows, const PolicyParameters& parameters);

// The name of a local's own sums where its prerequisite was made, or was not.
std::string conditioned_name(const std::string& local, bool met);

}  // namespace cairn
