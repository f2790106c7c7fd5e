// The one measurement lane of a device: of all processes of a user one at a time runs kernels there.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/lock.h"
#include "base/result.h"

namespace cairn {

struct LaneOptions {
  std::string directory;                            // of the lock files; empty: nobody is excluded
  std::function<void(double seconds)> on_wait;      // told again and again while another process measures; may be empty
  std::function<void(const std::string&)> on_note;  // told once where no lock can be made; may be empty
};

// For one thread at a time. Compile before a turn, not in it: others wait.
class MeasureLane {
 public:
  // `device` names what two processes share, whatever they compile for.
  MeasureLane(LaneOptions options, const std::string& device, Clock& clock);
  // A turn, held until it is destroyed. Of two processes that both want the lane each gets every second turn. Where no lock can
  // be made (a read-only place) a turn excludes nobody. Refuses with interrupted when that came while waiting.
  using Turn = std::optional<FileLock>;
  Result<Turn> take();
  // Seconds spent waiting so far.
  double waited() const { return waited_; }

 private:
  Result<Turn> try_lock(const std::string& path);

  LaneOptions options_;
  std::string path_;
  Clock& clock_;
  bool open_to_all_ = false;   // no lock can be made
  double waited_ = 0;
};

// What processes that run kernels on this machine's CPU share.
std::string name_cpu_lane();

}  // namespace cairn
