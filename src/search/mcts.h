// The formulas of Monte Carlo tree search, for its tests.
#pragma once
#include <cstdint>
#include <vector>

namespace cairn {

// Running quantiles of the scores of correct results, and values in [0, 1] relative to them.
class ScoreQuantiles {
 public:
  void add(double score);
  // The quantile of `share` in [0, 1], linear between order statistics; 0 without scores.
  double at(double share) const;
  // clip((score - q5) / max(q95 - q5, 0.01), 0, 1).
  double value(double score) const;

 private:
  std::vector<double> scores_;   // ascending
};

// Children a node of so many visits may have: ceil((1 + visits)^0.5).
std::size_t widening_limit(std::uint64_t visits);
// value + 0.7 sqrt(ln N / n).
double edge_score(double value, std::uint64_t node_visits, std::uint64_t edge_visits);

}  // namespace cairn
