// Text between blanks.
#pragma once
#include <string_view>

namespace cairn {

// Without the spaces, tabs and line ends on both sides.
inline std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace cairn
