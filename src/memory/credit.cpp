// Credit of steps (search-and-memory.md "The policy" 1): a step gets the best cumulative log gain that its trajectory
// reaches from it on, so that a move which only enables the next one is paid for it.
#include <algorithm>

#include "base/check.h"
#include "memory/policy.h"

namespace cairn {

std::vector<double> credit_path(const std::vector<double>& gains) {
  std::vector<std::int64_t> parents;
  for (std::size_t k = 0; k < gains.size(); ++k) parents.push_back(static_cast<std::int64_t>(k) - 1);
  return credit_tree(gains, parents, std::vector<bool>(gains.size(), false));
}

std::vector<double> credit_tree(const std::vector<double>& gains, const std::vector<std::int64_t>& parents, const std::vector<bool>& failed, double fade) {
  CAIRN_CHECK(gains.size() == parents.size() && gains.size() == failed.size());
  // best[k]: the largest sum from k down any path, k itself included; children come after their parents.
  std::vector<double> best(gains.size(), 0), below(gains.size(), 0), credit(gains.size(), 0);
  for (std::size_t k = gains.size(); k-- > 0;) {
    const double own = failed[k] ? 0 : gains[k];
    best[k] = own + fade * std::max(0.0, below[k]);
    if (parents[k] < 0) continue;
    CAIRN_CHECK(parents[k] < static_cast<std::int64_t>(k));
    const auto parent = static_cast<std::size_t>(parents[k]);
    if (!failed[k]) below[parent] = std::max(below[parent], best[k]);
  }
  for (std::size_t k = 0; k < gains.size(); ++k) {
    if (failed[k]) continue;
    credit[k] = best[k] > 0 ? best[k] : gains[k];
  }
  return credit;
}

}  // namespace cairn
