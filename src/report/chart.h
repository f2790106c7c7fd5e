// Line charts as self-contained SVG files.
#pragma once
#include <string>
#include <vector>

namespace cairn {

// One line; `band`: the low and high edge at each point, or empty.
struct ChartLine {
  std::string label;
  std::vector<std::pair<double, double>> points;
  std::vector<std::pair<double, double>> band;
};
struct Chart {
  std::string title, x_label, y_label;
  std::vector<ChartLine> lines;
};
// Colours follow the order of the lines; the palette is readable with colour blindness (Okabe and Ito 2008).
std::string draw_chart(const Chart& chart);

}  // namespace cairn
