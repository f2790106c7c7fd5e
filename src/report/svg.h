// Small charts as inline SVG.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

// HTML-escapes text.
std::string escape_html(const std::string& text);
// An upper estimate of a text's width in the sans-serif fonts of browsers, in units of its size.
double text_width(std::string_view text, double size, bool bold = false);
// "1.23 ms".
std::string time_label(double seconds);

// Horizontal bars on a logarithmic axis; class names select colours from the page's style.
struct Bar {
  std::string label;
  double seconds = 0;
  std::string style;      // "naive", "ours", "torch", "step"
  std::string title;      // tooltip
};
std::string bar_chart(const std::vector<Bar>& bars);
// Best time so far over evaluations, as a step curve on a logarithmic axis; last is the number of evaluations.
struct CurveSample { double evaluation, seconds; };
std::string step_curve(const std::vector<CurveSample>& points, double last);

}  // namespace cairn
