#include <fmt/core.h>

#include "report/report.h"
#include "report/svg.h"

namespace cairn {

namespace {

constexpr const char* kStyle = R"(
:root{--bg:#fbfaf7;--ink:#23262b;--dim:#6d7480;--line:#dcd8ce;--ours:#2f7d5b;--naive:#b9b2a2;--torch:#d98a3d;--step:#7fb39a;--bad:#b3402f}
@media (prefers-color-scheme:dark){:root{--bg:#17191c;--ink:#e6e4de;--dim:#969da8;--line:#33373d;--naive:#66625a;--step:#3d6e58}}
body{background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,sans-serif;max-width:920px;margin:2.5rem auto;padding:0 1rem}
h1{font-size:1.6rem;margin:0}h2{font-size:1.1rem;margin:2.2rem 0 .6rem}p.sub{color:var(--dim);margin:.2rem 0 1.4rem}
.cards{display:flex;gap:.8rem;flex-wrap:wrap}.card{border:1px solid var(--line);border-radius:8px;padding:.7rem 1rem;min-width:9rem}
.card b{display:block;font-size:1.5rem;color:var(--ours)}.card span{color:var(--dim);font-size:.85rem}
.chart{width:100%;height:auto}.chart text{fill:var(--ink);font-size:12px}.chart .label{text-anchor:end}.chart .tick{fill:var(--dim);text-anchor:middle}
.chart .grid{stroke:var(--line)}.naive{fill:var(--naive)}.ours{fill:var(--ours)}.torch{fill:var(--torch)}.step{fill:var(--step)}
.curve{fill:none;stroke:var(--ours);stroke-width:2}
details{border-top:1px solid var(--line);padding:.35rem 0}summary{cursor:pointer;display:flex;gap:.7rem;align-items:baseline}
summary .n{color:var(--dim);min-width:2rem;text-align:right}summary code{flex:1;overflow-wrap:anywhere}summary .t{color:var(--dim);white-space:nowrap}
pre{background:color-mix(in srgb,var(--line) 35%,transparent);padding:.7rem;border-radius:6px;overflow:auto;font-size:12px;line-height:1.45}
table{border-collapse:collapse;font-size:.9rem}td,th{padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top}th{color:var(--dim);font-weight:500}
.badge{display:inline-block;border-radius:4px;padding:0 .4rem;font-size:.78rem;border:1px solid var(--ours);color:var(--ours);margin-right:.25rem}
.badge.no{border-color:var(--bad);color:var(--bad)}.class{color:var(--dim);font-size:.85rem}
)";

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
          facts += fmt::format("{}{}: {}", facts.empty() ? "" : "; ", escape_html(key), escape_html(value.is_string() ? value.get<std::string>() : value.dump()));
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
                                 "<title>{} - Cairn</title><style>{}</style></head><body>\n", task, kStyle);
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
