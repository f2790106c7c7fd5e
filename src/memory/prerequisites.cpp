#include "memory/prerequisites.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "memory/trajectories.h"

namespace cairn {

namespace {

// Weighted gains.
struct Gains {
  std::size_t rows = 0;
  double weight = 0, sum = 0, square = 0;
  double lost = 0;   // by the other local, weighted
  void add(double w, double gain, double loss = 0) { rows += 1, weight += w, sum += w * gain, square += w * gain * gain, lost += w * loss; }
  Gains operator-(const Gains& o) const { return {rows - o.rows, weight - o.weight, sum - o.sum, square - o.square, 0}; }
  double mean() const { return sum / weight; }
  double variance() const { return std::max(0.0, square / weight - mean() * mean()) * static_cast<double>(rows) / static_cast<double>(rows - 1); }
};
struct LocalGains {
  Gains all;
  std::map<std::string, Gains> after;   // by a local made before
};

}  // namespace

std::vector<MadeBefore> list_made(const std::vector<Evidence>& rows) {
  Trajectories passed;
  for (const Evidence& row : rows) passed.add(row);
  std::vector<MadeBefore> made(rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    for (const Evidence* step : passed.path_to(rows[k])) {
      if (step == &rows[k]) continue;
      made[k].locals.insert(step->local);
      if (step->gain < 0) made[k].losses[step->local] += step->gain;
    }
  }
  return made;
}

Prerequisites find_prerequisites(const std::vector<PathRow>& rows, const PolicyParameters& p) {
  std::map<std::string, LocalGains> locals;
  for (const PathRow& r : rows) {
    const double gain = r.row->kind == EvidenceKind::passed ? r.row->gain : 0;
    LocalGains& gains = locals[r.row->local];
    gains.all.add(r.weight, gain);
    for (const std::string& before : r.made->locals) {
      const auto lost = r.made->losses.find(before);
      gains.after[before].add(r.weight, gain, lost == r.made->losses.end() ? 0 : lost->second);
    }
  }
  const double noise = p.prerequisite_noise * p.prerequisite_noise;
  const auto least = static_cast<std::size_t>(std::max(2, p.prerequisite_rows));
  Prerequisites found;
  for (const auto& [local, gains] : locals) {
    double best = p.prerequisite_z;
    for (const auto& [before, met] : gains.after) {
      const Gains unmet = gains.all - met;
      if (met.rows < least || unmet.rows < least) continue;
      const double net = met.mean() + met.lost / met.weight, more = net - unmet.mean();
      if (std::min(net, more) < p.prerequisite_gain) continue;
      const double error = std::sqrt((met.variance() + noise) / met.weight + (unmet.variance() + noise) / unmet.weight);
      if (more / error < best) continue;
      best = more / error;
      found[local] = before;
    }
  }
  return found;
}

std::string conditioned_name(const std::string& local, bool met) { return local + (met ? "\n+" : "\n-"); }

}  // namespace cairn
