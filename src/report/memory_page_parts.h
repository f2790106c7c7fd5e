// Drawings of the memory page, and how they read their JSON.
#pragma once
#include <string>
#include <vector>

#include "base/json.h"

namespace cairn {

// A finite number or text under a key, else the fallback: pages are drawn from files that others wrote.
double number_of(const Json& object, const char* key, double fallback = 0);
std::string text_of(const Json& object, const char* key);
// The array under a key, or an empty one.
const Json& list_of(const Json& object, const char* key);
// At most `most` characters, the last one an ellipsis where text was cut.
std::string shorten(const std::string& text, std::size_t most);

// Class names of a diverging scale, u0 (worst) over u3 (around zero) to u6 (best), for a value within [-largest, largest]; the
// scale goes by the root of the value, because most credits are small beside the largest.
std::string utility_class(double value, double largest);
// Where a value stands on that scale: the signed root of its share of the largest, in [-1, 1].
double utility_share(double value, double largest);
// The largest |mean credit| of directions and edges, at least 0.01.
double largest_credit(const Json& memory);
// "tries 3, passed 2, failed 1, improved 1, mean gain +0.1000 (1.11x), ..." of an object with statistics.
std::string statistics_text(const Json& statistics);

// The graph: an <svg> with one group.node a direction and one path.edge an edge.
std::string draw_memory_graph(const Json& memory);
// What a proposal is called: its template, or its first action's strategy; "naive" for the root.
std::string proposal_label(const Json& record);
// Numbers of the records from the root to the best one; empty without records.
std::vector<std::size_t> best_path(const Json& records);
// Which records are drawn where there are more than `most`: the best path whole, what was proposed along it, then the best of
// the rest, each with all that leads to it.
std::vector<bool> pick_drawn(const Json& records, std::size_t most);
// Speed-ups for the ticks of a logarithmic axis from low to high, which lie around 1: 1, 2 and 5 times powers of ten, only the
// powers where these are many, and round steps where they are few.
std::vector<double> speedup_ticks(double low, double high);
// The search tree: the drawn proposals over their number at their score, failures in a strip below.
std::string draw_search_tree(const Json& records, const std::vector<bool>& drawn);

}  // namespace cairn
