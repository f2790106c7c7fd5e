#include "cli/counts.h"

#include <charconv>
#include <cstdint>

#include <fmt/core.h>

namespace cairn {

CLI::Validator whole_number() {
  return CLI::Validator(
      [](std::string& text) {
        std::int64_t value = -1;
        const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = code == std::errc{} && end == text.data() + text.size() && value >= 0;
        return whole ? std::string() : fmt::format("found '{}', expected a whole number from 0 to {}", text, INT64_MAX);
      },
      "");
}

}  // namespace cairn
