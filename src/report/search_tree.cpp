#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include <fmt/core.h>

#include "report/memory_page_parts.h"
#include "report/svg.h"

namespace cairn {

namespace {

constexpr double kWidth = 1180, kLeft = 74, kRight = 40, kTop = 26, kPlot = 380, kStrip = 54;
constexpr double kHeight = kTop + kPlot + kStrip + 40;

bool passed(const Json& record) { return text_of(record, "outcome") == "ok"; }

// Parents by place in the list; the root and records whose parent is not there have none.
std::vector<std::ptrdiff_t> find_parents(const Json& records) {
  std::map<double, std::size_t> places;
  std::vector<std::ptrdiff_t> parents;
  for (std::size_t k = 0; k < records.size(); ++k) {
    const double n = number_of(records[k], "n", -1);
    const auto it = places.find(number_of(records[k], "parent", -1));
    parents.push_back(n > 0 && it != places.end() ? static_cast<std::ptrdiff_t>(it->second) : -1);
    places.emplace(n, k);
  }
  return parents;
}

// Scores to heights. What lies far below the root is drawn on the floor: one slow program must not flatten the rest.
struct ScoreAxis {
  double low = -0.1, high = 0.1;
  explicit ScoreAxis(const Json& records) {
    double worst = 0, best = 0;
    for (const Json& r : records) {
      if (!passed(r)) continue;
      worst = std::min(worst, number_of(r, "score"));
      best = std::max(best, number_of(r, "score"));
    }
    high = std::max(0.1, best * 1.08);
    low = std::max(worst * 1.08 - 0.02, -std::max(0.7, best));
  }
  double at(double score) const { return kTop + kPlot * (high - std::clamp(score, low, high)) / (high - low); }
};

std::string draw_axis(const ScoreAxis& axis, std::size_t count) {
  std::string svg;
  for (const double v : speedup_ticks(std::exp(axis.low), std::exp(axis.high))) {
    const double y = axis.at(std::log(v));
    svg += fmt::format("<line class=\"{}\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
                       "<text class=\"label\" x=\"{}\" y=\"{:.1f}\">{:.6g}x</text>\n",
                       v == 1 ? "grid root" : "grid", kLeft, kWidth - kRight, y, y, kLeft - 8, y + 4, v);
  }
  svg += fmt::format("<rect class=\"strip\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/><text class=\"label\" x=\"{}\" y=\"{}\">failed</text>\n",
                     kLeft, kTop + kPlot + 18, kWidth - kLeft - kRight, kStrip - 18, kLeft - 8, kTop + kPlot + 40);
  return svg + fmt::format("<text class=\"tick\" x=\"{}\" y=\"{}\">proposals, in order: 0 to {}</text>\n", kWidth / 2, kHeight - 10,
                           count == 0 ? 0 : count - 1);
}

std::string tooltip(const Json& record) {
  std::string text = fmt::format("{:.0f}: {}, {}", number_of(record, "n"), proposal_label(record), text_of(record, "outcome"));
  if (const Json& time = record.contains("time") ? record["time"] : Json(); time.is_object()) {
    text += fmt::format(", {} ({:.2f}x naive, score {:+.4f})", time_label(number_of(time, "median")), std::exp(number_of(record, "score")), number_of(record,
        "score"));
  }
  if (const std::string reason = text_of(record, "reason"); !reason.empty()) text += "\n" + shorten(reason, 300);
  for (const Json& action : list_of(record, "actions")) {
    if (action.is_string()) text += "\n" + action.get<std::string>();
  }
  return escape_html(text);
}

}  // namespace

std::vector<double> speedup_ticks(double low, double high) {
  constexpr std::size_t kFewest = 3, kMost = 10;
  std::vector<double> ticks, powers;
  const int first = static_cast<int>(std::floor(std::log10(low))), last = static_cast<int>(std::ceil(std::log10(high)));
  for (int k = first; k <= last; ++k) {
    // Divided where it is a fraction: 5 / 10 is 0.5, and 1 is exactly 1.
    const double power = std::pow(10, std::abs(k));
    for (const double m : {1.0, 2.0, 5.0}) {
      const double v = k < 0 ? m / power : m * power;
      if (v < low || v > high) continue;
      ticks.push_back(v);
      if (m == 1) powers.push_back(v);
    }
  }
  if (ticks.size() > kMost) return powers;
  if (ticks.size() >= kFewest) return ticks;
  // A narrow range: equal steps, of which 1 is a multiple.
  ticks.clear();
  const double raw = (high - low) / 6, parts = std::pow(10, std::ceil(-std::log10(raw))), scaled = raw * parts;   // in [1, 10)
  const double step = scaled <= 1 ? 1 : scaled <= 2 ? 2 : scaled <= 5 ? 5 : 10;
  for (double k = std::ceil(low * parts / step); k * step <= high * parts; ++k) ticks.push_back(k * step / parts);
  return ticks;
}

std::string proposal_label(const Json& record) {
  if (const std::string name = text_of(record, "template"); !name.empty()) return name;
  const Json& actions = list_of(record, "actions");
  if (actions.empty()) return number_of(record, "n") == 0 ? "naive" : "no action";
  const std::string first = actions[0].is_string() ? actions[0].get<std::string>() : std::string("?");
  return first.substr(0, first.find('('));
}

std::vector<std::size_t> best_path(const Json& records) {
  std::vector<std::size_t> path;
  std::ptrdiff_t best = -1;
  for (std::size_t k = 0; k < records.size(); ++k) {
    const bool better = best < 0 || number_of(records[k], "score") > number_of(records[static_cast<std::size_t>(best)], "score");
    if (passed(records[k]) && better) best = static_cast<std::ptrdiff_t>(k);
  }
  const std::vector<std::ptrdiff_t> parents = find_parents(records);
  for (; best >= 0; best = parents[static_cast<std::size_t>(best)]) path.push_back(static_cast<std::size_t>(best));
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<bool> pick_drawn(const Json& records, std::size_t most) {
  std::vector<bool> drawn(records.size(), records.size() <= most);
  if (records.size() <= most) return drawn;
  const std::vector<std::ptrdiff_t> parents = find_parents(records);
  std::vector<bool> on_path(records.size());
  for (const std::size_t k : best_path(records)) on_path[k] = true;
  // The path, what was proposed along it, the rest; in each the best first, failures last.
  const auto rank = [&](std::size_t k) {
    const bool beside = parents[k] >= 0 && on_path[static_cast<std::size_t>(parents[k])];
    const double score = number_of(records[k], "score");
    return std::make_tuple(on_path[k] ? 0 : beside ? 1 : 2, passed(records[k]) ? 0 : 1, -score, k);
  };
  std::vector<std::size_t> order(records.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  std::size_t count = 0;
  for (const std::size_t k : order) {
    std::vector<std::size_t> line;   // up to what is drawn: nothing hangs in the air
    for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(k); at >= 0 && !drawn[static_cast<std::size_t>(at)]; at = parents[static_cast<std::size_t>(at)]) {
      line.push_back(static_cast<std::size_t>(at));
    }
    if (count + line.size() > most && !on_path[k]) continue;
    for (const std::size_t at : line) drawn[at] = true;
    count += line.size();
  }
  return drawn;
}

std::string draw_search_tree(const Json& records, const std::vector<bool>& drawn) {
  const std::vector<std::ptrdiff_t> parents = find_parents(records);
  const std::vector<std::size_t> path = best_path(records);
  const ScoreAxis axis(records);
  const double gaps = static_cast<double>(std::max<std::size_t>(records.size(), 2) - 1);
  const auto x = [&](std::size_t k) { return kLeft + 26 + (kWidth - kLeft - kRight - 90) * static_cast<double>(k) / gaps; };
  const auto y = [&](std::size_t k) { return passed(records[k]) ? axis.at(number_of(records[k], "score")) : kTop + kPlot + 36; };
  const auto on_path = [&](std::size_t k) { return std::find(path.begin(), path.end(), k) != path.end(); };
  std::string svg = fmt::format("<svg id=\"tree\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"proposals of the run at their speed-ups\">\n", kWidth,
      kHeight) +
                    draw_axis(axis, records.size());
  for (int layer = 0; layer < 2; ++layer) {   // the best path lies on top
    for (std::size_t k = 0; k < records.size(); ++k) {
      if (!drawn[k] || parents[k] < 0 || on_path(k) != (layer == 1)) continue;
      const std::size_t p = static_cast<std::size_t>(parents[k]);
      const double middle = (x(p) + x(k)) / 2;
      svg += fmt::format("<path class=\"branch{}\" d=\"M{:.1f} {:.1f} C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\"/>\n",
          layer == 1 ? " best" : passed(records[k]) ? "" : " lost", x(p), y(p),
                         middle, y(p), middle, y(k), x(k), y(k));
    }
  }
  std::vector<std::pair<double, double>> labels;   // where they stand: none may cover another
  const auto label_of = [&](std::size_t k) {
    const double at = y(k) + (k % 2 == 0 || !passed(records[k]) ? -12 : 20);
    for (const auto& [left, top] : labels) {
      if (std::abs(left - x(k)) < 96 && std::abs(top - at) < 14) return std::string();
    }
    labels.emplace_back(x(k), at);
    return fmt::format("<text class=\"at{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", on_path(k) ? " best" : passed(records[k]) ? "" : " failed", x(k), at,
                       escape_html(shorten(proposal_label(records[k]), 20)));
  };
  std::string names = path.empty() ? std::string() : label_of(path.back());   // has the first choice; all lie above the marks
  for (std::size_t k = 0; k < records.size(); ++k) {
    if (!drawn[k]) continue;
    const Json& r = records[k];
    const bool best = on_path(k);
    std::string mark;
    if (!passed(r)) {
      mark = fmt::format("<path d=\"M{0:.1f} {2:.1f} L{1:.1f} {3:.1f} M{0:.1f} {3:.1f} L{1:.1f} {2:.1f}\"/>", x(k) - 4, x(k) + 4, y(k) - 4, y(k) + 4);
    } else if (number_of(r, "score") < axis.low) {
      mark = fmt::format("<polygon points=\"{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\"/>", x(k) - 6, y(k) - 5, x(k) + 6, y(k) - 5, x(k), y(k) + 6);
    } else {
      mark = fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>", x(k), y(k), best ? 7 : 4.5);
    }
    const bool named = best || records.size() <= 14;
    if (named && (path.empty() || k != path.back())) names += label_of(k);
    svg += fmt::format("<g class=\"proposal{}{}\" data-n=\"{:.0f}\"><title>{}</title>{}</g>\n", passed(r) ? "" : " failed", best ? " best" : "",
                       number_of(r, "n"), tooltip(r), mark);
  }
  return svg + names + "</svg>\n";
}

}  // namespace cairn
