#include "base/log.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

namespace cairn {

namespace {
LogLevel level_from_environment() {
  const char* text = std::getenv("CAIRN_LOG");
  const std::string_view name = text == nullptr ? "" : text;
  if (name == "error") return LogLevel::error;
  if (name == "info") return LogLevel::info;
  if (name == "debug") return LogLevel::debug;
  return LogLevel::warning;
}
std::atomic<LogLevel>& current_level() {
  static std::atomic<LogLevel> level{level_from_environment()};
  return level;
}
constexpr const char* kNames[] = {"error", "warning", "info", "debug"};
}  // namespace

void set_log_level(LogLevel level) { current_level() = level; }

void log_line(LogLevel level, const std::string& text) {
  if (level > current_level().load()) return;
  // One write a line keeps lines of several threads and processes whole.
  const std::string line = std::string("cairn: ") + kNames[static_cast<std::size_t>(level)] + ": " + text + "\n";
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace cairn
