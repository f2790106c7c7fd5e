// The picture of a memory, and of one run's search tree, as one self-contained HTML page (docs/formats/memory-page.md).
#pragma once
#include <string>

#include "base/json.h"

namespace cairn {

// Directions as boxes on an ellipse around START, with their most tried locals inside; edges as arrows, width by evidence,
// colour by mean credit; tables with the same numbers. `memory`: {memory, rows, tasks, runs, directions, edges}. `run`: null,
// or {header, records, end} with the lines of a journal; at most 300 of its proposals are drawn at their scores, the best path
// among them. The same input gives the same bytes; what is missing in it is left out of the picture.
std::string render_memory_page(const Json& memory, const Json& run);

}  // namespace cairn
