// The generated page of strategies: docs/strategies.md.
#pragma once
#include <string>

#include "base/result.h"
#include "strategy/workloads.h"

namespace cairn {

// Markdown: the table of all strategies with how often each fires on the workloads, a section each with the prose of its
// page (PAGES/LEVEL/NAME.md up to the first block), and what the pair table says. Refuses a page that is missing.
Result<std::string> print_catalogue(const std::vector<WorkloadState>& states, const std::string& pages, const Target& target,
                                    unsigned jobs);

}  // namespace cairn
