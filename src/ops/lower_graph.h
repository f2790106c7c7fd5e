// graph.json -> LEIR: one nest an operation, maximally split.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/interp.h"
#include "ir/program.h"
#include "ops/graph.h"

namespace cairn {

// A tensor of the graph and its name in the program.
struct Binding {
  std::string leir;
  std::string graph;  // "x", "layer.weight"
};

// The program of a graph and how its declared tensors are bound.
struct LoweredGraph {
  Program program;
  std::vector<Binding> inputs;      // in, and io that come from inputs; order of the module's arguments
  std::vector<Binding> parameters;  // param, and io that come from buffers
  std::vector<Binding> constants;   // const
  std::vector<std::string> outputs;  // LEIR names in the order the module returns them
};

// Emits the program. Tensors that no output and no update needs are left out. Refuses (Code::parse, placed in the
// user's code) unknown operators, listing the supported ones, and calls whose shapes do not fit.
// `constants` holds the values of const tensors that have a key (their bytes enter the program's hash).
Result<LoweredGraph> lower_graph(const Graph& graph, const ValueMap& constants = {});

// Names of all operators that have an emitter, sorted.
std::vector<std::string> supported_ops();

}  // namespace cairn
