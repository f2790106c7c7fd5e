#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/core.h>

#include "report/memory_page_parts.h"
#include "report/svg.h"

namespace cairn {

namespace {

constexpr double kRowHeight = 19, kHeadHeight = 48, kStartRadius = 36, kNarrowest = 190;
constexpr double kMargin = 12, kGap = 14;                          // beside texts, and between two of a line
constexpr double kNameSize = 15, kTextSize = 13, kSmallSize = 12;   // as the page's style has them
constexpr double kBarReach = 24;                                   // of a bar, to either side of its zero
constexpr std::size_t kLocalsShown = 4;

struct Point {
  double x = 0, y = 0;
};
Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
Point operator*(Point a, double f) { return {a.x * f, a.y * f}; }
double length(Point a) { return std::hypot(a.x, a.y); }
Point unit(Point a) {
  const double l = length(a);
  return l > 0 ? a * (1 / l) : Point{1, 0};
}
Point left_of(Point a) { return {a.y, -a.x}; }

// A node's place: half sizes of its box, or a radius for START.
struct Place {
  Point centre;
  double half_width = 0, half_height = 0, radius = 0;
};

// Where a line from the centre towards `to` leaves the node.
Point border(const Place& place, Point to) {
  const Point d = to - place.centre;
  if (place.radius > 0) return place.centre + unit(d) * place.radius;
  const double fx = std::abs(d.x) > 1e-9 ? place.half_width / std::abs(d.x) : 1e9;
  const double fy = std::abs(d.y) > 1e-9 ? place.half_height / std::abs(d.y) : 1e9;
  return place.centre + d * std::min({fx, fy, 1.0});
}

// Locals by tries, most first, then by name.
std::vector<const Json*> ranked_locals(const Json& direction) {
  std::vector<const Json*> locals;
  for (const Json& local : list_of(direction, "locals")) {
    if (number_of(local, "tries") > 0) locals.push_back(&local);
  }
  std::stable_sort(locals.begin(), locals.end(), [](const Json* a, const Json* b) {
    const double x = number_of(*a, "tries"), y = number_of(*b, "tries");
    return x != y ? x > y : text_of(*a, "name") < text_of(*b, "name");
  });
  return locals;
}

std::string tries_text(const Json& direction) {
  const double tries = number_of(direction, "tries");
  return tries > 0 ? fmt::format("{:.0f} tries", tries) : std::string();
}

// The line below a direction's name.
std::string summary_text(const Json& direction) {
  const double tries = number_of(direction, "tries");
  if (!(tries > 0)) return fmt::format("never tried, {} locals known", list_of(direction, "locals").size());
  return fmt::format("{:.2f}x credit, {:.0f} passed, {:.0f} better", std::exp(number_of(direction, "credit_mean")), number_of(direction, "passed"),
                     number_of(direction, "improved"));
}

std::string direction_label(const Json& direction) { return shorten(text_of(direction, "name"), 20); }
std::string local_label(const Json& local) { return shorten(text_of(local, "name"), 19); }
std::string local_count(const Json& local) { return fmt::format("{:.0f}", number_of(local, "tries")); }

// What the widest texts of all boxes need.
struct BoxSize {
  double width = kNarrowest, counts = 0;   // counts: the column of the locals' tries
};

BoxSize measure_boxes(const Json& directions) {
  BoxSize size;
  double names = 0;
  for (const Json& d : directions) {
    const double head = text_width(direction_label(d), kNameSize, true) + kGap + text_width(tries_text(d), kSmallSize);
    size.width = std::max({size.width, head + 2 * kMargin, text_width(summary_text(d), kSmallSize) + 2 * kMargin});
    const std::vector<const Json*> locals = ranked_locals(d);
    for (std::size_t k = 0; k < std::min(locals.size(), kLocalsShown); ++k) {
      names = std::max(names, text_width(local_label(*locals[k]), kTextSize));
      size.counts = std::max(size.counts, text_width(local_count(*locals[k]), kSmallSize));
    }
  }
  size.width = std::max(size.width, names + kGap / 2 + 2 * kBarReach + kGap / 2 + size.counts + 2 * kMargin);
  return size;
}

double box_height(const Json& direction) {
  const std::size_t locals = ranked_locals(direction).size();
  return kHeadHeight + kRowHeight * static_cast<double>(std::min(locals, kLocalsShown)) + (locals > kLocalsShown ? 15 : 0) + 6;
}

struct Layout {
  Point corner, size;   // of all that is drawn
  Point centre;
  std::map<std::string, Place> places;
  BoxSize box;
  std::vector<double> scales;   // of the directions' boxes, by tries
};

Layout lay_out(const Json& directions) {
  Layout layout;
  layout.box = measure_boxes(directions);
  const double n = static_cast<double>(directions.size()), box = layout.box.width;
  const double rx = std::max({440.0, 62 * n, 1.75 * box}), ry = std::max(345.0, 46 * n);
  layout.places["START"] = {layout.centre, 0, 0, kStartRadius};
  Point least = {-rx, -kStartRadius}, farthest = {rx, kStartRadius};
  double most = 1;
  for (const Json& d : directions) most = std::max(most, number_of(d, "tries"));
  constexpr double kTurn = 6.283185307179586;
  for (std::size_t k = 0; k < directions.size(); ++k) {
    const Json& d = directions[k];
    const double scale = 0.85 + 0.25 * std::sqrt(std::max(0.0, number_of(d, "tries")) / most);
    const double angle = kTurn * (static_cast<double>(k) / n - 0.25);
    layout.scales.push_back(scale);
    const Point centre = layout.centre + Point{rx * std::cos(angle), ry * std::sin(angle)};
    layout.places[text_of(d, "name")] = {centre, scale * box / 2, scale * box_height(d) / 2, 0};
    const Point half = {scale * box / 2 + 8, scale * box_height(d) / 2 + 56};   // above or below it there may be a loop
    least = {std::min(least.x, centre.x - half.x), std::min(least.y, centre.y - half.y)};
    farthest = {std::max(farthest.x, centre.x + half.x), std::max(farthest.y, centre.y + half.y)};
  }
  layout.corner = least;
  layout.size = farthest - least;
  return layout;
}

// A quadratic curve's control point: bent towards the middle, and to the left of its course so that both directions show.
Point control_point(const Layout& layout, const Place& from, const Place& to) {
  const Point middle = (from.centre + to.centre) * 0.5, side = left_of(unit(to.centre - from.centre));
  if (from.radius > 0 || to.radius > 0) return middle + side * 18;
  const Point inward = layout.centre - middle;
  if (length(inward) < 110) return middle + side * 170;   // around START
  return middle + inward * 0.4 + side * 34;
}

std::string arrow_head(Point tip, Point course, double width) {
  const double size = 7 + 1.1 * width;
  const Point back = tip - course * size, side = left_of(course) * (size * 0.48);
  const Point a = back + side, b = back - side;
  return fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}", tip.x, tip.y, a.x, a.y, b.x, b.y);
}

std::string draw_edge(const Layout& layout, const Json& edge, double most, double largest) {
  const std::string from = text_of(edge, "from"), to = text_of(edge, "node");
  const auto a = layout.places.find(from), b = layout.places.find(to);
  if (a == layout.places.end() || b == layout.places.end()) return {};
  const double tries = std::max(0.0, number_of(edge, "tries")), width = 1.2 + 6 * std::sqrt(tries / most);
  std::string path;
  Point tip, course;
  if (from == to) {   // a loop on the side that looks away from START
    const Point out = unit(a->second.centre - layout.centre);
    const bool above = out.y < 0.01;
    const double y = a->second.centre.y + (above ? -1 : 1) * a->second.half_height, x = a->second.centre.x, reach = above ? -46 : 46;
    tip = {x + 30, y};
    course = unit({-4, -reach});
    path = fmt::format("M{:.1f} {:.1f} C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", x - 30, y, x - 42, y + reach, x + 42, y + reach, x + 31, y + reach * 0.2);
  } else {
    const Point c = control_point(layout, a->second, b->second), start = border(a->second, c);
    tip = border(b->second, c);
    course = unit(tip - c);
    const Point end = tip - course * (6 + width);
    path = fmt::format("M{:.1f} {:.1f} Q{:.1f} {:.1f} {:.1f} {:.1f}", start.x, start.y, c.x, c.y, end.x, end.y);
  }
  const std::string rationale = text_of(edge, "rationale");
  return fmt::format("<g class=\"edge {}{}\" data-from=\"{}\" data-to=\"{}\"><title>{} to {}: {}{}</title><path class=\"hit\" d=\"{}\"/>"
                     "<path d=\"{}\" stroke-width=\"{:.1f}\"/><polygon points=\"{}\"/></g>\n",
                     utility_class(number_of(edge, "credit_mean"), largest), number_of(edge, "passed") > 0 ? "" : " none", escape_html(from),
                     escape_html(to), escape_html(from), escape_html(to), escape_html(statistics_text(edge)),
                     rationale.empty() ? "" : ". " + escape_html(rationale), path, path, width, arrow_head(tip, course, width));
}

std::string draw_local(const BoxSize& box, const Json& local, double y, double largest_gain) {
  const double gain = number_of(local, "gain_mean"), zero = box.width - kMargin - box.counts - kGap / 2 - kBarReach;
  const double reach = kBarReach * utility_share(gain, largest_gain);
  return fmt::format("<g class=\"local\"><title>{0}: {1}</title><text x=\"{12}\" y=\"{2:.1f}\">{3}</text>"
                     "<line class=\"zero\" x1=\"{4:.1f}\" x2=\"{4:.1f}\" y1=\"{5:.1f}\" y2=\"{6:.1f}\"/>"
                     "<rect class=\"bar {7}\" x=\"{8:.1f}\" y=\"{9:.1f}\" width=\"{10:.1f}\" height=\"9\"/>"
                     "<text class=\"count\" x=\"{11:.1f}\" y=\"{2:.1f}\">{13}</text></g>\n",
                     escape_html(text_of(local, "name")), escape_html(statistics_text(local)), y, escape_html(local_label(local)), zero, y - 12, y + 3,
                     utility_class(gain, largest_gain), std::min(zero, zero + reach), y - 9, std::max(1.0, std::abs(reach)), box.width - kMargin, kMargin,
                     local_count(local));
}

std::string draw_direction(const Layout& layout, const Json& direction, double scale, double largest, double largest_gain) {
  const std::string name = text_of(direction, "name"), intent = text_of(direction, "intent");
  const Place& place = layout.places.at(name);
  const double height = box_height(direction);
  std::string svg = fmt::format(
      "<g class=\"node {}{}\" tabindex=\"0\" data-node=\"{}\" transform=\"translate({:.1f} {:.1f}) scale({:.3f})\"><title>{}{}: {}</title>"
      "<rect class=\"box\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"9\"/><text class=\"name\" x=\"{}\" y=\"20\">{}</text>"
      "<text class=\"count\" x=\"{:.1f}\" y=\"20\">{}</text>\n",
      utility_class(number_of(direction, "credit_mean"), largest), number_of(direction, "tries") > 0 ? "" : " idle", escape_html(name),
      place.centre.x - place.half_width, place.centre.y - place.half_height, scale, escape_html(name),
      intent.empty() ? "" : " (" + escape_html(intent) + ")", escape_html(statistics_text(direction)), layout.box.width, height, kMargin,
      escape_html(direction_label(direction)), layout.box.width - kMargin, tries_text(direction));
  svg += fmt::format("<text class=\"small\" x=\"{}\" y=\"37\">{}</text>\n", kMargin, summary_text(direction));
  const std::vector<const Json*> locals = ranked_locals(direction);
  for (std::size_t k = 0; k < std::min(locals.size(), kLocalsShown); ++k) {
    svg += draw_local(layout.box, *locals[k], kHeadHeight + kRowHeight * static_cast<double>(k) + 12, largest_gain);
  }
  if (locals.size() > kLocalsShown) {
    svg += fmt::format("<text class=\"small\" x=\"{}\" y=\"{:.1f}\">and {} more</text>\n", kMargin, height - 8, locals.size() - kLocalsShown);
  }
  return svg + "</g>\n";
}

}  // namespace

std::string draw_memory_graph(const Json& memory) {
  const Json& directions = list_of(memory, "directions");
  const Layout layout = lay_out(directions);
  const double largest = largest_credit(memory);
  double most = 1, largest_gain = 0.01;
  for (const Json& e : list_of(memory, "edges")) most = std::max(most, number_of(e, "tries"));
  for (const Json& d : directions) {
    for (const Json& l : list_of(d, "locals")) largest_gain = std::max(largest_gain, std::abs(number_of(l, "gain_mean")));
  }
  std::string svg = fmt::format("<svg id=\"graph\" viewBox=\"{:.0f} {:.0f} {:.0f} {:.0f}\" role=\"img\" "
                                "aria-label=\"directions of the memory and the transitions between them\">\n",
                                layout.corner.x, layout.corner.y, layout.size.x, layout.size.y);
  std::vector<const Json*> edges;   // wide ones below thin ones
  for (const Json& e : list_of(memory, "edges")) edges.push_back(&e);
  std::stable_sort(edges.begin(), edges.end(), [](const Json* a, const Json* b) { return number_of(*a, "tries") > number_of(*b, "tries"); });
  for (const Json* e : edges) svg += draw_edge(layout, *e, most, largest);
  svg += fmt::format("<g class=\"node start\" tabindex=\"0\" data-node=\"START\"><title>START: before the first step</title><circle cx=\"{0:.1f}\" "
      "cy=\"{1:.1f}\" r=\"{2}\"/>"
                     "<text x=\"{0:.1f}\" y=\"{3:.1f}\">START</text></g>\n", layout.centre.x, layout.centre.y, kStartRadius, layout.centre.y + 5);
  for (std::size_t k = 0; k < directions.size(); ++k) svg += draw_direction(layout, directions[k], layout.scales[k], largest, largest_gain);
  return svg + "</svg>\n";
}

}  // namespace cairn
