// cairn bench memory --sim: the modes of the memory's policy on simulated tasks with a known optimum.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "cli/bench.h"
#include "memory/simulation_report.h"

namespace cairn {

namespace {

struct MemoryWords {
  bool sim = false, leave_out = false, cold = false;
  SimPlan plan;
  std::vector<std::string> only;
};

Json report_json(const SimReport& report) {
  Json modes = Json::array();
  for (const SimRow& row : report.modes) {
    modes.push_back(Json{{"mode", std::string(memory_mode_name(row.mode))}, {"final", row.best}, {"final_error", row.best_error}, {"area", row.area},
                         {"area_error", row.best_area_error}, {"evaluations", row.evaluations}, {"never", row.never}, {"ratio_to_flat", row.ratio},
                         {"distinct", row.distinct}});
  }
  return Json{{"store_rows", report.rows}, {"optimum", report.optimum}, {"modes", modes}};
}

std::string report_text(const std::string& title, const SimReport& report) {
  std::string text = fmt::format("{}: {} rows of memory, optimum {:.3f}\n{:<13} {:>7} {:>7} {:>7} {:>7} {:>6} {:>6} {:>9}\n", title, report.rows, report.optimum, "mode",
                                 "final", "+-", "area", "evals", "never", "ratio", "distinct");
  for (const SimRow& row : report.modes) {
    text += fmt::format("{:<13} {:>7.3f} {:>7.3f} {:>7.3f} {:>7.1f} {:>6.2f} {:>6.2f} {:>9.1f}\n", memory_mode_name(row.mode), row.best, row.best_error, row.area,
                        row.evaluations, row.never, row.ratio, row.distinct);
  }
  return text + "\n";
}

double htam_ratio(const SimReport& report) {
  for (const SimRow& row : report.modes) {
    if (row.mode == MemoryMode::htam) return row.ratio;
  }
  return 0;
}

Result<int> bench_memory_sim(Session& session, MemoryWords words) {
  if (!words.sim) return Error{Code::usage, "bench memory compares modes on simulated tasks only", {}, {"give --sim"}};
  std::vector<MemoryMode> modes;
  for (const std::string& name : words.only) {
    const auto mode = parse_memory_mode(name);
    if (!mode) return Error{Code::usage, fmt::format("no mode of the memory is called '{}'", name), {}, {"htam, flat+, replay, ... (docs/memory-policy.md)"}};
    if (*mode != MemoryMode::flat) modes.push_back(*mode);
  }
  if (modes.empty()) modes = sim_modes();
  struct Part { const char* name; bool leave_out, cold; };
  Json json = Json::object();
  std::string text;
  for (const Part& part : {Part{"warm", false, false}, Part{"cold", false, true}, Part{"leave_one_out", true, false}}) {
    SimPlan plan = words.plan;
    plan.leave_out = part.leave_out;
    plan.cold = part.cold;
    const SimReport report = compare_modes(plan, {}, modes);
    json[std::string(part.name) + "_ratio_to_flat"] = htam_ratio(report);
    json[part.name] = report_json(report);
    text += report_text(part.name, report);
  }
  session.answer(json, text);
  return 0;
}

}  // namespace

CommandRun setup_bench_memory(CLI::App& app) {
  auto words = std::make_shared<MemoryWords>();
  app.add_flag("--sim", words->sim, "on simulated tasks");
  app.add_option("--only", words->only, "modes to compare with flat (default: all)");
  app.add_option("--world", words->plan.world, "seed of the simulated families");
  app.add_option("--tasks", words->plan.tasks, "tasks a family")->check(CLI::Range(1, 1000));
  app.add_option("--seeds", words->plan.seeds, "runs a task")->check(CLI::Range(1, 1000));
  app.add_option("--stored", words->plan.stored, "tasks of memory a family")->check(CLI::Range(1, 900));
  app.add_option("--evaluations", words->plan.budget, "of a run")->check(CLI::Range(1, 10000));
  return [words](Session& session) -> Result<int> { return bench_memory_sim(session, *words); };
}

}  // namespace cairn
