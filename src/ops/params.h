// Values of a graph's parameters and constants: from generators, in place, or from the .safetensors beside it.
#pragma once
#include "ir/interp.h"
#include "ops/graph.h"

namespace cairn {

// Element k of a uniform generator: low + (high-low) * u, u = the top 24 bits of mix64(mix64(seed) + k) over 2^24,
// computed in f64 and rounded to the tensor's dtype. Python's exporter computes the same bits.
double generate_uniform(const Generator& generator, std::uint64_t k);
// The values of a generated or in-place tensor.
Value generate_value(const GraphTensor& tensor);
// Parameters and constants by their names in the graph. `directory` is where graph.json lies. Refuses missing keys
// and other shapes or dtypes than the graph says.
Result<ValueMap> load_graph_values(const Graph& graph, const std::string& directory);

}  // namespace cairn
