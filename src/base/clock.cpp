#include "base/clock.h"

#include <cmath>
#include <cstdio>
#include <ctime>

#include <fmt/core.h>

namespace cairn {

namespace {
std::string iso_utc(std::time_t seconds) {
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return "1970-01-01T00:00:00Z";
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

class SystemClock : public Clock {
 public:
  double now() override {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  }
  std::string wall() override { return iso_utc(epoch()); }
  std::int64_t epoch() override {
    timespec t{};
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec;
  }
};
}  // namespace

Clock& system_clock() {
  static SystemClock clock;
  return clock;
}

std::string FakeClock::wall() { return iso_utc(epoch()); }
std::int64_t FakeClock::epoch() {
  constexpr std::int64_t kStart = 1767225600;  // 2026-01-01T00:00:00Z
  return kStart + static_cast<std::int64_t>(std::floor(seconds_));
}

std::string print_utc(std::int64_t seconds) { return iso_utc(static_cast<std::time_t>(seconds)); }

std::optional<std::int64_t> parse_utc(const std::string& text) {
  std::tm parts{};
  int end = 0;
  const bool date = std::sscanf(text.c_str(), "%4d-%2d-%2d%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &end) == 3 && end == 10;
  if (!date) return std::nullopt;
  if (text.size() > 10) {
    const bool time = std::sscanf(text.c_str() + 10, "T%2d:%2d:%2dZ%n", &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &end) == 3;
    if (!time || text.size() != 20 || end != 10) return std::nullopt;
  }
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  const std::int64_t seconds = timegm(&parts);
  // The 31st of a short month reads as another day.
  return print_utc(seconds).compare(0, text.size(), text) == 0 ? std::optional(seconds) : std::nullopt;
}

}  // namespace cairn
