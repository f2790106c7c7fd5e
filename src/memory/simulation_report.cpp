#include "memory/simulation_report.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace cairn {

namespace {

constexpr int kFirstTask = 1000;   // tasks under comparison are none of the store's

// Snapshots that modes share: of the store, of all but a family, of nothing.
class Snapshots {
 public:
  Snapshots(const std::vector<Evidence>& store, const PolicyParameters& parameters) : store_(store), parameters_(parameters) {}
  const EvidenceSnapshot& find(const SimTask& task, MemoryMode mode, bool leave_out) {
    const MemoryMode kind = is_blind(mode) ? MemoryMode::random : MemoryMode::htam;
    const std::string family = leave_out && !is_blind(mode) ? task.mark.family : std::string();
    const auto it = made_.find({kind, family});
    if (it != made_.end()) return it->second;
    std::vector<Evidence> rows;
    if (!is_blind(mode)) {
      std::copy_if(store_.begin(), store_.end(), std::back_inserter(rows), [&](const Evidence& row) { return family.empty() || row.task.family != family; });
    }
    return made_.emplace(std::pair(kind, family), EvidenceSnapshot(std::move(rows), make_sim_decision(task), parameters_, kind)).first->second;
  }

 private:
  const std::vector<Evidence>& store_;
  const PolicyParameters& parameters_;
  std::map<std::pair<MemoryMode, std::string>, EvidenceSnapshot> made_;
};

// Standard error of the mean difference.
double error_of(const std::vector<double>& a, const std::vector<double>& b) {
  double mean = 0, square = 0;
  const double n = static_cast<double>(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) mean += (a[k] - b[k]) / n;
  for (std::size_t k = 0; k < a.size(); ++k) square += (a[k] - b[k] - mean) * (a[k] - b[k] - mean);
  return n < 2 ? 0 : std::sqrt(square / (n - 1) / n);
}

}  // namespace

std::vector<MemoryMode> sim_modes() {
  std::vector<MemoryMode> modes;
  for (int k = 0; k <= static_cast<int>(MemoryMode::no_trigger); ++k) {
    if (static_cast<MemoryMode>(k) != MemoryMode::flat) modes.push_back(static_cast<MemoryMode>(k));
  }
  return modes;
}

SimReport compare_modes(const SimPlan& plan, const PolicyParameters& parameters, std::vector<MemoryMode> modes) {
  SimReport report;
  report.plan = plan;
  modes.insert(modes.begin(), MemoryMode::flat);
  const std::vector<Evidence> store = plan.cold ? std::vector<Evidence>() : build_sim_store(plan.world, plan.stored, plan.store_budget);
  report.rows = store.size();
  Snapshots snapshots(store, parameters);
  std::vector<SimTask> tasks;
  for (int family = 0; family < kSimFamilies; ++family) {
    for (int k = 0; k < plan.tasks; ++k) tasks.push_back(make_sim_task(plan.world, family, kFirstTask + k));
  }
  for (const SimTask& task : tasks) report.optimum += find_sim_optimum(task) / static_cast<double>(tasks.size());
  std::vector<double> flat_best, flat_area;
  double flat_evaluations = 0;
  for (const MemoryMode mode : modes) {
    SimRow row;
    row.mode = mode;
    row.least_distinct = 1e9;
    std::vector<double> best, area;
    double evaluations = 0, used = 0;
    for (const SimTask& task : tasks) {
      for (int seed = 0; seed < plan.seeds; ++seed) {
        const SimRun run = run_simulation(task, snapshots.find(task, mode, plan.leave_out), parameters, mode, static_cast<std::uint64_t>(seed), plan.budget);
        best.push_back(run.best.back());
        area.push_back(run.area());
        row.distinct += static_cast<double>(run.distinct);
        row.least_distinct = std::min(row.least_distinct, static_cast<double>(run.distinct));
        if (mode == MemoryMode::flat) flat_best.push_back(best.back());
        const double target = flat_best[best.size() - 1];
        if (target <= 0.01) continue;
        const std::size_t reached = run.evaluations_to(0.98 * target);
        used += 1;
        evaluations += static_cast<double>(reached);
        row.never += reached > plan.budget;
      }
    }
    const double n = static_cast<double>(best.size());
    if (mode == MemoryMode::flat) flat_area = area, flat_evaluations = evaluations;
    for (std::size_t k = 0; k < best.size(); ++k) row.best += best[k] / n, row.area += area[k] / n;
    row.best_error = error_of(best, flat_best);
    row.best_area_error = error_of(area, flat_area);
    row.distinct /= n;
    row.never /= std::max(1.0, used);
    row.evaluations = evaluations / std::max(1.0, used);
    row.ratio = flat_evaluations > 0 ? evaluations / flat_evaluations : 0;
    report.modes.push_back(row);
  }
  return report;
}

std::vector<double> repeat_simulation(std::uint64_t world, int runs, std::size_t budget, const PolicyParameters& parameters) {
  std::vector<double> means(static_cast<std::size_t>(runs), 0);
  for (int family = 0; family < kSimFamilies; ++family) {
    std::vector<Evidence> store;
    std::vector<SimRun> made;
    for (int k = 0; k < runs; ++k) {
      // Ten tasks of the family a run: one run says little.
      for (int number = 0; number < 10; ++number) {
        const SimTask task = make_sim_task(world, family, kFirstTask + number);
        const EvidenceSnapshot snapshot(store, make_sim_decision(task), parameters, MemoryMode::htam);
        made.push_back(run_simulation(task, snapshot, parameters, MemoryMode::htam, static_cast<std::uint64_t>(k), budget));
      }
      for (std::size_t at = made.size() - 10; at < made.size(); ++at) store.insert(store.end(), made[at].rows.begin(), made[at].rows.end());
    }
    for (std::size_t number = 0; number < 10; ++number) {
      double best = 0;
      for (std::size_t k = 0; k < means.size(); ++k) best = std::max(best, made[10 * k + number].best.back());
      for (std::size_t k = 0; k < means.size(); ++k) {
        means[k] += static_cast<double>(made[10 * k + number].evaluations_to(0.9 * best)) / (10.0 * kSimFamilies);
      }
    }
  }
  return means;
}

}  // namespace cairn
