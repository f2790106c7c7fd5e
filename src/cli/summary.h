// A search run as text and JSON.
#pragma once
#include <string>

#include "cli/run_search.h"

namespace cairn {

std::string summary_text(const SearchRun& run);
Json summary_json(const SearchRun& run);
Digest canonical_hash_of(const Program& program);
// "1.234 ms" with three significant digits and a fitting unit.
std::string format_seconds(double seconds);

}  // namespace cairn
