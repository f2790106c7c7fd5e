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

struct ReportOptions {
  int timed_steps = 8;            // programs along the trace that are timed
  double certify_seconds = 60;    // for certifying and timing steps; then steps keep what needs no time
};

// Certifies every step of the trace, times programs along it, and gathers the report. The winner itself has passed the
// executed gate, whatever the limit. Refuses with mismatch, naming the step, if a step of the winner loses its certificate.
Result<Json> make_report(Session& session, const Loaded& loaded, SearchRun& run, const CSource& source,
                         const std::optional<TorchTimes>& torch, const ReportOptions& report);

}  // namespace cairn
