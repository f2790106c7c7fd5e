#include "report/memory_page.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/core.h>

#include "report/memory_page_parts.h"
#include "report/page_style.h"
#include "report/svg.h"

namespace cairn {

namespace {

constexpr std::size_t kMostDrawn = 300;   // proposals of a run: more are no picture

// Orange for losses over grey to blue for gains: readable with colour blindness, stronger the further from the background.
constexpr const char* kPictureStyle = R"(
:root{--u0:#a84300;--u1:#d9730d;--u2:#d9a066;--u3:#9a9a96;--u4:#7db0d5;--u5:#3a88c0;--u6:#134f8a;--card:#fff}
@media (prefers-color-scheme:dark){:root{--u0:#ffa64d;--u1:#d98a3d;--u2:#9c7044;--u3:#74777c;--u4:#4a7ea5;--u5:#63aee0;--u6:#a8dbff;--card:#202327}}
body{max-width:1180px}
.u0{--u:var(--u0)}.u1{--u:var(--u1)}.u2{--u:var(--u2)}.u3{--u:var(--u3)}.u4{--u:var(--u4)}.u5{--u:var(--u5)}.u6{--u:var(--u6)}
.card b{color:var(--ink)}svg{width:100%;height:auto;display:block}svg text{fill:var(--ink);font-size:13px}
.edge path{fill:none;stroke:var(--u);opacity:.85}.edge polygon{fill:var(--u)}.edge .hit{stroke:transparent;stroke-width:14;opacity:1}
.edge.none path:not(.hit){stroke-dasharray:5 4}
.node{cursor:pointer;outline:none}.box{fill:var(--card);stroke:var(--u);stroke-width:3}.node.idle .box{stroke:var(--line);stroke-width:1.5}
.node.idle text{fill:var(--dim)}
.node:focus-visible .box,.node:focus-visible circle{stroke-width:5}
.node .name{font-weight:600;font-size:15px}.node .small{font-size:12px;fill:var(--dim)}.node .count{text-anchor:end;fill:var(--dim);font-size:12px}
.start circle{fill:var(--ink)}.start text{fill:var(--bg);text-anchor:middle;font-weight:600}
.bar{fill:var(--u)}.zero{stroke:var(--dim);stroke-width:1}
.lit .edge:not(.on){opacity:.1}.lit .node:not(.on){opacity:.35}
.legend{display:flex;flex-wrap:wrap;gap:.4rem 1.6rem;color:var(--dim);font-size:.85rem;margin:.4rem 0 1rem;align-items:center}
.scale{display:flex;font-size:.78rem;text-align:center}.scale span{min-width:3.1rem}.scale i{width:100%!important;display:block!important}
.legend i{display:inline-block;width:1.5rem;height:.65rem;background:var(--u)}
.legend .line{height:0;border-top:3px solid var(--ink);background:none;vertical-align:middle}
.legend .dash{border-top:2px dashed var(--dim)}.legend .thin{border-top-width:1px}
.wide{overflow-x:auto}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}td code{overflow-wrap:anywhere}
.label{text-anchor:end}.tick{text-anchor:middle}svg .label,svg .tick{fill:var(--dim);font-size:12px}.grid{stroke:var(--line)}.grid.root{stroke:var(--dim)}
.strip{fill:var(--line);opacity:.35}.branch{fill:none;stroke:var(--u5);stroke-width:1.4;opacity:.6}.branch.lost{stroke:var(--dim);opacity:.25}
.branch.best{stroke:var(--ours);stroke-width:4;opacity:1}
.proposal circle,.proposal polygon{fill:var(--u5);stroke:var(--bg)}.proposal.best circle{fill:var(--ours)}
.proposal.failed path{stroke:var(--dim);stroke-width:1.6}
.at{pointer-events:none;font-size:11px;text-anchor:middle;paint-order:stroke;stroke:var(--bg);stroke-width:3.5;stroke-linejoin:round}
.at.failed{fill:var(--dim)}.at.best{font-weight:600}
)";

// Shows the edges of the node under the pointer or the focus; a click keeps them. Without scripts the page shows the same.
constexpr const char* kScript = R"(
(() => {
  const graph = document.getElementById('graph');
  if (graph) {
    let kept = null;
    const show = name => {
      graph.classList.toggle('lit', name !== null);
      const near = new Set([name]);
      for (const e of graph.querySelectorAll('.edge')) {
        const on = e.dataset.from === name || e.dataset.to === name;
        e.classList.toggle('on', on);
        if (on) near.add(e.dataset.from).add(e.dataset.to);
      }
      for (const n of graph.querySelectorAll('.node')) n.classList.toggle('on', near.has(n.dataset.node));
    };
    for (const n of graph.querySelectorAll('.node')) {
      const name = n.dataset.node, back = () => show(kept);
      n.addEventListener('pointerenter', () => show(name));
      n.addEventListener('pointerleave', back);
      n.addEventListener('focus', () => show(name));
      n.addEventListener('blur', back);
      n.addEventListener('click', () => { kept = kept === name ? null : name; show(kept); });
    }
  }
  document.documentElement.dataset.ready = 'yes';
})();
)";

constexpr const char* kNumberHead = "<th class=\"n\">tries</th><th class=\"n\">passed</th><th class=\"n\">improved</th><th class=\"n\">mean gain</th>"
                                    "<th class=\"n\">trend</th><th class=\"n\">mean credit</th>";

std::string number_cells(const Json& s) {
  return fmt::format("<td class=\"n\">{:.0f}</td><td class=\"n\">{:.0f}</td><td class=\"n\">{:.0f}</td><td class=\"n\">{:+.4f}</td><td class=\"n\">"
      "{:+.4f}</td><td class=\"n\">{:+.4f}</td>",
                     number_of(s, "tries"), number_of(s, "passed"), number_of(s, "improved"), number_of(s, "gain_mean"), number_of(s, "gain_trend"),
                         number_of(s, "credit_mean"));
}

// Each colour over the credit that lies in its middle.
std::string memory_legend(double largest) {
  std::string html = "<p class=\"legend\"><span>mean credit</span><span class=\"scale\">";
  for (int k = 0; k < 7; ++k) {
    const double credit = std::copysign((k - 3) * (k - 3) / 9.0, k - 3) * largest;
    html += fmt::format("<span><i class=\"u{}\"></i>{:.2g}x</span>", k, std::exp(credit));
  }
  return html + "</span><span><i class=\"line thin\"></i> few tries <i class=\"line\"></i> many</span>"
                "<span><i class=\"line dash\"></i> nothing passed</span>"
                "<span>bars: mean gain of a local strategy (its root), then its tries</span></p>\n";
}

std::string memory_tables(const Json& memory) {
  std::string html = fmt::format("<h2>Directions</h2><div class=\"wide\"><table id=\"directions\"><tr><th>direction</th>{}</tr>\n", kNumberHead), locals;
  for (const Json& d : list_of(memory, "directions")) {
    html += fmt::format("<tr><td>{}</td>{}</tr>\n", escape_html(text_of(d, "name")), number_cells(d));
    for (const Json& l : list_of(d, "locals")) {
      if (number_of(l, "tries") > 0) locals += fmt::format("<tr><td>{}</td><td>{}</td>{}</tr>\n", escape_html(text_of(d, "name")), escape_html(text_of(l,
          "name")), number_cells(l));
    }
  }
  html += "</table></div>\n<h2>Transitions</h2>\n";
  if (list_of(memory, "edges").empty()) {
    html += "<p class=\"sub\">No transition has evidence yet.</p>\n";
  } else {
    html += fmt::format("<div class=\"wide\"><table id=\"edges\"><tr><th>from</th><th>to</th>{}</tr>\n", kNumberHead);
    for (const Json& e : list_of(memory, "edges")) html += fmt::format("<tr><td>{}</td><td>{}</td>{}</tr>\n", escape_html(text_of(e, "from")),
        escape_html(text_of(e, "node")), number_cells(e));
    html += "</table></div>\n";
  }
  if (locals.empty()) return html;
  return html + fmt::format("<h2>Local strategies</h2><div class=\"wide\"><table id=\"locals\"><tr><th>direction</th><th>local</th>{}</tr>\n{}</table>"
      "</div>\n", kNumberHead, locals);
}

std::string best_table(const Json& records) {
  std::string html = "<h2>Best path</h2><div class=\"wide\"><table id=\"best\"><tr><th class=\"n\">proposal</th><th>step</th><th class=\"n\">time</th><th "
      "class=\"n\">over naive</th>"
                     "<th>actions</th></tr>\n";
  for (const std::size_t k : best_path(records)) {
    const Json& r = records[k];
    std::string actions;
    for (const Json& a : list_of(r, "actions")) actions += fmt::format("{}<code>{}</code>", actions.empty() ? "" : "<br>",
        escape_html(a.is_string() ? a.get<std::string>() : ""));
    const double median = r.contains("time") ? number_of(r["time"], "median") : 0;
    html += fmt::format("<tr><td class=\"n\">{:.0f}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{:.2f}x</td><td>{}</td></tr>\n", number_of(r, "n"),
                        escape_html(proposal_label(r)), time_label(median), std::exp(number_of(r, "score")), actions);
  }
  return html + "</table></div>\n";
}

std::string run_html(const Json& run) {
  const Json none = Json::object();
  const Json& header = run.contains("header") ? run["header"] : none;
  const Json& records = list_of(run, "records");
  std::size_t ok = 0;
  for (const Json& r : records) ok += text_of(r, "outcome") == "ok" ? 1 : 0;
  const std::string end = text_of(run, "end");
  std::string html = fmt::format("<h2>Search of {}</h2><p class=\"sub\">{} with proposer {}, seed {:.0f}, on {}; {} records, {} passed, {}</p>\n",
      escape_html(text_of(header, "task")),
                                 escape_html(text_of(header, "algorithm")), escape_html(text_of(header, "proposer")), number_of(header, "seed"),
                                     escape_html(text_of(header, "device")),
                                 records.size(), ok, end.empty() ? "not finished" : "stopped by " + escape_html(end));
  if (records.empty()) return html + "<p>The journal holds no proposal yet.</p>\n";
  const std::vector<bool> drawn = pick_drawn(records, kMostDrawn);
  html += draw_search_tree(records, drawn);
  if (const auto left = std::count(drawn.begin(), drawn.end(), false); left > 0) {
    html += fmt::format("<p class=\"sub\" id=\"left-out\">{} of {} proposals are drawn: the best path, what was proposed along it, and the best of the rest;"
                        " {} are left out.</p>\n", records.size() - static_cast<std::size_t>(left), records.size(), left);
  }
  html += "<p class=\"legend\"><span><i class=\"line\" style=\"border-color:var(--ours)\"></i> best path</span><span>circle: passed, at its speed-up over "
      "naive</span>"
          "<span>triangle: slower than the axis reaches</span><span>cross: refused, wrong or failed</span></p>\n";
  return html + (ok == 0 ? "<p>Nothing has passed in this run.</p>\n" : best_table(records));
}

}  // namespace

double number_of(const Json& object, const char* key, double fallback) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_number()) return fallback;
  const double value = object[key].get<double>();
  return std::isfinite(value) ? value : fallback;
}

std::string text_of(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : std::string();
}

const Json& list_of(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  return object.is_object() && object.contains(key) && object[key].is_array() ? object[key] : kNone;
}

std::string shorten(const std::string& text, std::size_t most) {
  std::size_t characters = 0, cut = text.size();
  for (std::size_t k = 0; k < text.size(); ++k) {
    if ((static_cast<unsigned char>(text[k]) & 0xc0) == 0x80) continue;   // inside a character of UTF-8
    if (characters + 1 == most) cut = k;
    if (++characters > most) return text.substr(0, cut) + "\xe2\x80\xa6";
  }
  return text;
}

std::string utility_class(double value, double largest) {
  return fmt::format("u{}", static_cast<int>(std::lround(utility_share(value, largest) * 3)) + 3);
}

double utility_share(double value, double largest) {
  const double share = largest > 0 ? std::clamp(value / largest, -1.0, 1.0) : 0;
  return std::copysign(std::sqrt(std::abs(share)), share);
}

double largest_credit(const Json& memory) {
  double largest = 0.01;
  for (const char* key : {"directions", "edges"}) {
    for (const Json& node : list_of(memory, key)) largest = std::max(largest, std::abs(number_of(node, "credit_mean")));
  }
  return largest;
}

std::string statistics_text(const Json& s) {
  const double gain = number_of(s, "gain_mean"), credit = number_of(s, "credit_mean");
  return fmt::format("{:.0f} tries, {:.0f} passed, {:.0f} failed, {:.0f} improved; mean gain {:+.4f} ({:.2f}x), trend {:+.4f}, mean credit {:+.4f} ({:.2f}x)",
      number_of(s, "tries"),
                     number_of(s, "passed"), number_of(s, "failed"), number_of(s, "improved"), gain, std::exp(gain), number_of(s, "gain_trend"), credit,
                         std::exp(credit));
}

std::string render_memory_page(const Json& memory, const Json& run) {
  const std::string name = escape_html(text_of(memory, "memory"));
  std::string html = fmt::format("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
                                 "<meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"data:,\"><title>Memory - Cairn</title>"
                                 "<style>{}{}</style></head><body>\n",
                                 kPageStyle, kPictureStyle);
  html += fmt::format("<h1>Memory</h1><p class=\"sub\">{}</p>\n<div class=\"cards\">\n", name);
  for (const char* key : {"rows", "tasks", "runs"}) html += fmt::format("<div class=\"card\"><b>{:.0f}</b><span>{}</span></div>\n", number_of(memory, key),
      key);
  html += "</div>\n<h2>Where steps lead</h2>\n";
  if (list_of(memory, "directions").empty()) {
    html += "<p>This memory knows no direction.</p>\n";
  } else {
    if (!(number_of(memory, "rows") > 0)) html += "<p>Nothing has been tried yet: searches that decide by memory fill it.</p>\n";
    html += memory_legend(largest_credit(memory)) + draw_memory_graph(memory);
  }
  if (run.is_object()) html += run_html(run);
  if (!list_of(memory, "directions").empty()) html += memory_tables(memory);
  return html + fmt::format("<script>{}</script>\n</body></html>\n", kScript);
}

}  // namespace cairn
