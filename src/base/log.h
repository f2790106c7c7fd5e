// Log lines on stderr, by level; the level comes from --verbose or CAIRN_LOG.
#pragma once
#include <string>

namespace cairn {

enum class LogLevel { error, warning, info, debug };
void set_log_level(LogLevel level);
void log_line(LogLevel level, const std::string& text);

}  // namespace cairn
