// Text between blanks and line ends.
#pragma once
#include <algorithm>
#include <string_view>
#include <vector>

namespace cairn {

// Without the spaces, tabs and line ends on both sides.
inline std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// A line without its end, its number from 1, the offset behind it, and whether it has an end.
struct TextLine {
  std::string_view text;
  std::size_t number = 0, behind = 0;
  bool whole = true;
};
// The lines of a text, which they point into; what follows the last line end is a line unless it is empty.
inline std::vector<TextLine> split_lines(std::string_view text) {
  std::vector<TextLine> lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const bool whole = end < text.size();
    lines.push_back({text.substr(start, end - start), lines.size() + 1, whole ? end + 1 : end, whole});
    start = end + 1;
  }
  return lines;
}

}  // namespace cairn
