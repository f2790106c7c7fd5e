#include "eval/lane.h"

#include <climits>
#include <ctime>

#include <fmt/core.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/interrupt.h"

namespace cairn {

namespace {
constexpr long kPollNanoseconds = 10'000'000;
}

MeasureLane::MeasureLane(LaneOptions options, const std::string& device, Clock& clock) : options_(std::move(options)), clock_(clock) {
  open_to_all_ = options_.directory.empty();
  path_ = join_path(options_.directory, digest_bytes(device).hex().substr(0, 16));
}

Result<MeasureLane::Turn> MeasureLane::take() {
  const double begun = clock_.now();
  // Who waits for the lane holds the place after it, and who had the lane must take that place first: so nobody has two turns
  // while another waits.
  Turn next, lane;
  while (!open_to_all_) {
    if (!next) {
      CAIRN_TRY(next, try_lock(path_ + ".next"));
    }
    if (next) {
      CAIRN_TRY(lane, try_lock(path_ + ".lane"));
    }
    if (lane || open_to_all_) break;
    if (interrupted() != 0) return Error{Code::interrupted, "interrupted while another process measured on this device", {}, {}};
    if (options_.on_wait) options_.on_wait(clock_.now() - begun);
    const timespec pause{0, kPollNanoseconds};
    ::nanosleep(&pause, nullptr);
  }
  waited_ += clock_.now() - begun;
  return lane;
}

Result<MeasureLane::Turn> MeasureLane::try_lock(const std::string& path) {
  if (open_to_all_) return Turn();
  Result<void> made = make_directories(options_.directory);
  if (made.ok()) {
    Result<Turn> lock = FileLock::try_make(path);
    if (lock.ok()) return lock;
    made = lock.error();
  }
  open_to_all_ = true;
  if (options_.on_note) options_.on_note(fmt::format("other processes may measure at the same time: {}", made.error().message));
  return Turn();
}

std::string name_cpu_lane() {
  // A home directory may be shared by machines.
  char host[HOST_NAME_MAX + 1] = "";
  ::gethostname(host, sizeof host - 1);
  return fmt::format("cpu {}", host);
}

}  // namespace cairn
