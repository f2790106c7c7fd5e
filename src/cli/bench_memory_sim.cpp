// cairn bench memory --sim: the modes of the memory's policy on simulated tasks with a known optimum.
#include <fmt/core.h>

#include "cli/bench.h"
#include "memory/simulation_report.h"

namespace cairn {

namespace {

Json report_json(const SimReport& report) {
  Json modes = Json::array();
  for (const SimRow& row : report.modes) {
    modes.push_back(Json{{"mode", std::string(memory_mode_name(row.mode))}, {"final", row.best}, {"final_error", row.best_error},
                         {"area", row.area}, {"area_error", row.best_area_error}, {"evaluations", row.evaluations}, {"never", row.never},
                         {"ratio_to_flat", row.ratio}, {"distinct", row.distinct}});
  }
  return Json{{"store_rows", report.rows}, {"optimum", report.optimum}, {"modes", modes}};
}

std::string report_text(const std::string& title, const SimReport& report) {
  std::string text = fmt::format("{}: {} rows of memory, optimum {:.3f}\n", title, report.rows, report.optimum);
  text += fmt::format("{:<13} {:>7} {:>7} {:>7} {:>7} {:>6} {:>6} {:>9}\n", "mode", "final", "+-", "area", "evals", "never", "ratio", "distinct");
  for (const SimRow& row : report.modes) {
    text += fmt::format("{:<13} {:>7.3f} {:>7.3f} {:>7.3f} {:>7.1f} {:>6.2f} {:>6.2f} {:>9.1f}\n", memory_mode_name(row.mode), row.best, row.best_error,
                        row.area, row.evaluations, row.never, row.ratio, row.distinct);
  }
  return text + "\n";
}

double htam_ratio(const SimReport& report) {
  for (const SimRow& row : report.modes) {
    if (row.mode == MemoryMode::htam) return row.ratio;
  }
  return 0;
}

}  // namespace

Result<int> bench_memory_sim(Session& session, std::uint64_t world) {
  struct Part { const char* name; bool leave_out, cold; };
  Json json = Json::object();
  std::string text;
  for (const Part& part : {Part{"warm", false, false}, Part{"cold", false, true}, Part{"leave_one_out", true, false}}) {
    SimPlan plan;
    plan.world = world;
    plan.leave_out = part.leave_out;
    plan.cold = part.cold;
    const SimReport report = compare_modes(plan, {}, sim_modes());
    json[std::string(part.name) + "_ratio_to_flat"] = htam_ratio(report);
    json[part.name] = report_json(report);
    text += report_text(part.name, report);
  }
  session.answer(json, text);
  return 0;
}

}  // namespace cairn
