// What the runs of `cairn bench memory` amount to: means, ratios of evaluations, paired bootstrap intervals, curves.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/core.h>

#include "base/rng.h"
#include "cli/memory_bench.h"
#include "report/chart.h"

namespace cairn {

namespace {

constexpr int kResamples = 1000;
constexpr double kReached = 0.98;    // of flat's final log speed-up
constexpr double kGains = 0.01;      // flat gains at least this, or the run says nothing of evaluations

using Key = std::pair<std::string, std::uint64_t>;   // task, seed

double at(const MemoryBenchRun& run, std::size_t evaluation) {
  if (run.best.empty()) return 0;
  return run.best[std::min(evaluation, run.best.size() - 1)];
}

// First evaluation that reaches the score; twice the budget if none does.
double evaluations_to(const MemoryBenchRun& run, double score, std::size_t budget) {
  for (std::size_t k = 0; k < std::min(budget, run.best.size()); ++k) {
    if (run.best[k] >= score) return static_cast<double>(k + 1);
  }
  return 2 * static_cast<double>(budget);
}

// Values of tasks, the seeds of a task summed; resampled together.
struct TaskSums {
  std::map<std::string, std::pair<double, double>> sums;   // numerator, denominator
  void add(const std::string& task, double numerator, double denominator) {
    auto& [n, d] = sums[task];
    n += numerator;
    d += denominator;
  }
  // Ratio of the sums, with its interval over resampled tasks.
  Estimate ratio(Rng rng) const {
    std::vector<std::pair<double, double>> tasks;
    for (const auto& [task, sum] : sums) tasks.push_back(sum);
    const auto of = [&](const auto& pick) {
      double n = 0, d = 0;
      for (std::size_t k = 0; k < tasks.size(); ++k) {
        const auto& [tn, td] = tasks[pick(k)];
        n += tn;
        d += td;
      }
      return d > 0 ? n / d : std::nan("");
    };
    Estimate out;
    out.mean = of([](std::size_t k) { return k; });
    if (tasks.empty()) return out;
    std::vector<double> resampled;
    for (int r = 0; r < kResamples; ++r) {
      const double value = of([&](std::size_t) { return rng.below(tasks.size()); });
      if (std::isfinite(value)) resampled.push_back(value);
    }
    if (resampled.empty()) return out;
    std::sort(resampled.begin(), resampled.end());
    out.lo = resampled[resampled.size() / 20];
    out.hi = resampled[resampled.size() - 1 - resampled.size() / 20];
    return out;
  }
};

ModeResult judge_mode(const std::vector<const MemoryBenchRun*>& runs, const std::map<Key, const MemoryBenchRun*>& flat,
                      const std::map<std::string, double>& best, std::size_t budget, Rng rng) {
  ModeResult out;
  out.setting = runs[0]->setting;
  out.mode = runs[0]->mode;
  out.runs = runs.size();
  TaskSums ratio, gain;
  std::map<std::string, TaskSums> families;
  std::vector<TaskSums> curve(budget);
  for (const MemoryBenchRun* run : runs) {
    const double n = static_cast<double>(runs.size());
    const double final_log = at(*run, budget - 1);
    out.final_log += final_log / n;
    for (std::size_t k = 0; k < budget; ++k) {
      out.area += at(*run, k) / (n * static_cast<double>(budget));
      curve[k].add(run->task, at(*run, k), 1);
    }
    out.to_ninety += evaluations_to(*run, 0.9 * best.at(run->task), budget) / n;
    out.distinct += static_cast<double>(run->distinct) / n;
    out.failed += static_cast<double>(run->failed) / n;
    const auto rival = flat.find({run->task, run->seed});
    if (rival == flat.end()) continue;
    const double goal = at(*rival->second, budget - 1);
    gain.add(run->task, final_log - goal, 1);
    if (goal <= kGains) continue;
    const double ours = evaluations_to(*run, kReached * goal, budget), theirs = evaluations_to(*rival->second, kReached * goal, budget);
    ratio.add(run->task, ours, theirs);
    families[run->family].add(run->task, ours, theirs);
  }
  out.geometric_mean = std::exp(out.final_log);
  out.ratio = ratio.ratio(rng.split("ratio"));
  out.gain = gain.ratio(rng.split("gain"));
  for (const auto& [family, sums] : families) out.family_ratios.emplace_back(family, sums.ratio(rng).mean);
  for (std::size_t k = 0; k < budget; ++k) out.curve.push_back(curve[k].ratio(rng.split(k)));
  return out;
}

Json interval_json(const Estimate& i) { return Json{{"mean", i.mean}, {"lo", i.lo}, {"hi", i.hi}}; }

}  // namespace

std::vector<ModeResult> judge_bench(const std::vector<MemoryBenchRun>& runs, std::size_t budget, std::uint64_t seed) {
  std::map<std::string, double> best;   // by task, over everyone
  std::map<std::pair<std::string, std::string>, std::vector<const MemoryBenchRun*>> groups;
  std::map<std::string, std::map<Key, const MemoryBenchRun*>> flat;
  for (const MemoryBenchRun& run : runs) {
    best[run.task] = std::max(best[run.task], at(run, budget - 1));
    groups[{run.setting, run.mode}].push_back(&run);
    if (run.mode == "flat") flat[run.setting][{run.task, run.seed}] = &run;
  }
  std::vector<ModeResult> results;
  for (const auto& [key, group] : groups) results.push_back(judge_mode(group, flat[key.first], best, budget, Rng(seed).split(key.first).split(key.second)));
  return results;
}

Json bench_json(const std::vector<ModeResult>& results) {
  Json list = Json::array();
  for (const ModeResult& r : results) {
    Json families = Json::object();
    for (const auto& [family, ratio] : r.family_ratios) families[family] = ratio;
    Json curve = Json::array();
    for (const Estimate& point : r.curve) curve.push_back(Json::array({point.mean, point.lo, point.hi}));
    list.push_back(Json{{"setting", r.setting}, {"mode", r.mode}, {"runs", r.runs}, {"final_log_speedup", r.final_log}, {"geometric_mean", r.geometric_mean},
                        {"area", r.area}, {"evaluations_to_90", r.to_ninety}, {"ratio_to_flat", interval_json(r.ratio)},
                        {"gain_over_flat", interval_json(r.gain)}, {"distinct", r.distinct}, {"failed", r.failed}, {"ratio_to_flat_by_family", families},
                        {"curve", curve}});
  }
  return list;
}

std::string bench_text(const std::vector<ModeResult>& results) {
  std::string text = fmt::format("{:<10} {:<13} {:>5} {:>9} {:>7} {:>8} {:>22} {:>26} {:>8} {:>7}\n", "setting", "mode", "runs", "geo mean", "area", "to 90 %",
                                 "evaluations over flat", "final log over flat", "distinct", "failed");
  for (const ModeResult& r : results) {
    text += fmt::format("{:<10} {:<13} {:>5} {:>8.2f}x {:>7.3f} {:>8.1f} {:>8.3f} [{:.3f}, {:.3f}] {:>9.4f} [{:.4f}, {:.4f}] {:>8.1f} {:>7.1f}\n",
                        r.setting, r.mode, r.runs, r.geometric_mean, r.area, r.to_ninety, r.ratio.mean, r.ratio.lo, r.ratio.hi, r.gain.mean, r.gain.lo,
                        r.gain.hi, r.distinct, r.failed);
  }
  std::set<std::string> families;
  for (const ModeResult& r : results) {
    for (const auto& [family, ratio] : r.family_ratios) families.insert(family);
  }
  text += fmt::format("\nevaluations over flat, by family\n{:<24}", "");
  for (const std::string& family : families) text += fmt::format(" {:>13}", family);
  for (const ModeResult& r : results) {
    if (r.mode == "flat") continue;
    text += fmt::format("\n{:<24}", r.setting + " " + r.mode);
    for (const std::string& family : families) {
      const auto it = std::find_if(r.family_ratios.begin(), r.family_ratios.end(), [&](const auto& f) { return f.first == family; });
      text += it == r.family_ratios.end() ? fmt::format(" {:>13}", "-") : fmt::format(" {:>13.3f}", it->second);
    }
  }
  return text + "\n";
}

std::string bench_svg(const std::vector<ModeResult>& results, const std::string& setting) {
  Chart chart{"Best speed-up so far, " + setting, "evaluations", "mean log speed-up over naive", {}};
  for (const ModeResult& r : results) {
    if (r.setting != setting) continue;
    ChartLine line;
    line.label = r.mode;
    for (std::size_t k = 0; k < r.curve.size(); ++k) {
      line.points.emplace_back(static_cast<double>(k + 1), r.curve[k].mean);
      line.band.emplace_back(r.curve[k].lo, r.curve[k].hi);
    }
    chart.lines.push_back(std::move(line));
  }
  return draw_chart(chart);
}

std::string print_bench_run(const MemoryBenchRun& r) {
  return dump_json(Json{{"task", r.task}, {"family", r.family}, {"setting", r.setting}, {"mode", r.mode}, {"seed", r.seed}, {"naive_s", r.naive_seconds},
                        {"best", r.best}, {"steps", r.steps}, {"distinct", r.distinct}, {"failed", r.failed}});
}

Result<MemoryBenchRun> parse_bench_run(const std::string& line) {
  CAIRN_TRY(const Json j, parse_json(line, "bench memory"));
  MemoryBenchRun r;
  CAIRN_TRY(r.task, get_string(j, "task"));
  CAIRN_TRY(r.family, get_string(j, "family"));
  CAIRN_TRY(r.setting, get_string(j, "setting"));
  CAIRN_TRY(r.mode, get_string(j, "mode"));
  CAIRN_TRY(const std::int64_t seed, get_int(j, "seed"));
  CAIRN_TRY(r.naive_seconds, get_double(j, "naive_s"));
  CAIRN_TRY(const std::int64_t distinct, get_int(j, "distinct"));
  CAIRN_TRY(const std::int64_t failed, get_int(j, "failed"));
  r.seed = static_cast<std::uint64_t>(seed);
  r.distinct = static_cast<std::size_t>(distinct);
  r.failed = static_cast<std::size_t>(failed);
  if (!j.contains("best") || !j["best"].is_array()) return Error{Code::parse, "bench memory: 'best' is missing, expected a list of numbers", {}, {}};
  if (j.contains("steps") && j["steps"].is_array()) {
    for (const Json& step : j["steps"]) r.steps.push_back(step.is_string() ? step.get<std::string>() : "");
  }
  for (const Json& value : j["best"]) r.best.push_back(value.is_number() ? value.get<double>() : 0);
  return r;
}

}  // namespace cairn
