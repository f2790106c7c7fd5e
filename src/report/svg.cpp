#include "report/svg.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

namespace cairn {

namespace {

// Widths of the characters from space to tilde in DejaVu Sans, in hundredths of its size: it and Verdana are the widest of the
// fonts that pages are shown in.
constexpr std::array<int, 95> kWidths{
    32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53,
    100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84, 50,
    50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84};

}  // namespace

std::string escape_html(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

double text_width(std::string_view text, double size, bool bold) {
  double width = 0;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if ((code & 0xc0) == 0x80) continue;   // inside a character of UTF-8
    const double plain = code >= 32 && code < 127 ? kWidths[code - 32U] : 100;
    width += bold ? plain * 1.13 + 3 : plain;
  }
  return width * size / 100;
}

std::string time_label(double s) {
  if (!(s > 0)) return "-";
  if (s < 1e-3) return fmt::format("{:.3g} us", s * 1e6);
  if (s < 1) return fmt::format("{:.3g} ms", s * 1e3);
  return fmt::format("{:.3g} s", s);
}

namespace {

// Maps seconds to [0, 1] on a logarithmic axis over whole decades.
struct LogAxis {
  double low, high;
  explicit LogAxis(const std::vector<double>& values) : low(0), high(1) {
    double smallest = 1e300, largest = 0;
    for (const double v : values) {
      if (!(v > 0)) continue;
      smallest = std::min(smallest, v);
      largest = std::max(largest, v);
    }
    if (!(largest > 0)) return;
    low = std::floor(std::log10(smallest) - 0.05);
    high = std::max(low + 1, std::ceil(std::log10(largest)));
  }
  double at(double v) const { return v > 0 ? (std::log10(v) - low) / (high - low) : 0; }
};

}  // namespace

std::string bar_chart(const std::vector<Bar>& bars) {
  std::vector<double> values;
  for (const Bar& b : bars) values.push_back(b.seconds);
  const LogAxis axis(values);
  const double left = 190, width = 560, row = 24;
  const double height = row * static_cast<double>(bars.size()) + 28;
  std::string svg = fmt::format("<svg viewBox=\"0 0 860 {}\" role=\"img\" class=\"chart\">\n", height);
  for (double d = axis.low; d <= axis.high + 1e-9; d += 1) {
    const double x = left + width * (d - axis.low) / (axis.high - axis.low);
    svg += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"0\" y2=\"{1}\"/><text class=\"tick\" x=\"{0:.1f}\" y=\"{2}\">{3}</text>\n",
                       x, height - 20, height - 4, time_label(std::pow(10, d)));
  }
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const Bar& b = bars[i];
    const double y = row * static_cast<double>(i) + 3;
    const double w = std::max(2.0, width * axis.at(b.seconds));
    svg += fmt::format("<g><title>{}</title><text class=\"label\" x=\"{}\" y=\"{:.1f}\">{}</text>"
                       "<rect class=\"{}\" x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"17\" rx=\"2\"/>"
                       "<text class=\"value\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n",
                       escape_html(b.title.empty() ? b.label : b.title), left - 8, y + 13, escape_html(b.label), b.style, left, y, w,
                       left + w + 6, y + 13, time_label(b.seconds));
  }
  return svg + "</svg>\n";
}

std::string step_curve(const std::vector<CurveSample>& points, double last) {
  if (points.empty()) return {};
  std::vector<double> values;
  for (const CurveSample& p : points) values.push_back(p.seconds);
  const LogAxis axis(values);
  const double left = 70, width = 740, top = 10, height = 220;
  last = std::max(1.0, last);
  const auto x = [&](double e) { return left + width * e / last; };
  const auto y = [&](double s) { return top + height * (1 - axis.at(s)); };
  std::string svg = "<svg viewBox=\"0 0 860 270\" role=\"img\" class=\"chart\">\n";
  for (double d = axis.low; d <= axis.high + 1e-9; d += 1) {
    const double at = y(std::pow(10, d));
    svg += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text class=\"label\" x=\"{}\" y=\"{:.1f}\">{}</text>\n",
                       left, left + width, at, at, left - 6, at + 4, time_label(std::pow(10, d)));
  }
  std::string path = fmt::format("M{:.1f} {:.1f}", x(points[0].evaluation), y(points[0].seconds));
  for (std::size_t i = 1; i < points.size(); ++i) {
    path += fmt::format(" H{:.1f} V{:.1f}", x(points[i].evaluation), y(points[i].seconds));
  }
  path += fmt::format(" H{:.1f}", x(last));
  svg += fmt::format("<path class=\"curve\" d=\"{}\"/>\n", path);
  for (const CurveSample& p : points) {
    svg += fmt::format("<circle class=\"ours\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>evaluation {:.0f}: {}</title></circle>\n",
                       x(p.evaluation), y(p.seconds), p.evaluation, time_label(p.seconds));
  }
  svg += fmt::format("<text class=\"tick\" x=\"{}\" y=\"262\">0</text><text class=\"tick\" x=\"{}\" y=\"262\">{:.0f} evaluations</text>\n",
                     left, left + width - 20, last);
  return svg + "</svg>\n";
}

}  // namespace cairn
