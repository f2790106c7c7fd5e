#include "report/chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/svg.h"

namespace cairn {

namespace {

constexpr std::array<const char*, 8> kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666", "#b8860b"};
constexpr double kWidth = 860, kHeight = 420, kLeft = 64, kRight = 190, kTop = 40, kBottom = 52;

// A round step that cuts a range into at most `most` parts.
double round_step(double range, int most) {
  if (!(range > 0)) return 1;
  const double raw = range / most, scale = std::pow(10, std::floor(std::log10(raw)));
  for (const double m : {1.0, 2.0, 5.0, 10.0}) {
    if (m * scale >= raw) return m * scale;
  }
  return 10 * scale;
}

struct Frame {
  double x0 = 0, x1 = 1, y0 = 0, y1 = 1;
  double x(double v) const { return kLeft + (v - x0) / (x1 - x0) * (kWidth - kLeft - kRight); }
  double y(double v) const { return kHeight - kBottom - (v - y0) / (y1 - y0) * (kHeight - kTop - kBottom); }
};

Frame frame_of(const Chart& chart) {
  Frame f;
  bool first = true;
  const auto cover = [&](double x, double y) {
    if (!std::isfinite(x) || !std::isfinite(y)) return;
    if (first) f = {x, x, std::min(0.0, y), y}, first = false;
    f.x0 = std::min(f.x0, x), f.x1 = std::max(f.x1, x);
    f.y0 = std::min(f.y0, y), f.y1 = std::max(f.y1, y);
  };
  for (const ChartLine& line : chart.lines) {
    for (std::size_t k = 0; k < line.points.size(); ++k) {
      cover(line.points[k].first, line.points[k].second);
      if (k < line.band.size()) cover(line.points[k].first, line.band[k].first), cover(line.points[k].first, line.band[k].second);
    }
  }
  if (!(f.x1 > f.x0)) f.x1 = f.x0 + 1;
  const double step = round_step(f.y1 - f.y0, 6);
  f.y1 = std::max(f.y0 + step, std::ceil(f.y1 / step - 1e-9) * step);
  f.y0 = std::floor(f.y0 / step + 1e-9) * step;
  return f;
}

std::string draw_axes(const Chart& chart, const Frame& f) {
  std::string svg = fmt::format("<text x=\"{}\" y=\"22\" font-size=\"15\" font-weight=\"600\">{}</text>\n", kLeft, escape_html(chart.title));
  const double sy = round_step(f.y1 - f.y0, 6), sx = round_step(f.x1 - f.x0, 8);
  for (double v = f.y0; v <= f.y1 + sy * 1e-6; v += sy) {
    svg += fmt::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#ddd\"/>"
                       "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.3g}</text>\n",
                       kLeft, kWidth - kRight, f.y(v), kLeft - 6, f.y(v) + 4, std::abs(v) < sy * 1e-6 ? 0.0 : v);
  }
  for (double v = std::ceil(f.x0 / sx) * sx; v <= f.x1 + sx * 1e-6; v += sx) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.4g}</text>\n", f.x(v), kHeight - kBottom + 18, v);
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (kLeft + kWidth - kRight) / 2, kHeight - 12, escape_html(chart.x_label));
  return svg + fmt::format("<text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n", (kTop + kHeight - kBottom) / 2,
                           escape_html(chart.y_label));
}

}  // namespace

std::string draw_chart(const Chart& chart) {
  const Frame f = frame_of(chart);
  std::string svg = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
                                "font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"#222\">\n"
                                "<title>{2}</title><rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n", kWidth, kHeight, escape_html(chart.title));
  svg += draw_axes(chart, f);
  for (std::size_t k = 0; k < chart.lines.size(); ++k) {
    const ChartLine& line = chart.lines[k];
    const char* colour = kColours[k % kColours.size()];
    if (line.band.size() == line.points.size() && !line.band.empty()) {
      std::string path;
      for (std::size_t i = 0; i < line.points.size(); ++i) path += fmt::format("{:.1f},{:.1f} ", f.x(line.points[i].first), f.y(line.band[i].second));
      for (std::size_t i = line.points.size(); i-- > 0;) path += fmt::format("{:.1f},{:.1f} ", f.x(line.points[i].first), f.y(line.band[i].first));
      svg += fmt::format("<polygon points=\"{}\" fill=\"{}\" opacity=\"0.13\"/>\n", path, colour);
    }
    std::string path;
    for (const auto& [x, y] : line.points) path += fmt::format("{:.1f},{:.1f} ", f.x(x), f.y(y));
    const char* dash = k >= kColours.size() ? " stroke-dasharray=\"5 3\"" : "";
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", path, colour, dash);
    const double y = kTop + 10 + 19 * static_cast<double>(k);
    const double right = kWidth - kRight;
    svg += fmt::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\" stroke=\"{3}\" stroke-width=\"3\"{4}/>"
                       "<text x=\"{5}\" y=\"{6}\">{7}</text>\n",
                       right + 14, right + 36, y, colour, dash, right + 42, y + 4, escape_html(line.label));
  }
  return svg + "</svg>\n";
}

}  // namespace cairn
