// Passed rows of runs as the trees they grew in. Internal to the policy and to recall.
#pragma once
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "memory/evidence.h"

namespace cairn {

// Rows by run and number; they must outlive this.
class Trajectories {
 public:
  using Rows = std::map<std::pair<std::string_view, std::uint64_t>, const Evidence*>;
  // Failed, host and inner rows are no part of a trajectory.
  void add(const Evidence& row) {
    if (row.kind == EvidenceKind::passed) rows_.emplace(std::pair{std::string_view(row.run), row.number}, &row);
  }
  // All rows, by run and number.
  const Rows& rows() const { return rows_; }
  // The rows from the first known step to this one.
  std::vector<const Evidence*> path_to(const Evidence& row) const {
    std::vector<const Evidence*> path;
    for (const Evidence* at = &row; at; at = parent_of(*at)) path.push_back(at);
    return {path.rbegin(), path.rend()};
  }
  // The sum of gains along a path.
  static double score(const std::vector<const Evidence*>& path) {
    double sum = 0;
    for (std::size_t k = path.size(); k-- > 0;) sum += path[k]->gain;
    return sum;
  }

 private:
  const Evidence* parent_of(const Evidence& row) const {
    const auto up = row.parent < row.number ? rows_.find({row.run, row.parent}) : rows_.end();
    return up == rows_.end() ? nullptr : up->second;
  }
  Rows rows_;
};

}  // namespace cairn
