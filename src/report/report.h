// Reports of optimisation runs, from report.json (docs/formats/report.md) to text and self-contained HTML.
#pragma once
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace cairn {

inline constexpr int kReportVersion = 1;

// Checks the version and the keys that the renderers rely on.
Result<void> check_report(const Json& report, const std::string& file);
// The table for a terminal: times, speed-ups, steps with class, time, certificates.
std::string render_report_text(const Json& report);
// One HTML page without outside resources: speed-ups, time after each step, search curve, each step with its
// certificates and program, the C source.
std::string render_report_html(const Json& report);

}  // namespace cairn
