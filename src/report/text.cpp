#include <fmt/core.h>

#include "report/report.h"

namespace cairn {

namespace {

std::string time_text(const Json& seconds) {
  if (!seconds.is_number()) return "-";
  const double s = seconds.get<double>();
  if (s < 1e-3) return fmt::format("{:.3g} us", s * 1e6);
  if (s < 1) return fmt::format("{:.3g} ms", s * 1e3);
  return fmt::format("{:.3g} s", s);
}

std::string factor_text(const Json& factor) {
  return factor.is_number() ? fmt::format("{:.2f}x over it", factor.get<double>()) : "";
}

// "wellformed legal numeric", failed rungs with a minus.
std::string rungs_text(const Json& certificates) {
  std::string text;
  if (!certificates.is_object() || !certificates.contains("certificates")) return text;
  for (const Json& c : certificates["certificates"]) {
    text += (text.empty() ? "" : " ") + std::string(c.value("held", false) ? "" : "-") + c.value("rung", "");
  }
  return text;
}

}  // namespace

Result<void> check_report(const Json& report, const std::string& file) {
  const auto refuse = [&file](const std::string& what) {
    return Error{Code::parse, fmt::format("{}: {}", file, what), {}, {"expected report.json as 'cairn optimize' writes it"}};
  };
  if (!report.is_object() || !report.contains("cairn_report")) return refuse("not a report");
  if (report["cairn_report"] != kReportVersion) {
    return refuse(fmt::format("report version {}, this build reads {}", dump_json(report["cairn_report"]), kReportVersion));
  }
  for (const char* key : {"task", "times", "speedups", "steps", "search", "best_program", "source"}) {
    if (!report.contains(key)) return refuse(fmt::format("key '{}' is missing", key));
  }
  for (const char* key : {"times", "speedups", "search"}) {
    if (!report[key].is_object()) return refuse(fmt::format("'{}' is not an object", key));
  }
  if (!report["steps"].is_array()) return refuse("'steps' is not an array");
  return {};
}

std::string render_report_text(const Json& report) {
  std::string text = fmt::format("{}: {}\n\n", report.value("task", ""), report.value("headline", ""));
  text += fmt::format("  {:<16} {:>12} {:>16} {:>10}\n", "program", "time", "cairn is", "roofline");
  const Json& times = report["times"];
  const Json& speedups = report["speedups"];
  const double floor = report.value("floor_seconds", 0.0);
  const auto row = [&](const char* label, const std::string& key) {
    if (!times.contains(key) || !times[key].is_object()) return;
    const Json& t = times[key]["median"];
    const std::string share = floor > 0 && t.is_number() ? fmt::format("{:.0f} %", 100 * floor / t.get<double>()) : "-";
    const std::string factor = key != "best" && speedups.contains(key) ? factor_text(speedups[key]) : "";
    text += fmt::format("  {:<16} {:>12} {:>16} {:>10}\n", label, time_text(t), factor, share);
  };
  row("naive", "naive");
  row("PyTorch eager", "eager");
  row("torch.compile", "compile");
  row("cairn", "best");
  if (report.contains("notes")) {
    for (const Json& note : report["notes"]) text += fmt::format("  note: {}\n", note.is_string() ? note.get<std::string>() : "");
  }
  text += fmt::format("\n  {:>3} {:<14} {:>10}  {:<34} {}\n", "", "class", "time", "certificates", "step");
  for (const Json& step : report["steps"]) {
    std::string action = step.value("action", "");
    if (action.size() > 100) action = action.substr(0, 97) + "...";
    text += fmt::format("  {:>3} {:<14} {:>10}  {:<34} {}\n", step.value("n", 0), step.value("class", ""),
                        time_text(step.contains("seconds") ? step["seconds"] : Json()),
                        rungs_text(step.contains("certificates") ? step["certificates"] : Json()), action);
  }
  return text;
}

}  // namespace cairn
