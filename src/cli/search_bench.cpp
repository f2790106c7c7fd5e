#include "cli/search_bench.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/core.h>

#include "report/chart.h"

namespace cairn {

namespace {

struct Group {
  std::string algorithm, proposer;
  std::vector<const SearchBenchRow*> rows;
  SpeedupStatistics naive, torch;
  double efficiency = 0, distinct = 0, evaluations = 0, seconds = 0;
  std::vector<std::string> unsolved;
  std::string name() const { return algorithm + " " + proposer; }
};

std::vector<Group> group_rows(const std::vector<SearchBenchRow>& rows) {
  std::vector<Group> groups;
  for (const SearchBenchRow& row : rows) {
    auto it = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.algorithm == row.algorithm && g.proposer == row.proposer; });
    if (it == groups.end()) it = groups.insert(groups.end(), Group{row.algorithm, row.proposer, {}, {}, {}, 0, 0, 0, 0, {}});
    it->rows.push_back(&row);
  }
  for (Group& g : groups) {
    std::vector<double> naive, torch;
    const auto n = static_cast<double>(g.rows.size());
    for (const SearchBenchRow* row : g.rows) {
      naive.push_back(row->speedup);
      if (row->over_torch) torch.push_back(*row->over_torch);
      if (!row->failure.empty()) g.unsolved.push_back(row->task + ": " + row->failure);
      g.efficiency += row->efficiency / n;
      g.distinct += static_cast<double>(row->distinct) / n;
      g.evaluations += static_cast<double>(row->evaluations) / n;
      g.seconds += row->wall_seconds / n;
    }
    g.naive = speedup_statistics(std::move(naive));
    g.torch = speedup_statistics(std::move(torch));
  }
  return groups;
}

Json statistics_json(const SpeedupStatistics& s) {
  if (s.count == 0) return Json();
  return Json{{"tasks", s.count}, {"mean", s.mean}, {"median", s.median}, {"geometric_mean", s.geometric_mean}, {"peak", s.peak}};
}

// The best log speed-up after an evaluation; what a run ended with stays.
double best_after(const SearchBenchRow& row, std::size_t evaluation) { return row.best.empty() ? 0 : row.best[std::min(evaluation, row.best.size() - 1)]; }

std::vector<double> mean_curve(const Group& group) {
  std::size_t length = 0;
  for (const SearchBenchRow* row : group.rows) length = std::max(length, row->best.size());
  std::vector<double> curve;
  for (std::size_t k = 0; k < length; ++k) {
    double sum = 0;
    for (const SearchBenchRow* row : group.rows) sum += best_after(*row, k);
    curve.push_back(sum / static_cast<double>(group.rows.size()));
  }
  return curve;
}

}  // namespace

SpeedupStatistics speedup_statistics(std::vector<double> speedups) {
  SpeedupStatistics s;
  s.count = speedups.size();
  if (speedups.empty()) return s;
  std::sort(speedups.begin(), speedups.end());
  const std::size_t n = speedups.size();
  s.mean = std::accumulate(speedups.begin(), speedups.end(), 0.0) / static_cast<double>(n);
  s.median = n % 2 == 1 ? speedups[n / 2] : (speedups[n / 2 - 1] + speedups[n / 2]) / 2;
  double logs = 0;
  for (const double x : speedups) logs += std::log(x);
  s.geometric_mean = std::exp(logs / static_cast<double>(n));
  s.peak = speedups.back();
  return s;
}

Json search_bench_json(const std::vector<SearchBenchRow>& rows) {
  Json groups = Json::array(), tasks = Json::array();
  for (const Group& g : group_rows(rows)) {
    const bool enumerates = g.rows[0]->enumerates;
    groups.push_back(Json{{"algorithm", g.algorithm}, {"proposer", g.proposer}, {"over_naive", statistics_json(g.naive)},
                          {"over_torch", statistics_json(g.torch)}, {"efficiency", enumerates ? Json() : Json(g.efficiency)},
                          {"distinct_strategies", g.distinct}, {"evaluations", g.evaluations},
                          {"wall_seconds", g.seconds}, {"unsolved", g.unsolved}, {"curve", mean_curve(g)}});
  }
  for (const SearchBenchRow& r : rows) {
    tasks.push_back(Json{{"task", r.task}, {"algorithm", r.algorithm}, {"proposer", r.proposer}, {"speedup", r.speedup},
                         {"over_torch", r.over_torch ? Json(*r.over_torch) : Json()},
                         {"evaluations", r.evaluations}, {"proposals", r.proposals}, {"efficiency", r.enumerates ? Json() : Json(r.efficiency)},
                         {"distinct_strategies", r.distinct}, {"steps", r.steps}, {"wall_seconds", r.wall_seconds}, {"failure", r.failure}});
  }
  return Json{{"version", 1}, {"groups", groups}, {"tasks", tasks}};
}

std::string search_bench_text(const std::vector<SearchBenchRow>& rows) {
  std::string text = fmt::format("{:<11} {:<11} {:>5} {:>9} {:>9} {:>9} {:>9} {:>10} {:>10} {:>8} {:>7} {:>7}\n", "algorithm", "proposer", "tasks", "mean",
                                 "median", "geo mean", "peak", "geo torch", "efficiency", "distinct", "evals", "s/task");
  for (const Group& g : group_rows(rows)) {
    const std::string torch = g.torch.count == 0 ? "-" : fmt::format("{:.2f}x", g.torch.geometric_mean);
    const std::string efficiency = g.rows[0]->enumerates ? "n/a" : fmt::format("{:.2f}", g.efficiency);
    text += fmt::format("{:<11} {:<11} {:>5} {:>8.2f}x {:>8.2f}x {:>8.2f}x {:>8.2f}x {:>10} {:>10} {:>8.1f} {:>7.1f} {:>7.1f}\n", g.algorithm,
                        g.proposer, g.naive.count, g.naive.mean, g.naive.median, g.naive.geometric_mean, g.naive.peak, torch,
                        efficiency, g.distinct, g.evaluations, g.seconds);
    for (const std::string& task : g.unsolved) text += "  counted as 1.0x: " + task + "\n";
  }
  return text;
}

std::string search_bench_svg(const std::vector<SearchBenchRow>& rows) {
  Chart chart{"Best speed-up so far", "evaluations", "mean log speed-up over naive", {}};
  for (const Group& g : group_rows(rows)) {
    ChartLine line;
    line.label = g.name();
    const std::vector<double> curve = mean_curve(g);
    for (std::size_t k = 0; k < curve.size(); ++k) line.points.emplace_back(static_cast<double>(k), curve[k]);
    chart.lines.push_back(std::move(line));
  }
  return draw_chart(chart);
}

}  // namespace cairn
