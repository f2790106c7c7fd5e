// Timing our kernel beside PyTorch: one Python process loads both and alternates (python/cairn/compare.py).
#pragma once
#include <string>

#include "cli/optimize_report.h"

namespace cairn {

// Builds the kernel, runs the comparison; what failed is in `note`, times are then 0.
TorchTimes compare_with_torch(Session& session, const Loaded& loaded, const std::string& module_file, const CSource& source,
                              const Target& target, bool torch_compile);

}  // namespace cairn
