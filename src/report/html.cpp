#include <fmt/core.h>

#include "report/page_style.h"
#include "report/report.h"
#include "report/svg.h"

namespace cairn {

namespace {

double median_of(const Json& times, const char* key) {
  if (!times.contains(key) || !times[key].is_object()) return 0;
  return times[key].value("median", 0.0);
}

std::string card(const char* label, const Json& factor) {
  return fmt::format("<div class=\"card\"><b>{}</b><span>{}</span></div>\n",
                     factor.is_number() ? fmt::format("{:.2f}x", factor.get<double>()) : "n/a", label);
}

std::string badges(const Json& certificates) {
  std::string html;
  if (!certificates.is_object() || !certificates.contains("certificates")) return html;
  for (const Json& c : certificates["certificates"]) {
    html += fmt::format("<span class=\"badge{}\">{}</span>", c.value("held", false) ? "" : " no", escape_html(c.value("rung", "")));
  }
  return html;
}

// The facts of every certificate of a step.
std::string certificate_table(const Json& certificates) {
  std::string html = "<table>";
  if (certificates.is_object() && certificates.contains("certificates")) {
    for (const Json& c : certificates["certificates"]) {
      std::string facts = escape_html(c.value("reason", ""));
      if (c.contains("facts") && c["facts"].is_object()) {
        for (const auto& [key, value] : c["facts"].items()) {
          const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
          facts += fmt::format("{}{}: {}", facts.empty() ? "" : "; ", escape_html(key), escape_html(text));
        }
      }
      html += fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td></tr>", escape_html(c.value("rung", "")), c.value("held", false) ? "holds" : "fails", facts);
    }
  }
  return html + "</table>";
}

std::string step_html(const Json& step) {
  const double seconds = step.contains("seconds") && step["seconds"].is_number() ? step["seconds"].get<double>() : 0;
  const Json certificates = step.contains("certificates") ? step["certificates"] : Json();
  std::string time = seconds > 0 ? time_label(seconds) : "";
  if (seconds > 0 && step.contains("roofline_share")) time += fmt::format(" ({:.0f} % of floor)", 100 * step["roofline_share"].get<double>());
  return fmt::format("<details><summary><span class=\"n\">{}</span><code>{}</code><span class=\"t\">{}</span></summary>\n"
                     "<p>{} <span class=\"class\">{}</span></p>{}<pre>{}</pre></details>\n",
                     step.value("n", 0), escape_html(step.value("action", "")), time, badges(certificates),
                     escape_html(step.value("class", "")), certificate_table(certificates), escape_html(step.value("program", "")));
}

}  // namespace

std::string render_report_html(const Json& report) {
  const std::string task = escape_html(report.value("task", ""));
  const Json& times = report["times"];
  const Json& speedups = report["speedups"];
  const Json& search = report["search"];
  std::string html = fmt::format("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
                                 "<title>{} - Cairn</title><style>{}</style></head><body>\n", task, kPageStyle);
  html += fmt::format("<h1>{}</h1><p class=\"sub\">{}<br>{} on {}, seed {}, budget {}</p>\n", task, escape_html(report.value("headline", "")),
                      escape_html(report.value("date", "")), escape_html(report.value("device", "")),
                      report.contains("seed") ? report["seed"].dump() : "-", escape_html(report.value("budget", "")));
  const Json none;
  const auto factor = [&](const char* key) -> const Json& { return speedups.contains(key) ? speedups[key] : none; };
  html += "<div class=\"cards\">\n" + card("over naive", factor("naive")) + card("over PyTorch eager", factor("eager")) +
          card("over torch.compile", factor("compile"));
  const double best = median_of(times, "best"), floor = report.value("floor_seconds", 0.0);
  html += fmt::format("<div class=\"card\"><b>{}</b><span>of the roofline floor</span></div>\n</div>\n",
                      best > 0 && floor > 0 ? fmt::format("{:.0f} %", 100 * floor / best) : "n/a");
  std::vector<Bar> bars{{"naive", median_of(times, "naive"), "naive", "the imported program, one thread, same compiler and flags"}};
  if (const double eager = median_of(times, "eager"); eager > 0) bars.push_back({"PyTorch eager", eager, "torch", ""});
  if (const double compiled = median_of(times, "compile"); compiled > 0) bars.push_back({"torch.compile", compiled, "torch", ""});
  for (const Json& step : report["steps"]) {
    if (!step.contains("seconds") || !step["seconds"].is_number()) continue;
    bars.push_back({fmt::format("after step {}", step.value("n", 0)), step["seconds"].get<double>(), "step", step.value("action", "")});
  }
  bars.push_back({"best", best, "ours", "measured again, interleaved with naive"});
  if (floor > 0) bars.push_back({"roofline floor", floor, "naive", "bytes over measured bandwidth, operations over measured peak"});
  html += "<h2>Time after each step</h2>\n" + bar_chart(bars);
  std::vector<CurveSample> curve;
  if (search.contains("curve")) {
    for (const Json& p : search["curve"]) curve.push_back({p.value("evaluation", 0.0), p.value("seconds", 0.0)});
  }
  html += "<h2>Search</h2>\n" + step_curve(curve, search.value("evaluations", 0.0));
  html += fmt::format("<p class=\"class\">{} evaluations, {} proposals, {:.1f} s, stopped by {}</p>\n", search.value("evaluations", 0),
                      search.value("proposals", 0), search.value("wall_seconds", 0.0), escape_html(search.value("stop_reason", "")));
  html += "<h2>Steps</h2>\n";
  for (const Json& step : report["steps"]) html += step_html(step);
  html += fmt::format("<h2>Programs</h2>\n<details><summary><code>naive</code></summary><pre>{}</pre></details>\n"
                      "<details><summary><code>best</code></summary><pre>{}</pre></details>\n"
                      "<details><summary><code>C source</code></summary><pre>{}</pre></details>\n</body></html>\n",
                      escape_html(report.value("naive_program", "")), escape_html(report.value("best_program", "")), escape_html(report.value("source", "")));
  return html;
}

}  // namespace cairn
