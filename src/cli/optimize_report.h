// report.json of an optimisation: steps with certificates and times.
#pragma once
#include <optional>
#include <string>

#include "cli/run_search.h"
#include "lower/c.h"

namespace cairn {

// What PyTorch needed beside our kernel, measured interleaved in one process (python/cairn/compare.py).
struct TorchTimes {
  double eager_seconds = 0, compile_seconds = 0, ours_seconds = 0;  // 0: not measured
  double max_error = 0;
  int threads = 0;
  std::string note;
};

// Certifies every step of the trace, times up to `timed_steps` programs along it, and gathers the report.
// Refuses with mismatch, naming the step, if a step of the winner loses its certificate.
Result<Json> make_report(Session& session, const Loaded& loaded, SearchRun& run, const CSource& source,
                         const std::optional<TorchTimes>& torch, int timed_steps);

}  // namespace cairn
