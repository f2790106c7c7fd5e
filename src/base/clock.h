// The time seam: everything that reads a clock takes a Clock&.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace cairn {

class Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic seconds from an arbitrary origin.
  virtual double now() = 0;
  // Wall time as ISO 8601 UTC, e.g. "2026-11-29T18:20:32Z".
  virtual std::string wall() = 0;
  // The same as seconds since 1970.
  virtual std::int64_t epoch() = 0;
};

// The real clock (CLOCK_MONOTONIC, CLOCK_REALTIME).
Clock& system_clock();

// A clock for tests and simulation: stands still until advanced.
class FakeClock : public Clock {
 public:
  double now() override { return seconds_; }
  std::string wall() override;
  std::int64_t epoch() override;
  void advance(double seconds) { seconds_ += seconds; }

 private:
  double seconds_ = 0;
};

// Seconds since 1970 as "2026-11-29T18:20:32Z", and back; a date alone is its first second.
std::string print_utc(std::int64_t seconds);
std::optional<std::int64_t> parse_utc(const std::string& text);

}  // namespace cairn
