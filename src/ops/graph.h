// The imported graph (docs/formats/graph.md): tensors, nodes named by aten operators, outputs. Untrusted input.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/types.h"

namespace cairn {

// The schema version that this build reads and writes.
inline constexpr int kGraphVersion = 1;

// A rule that makes a parameter's values from a seed, so that no weight file is needed.
struct Generator {
  enum class Kind : std::uint8_t { constant, uniform };
  Kind kind = Kind::constant;
  double low = 0;    // constant: the value; uniform: values lie in [low, high)
  double high = 0;
  std::uint64_t seed = 0;
};

// A tensor that exists before the first node: an input, a parameter or buffer, a constant.
struct GraphTensor {
  std::string name;
  Role role = Role::in;  // in, param, constant
  bool buffer = false;
  Dtype dtype = Dtype::f32;
  Shape shape;
  std::optional<Generator> generator;  // param
  std::optional<double> scalar;        // a rank-0 constant given in place
  std::string key;                     // entry of the weights file; empty if none
};

// One argument of a node.
struct Arg {
  enum class Kind : std::uint8_t { none, tensor, integer, number, boolean, text, dtype, list };
  Kind kind = Kind::none;
  std::string text;  // tensor: its name
  std::int64_t integer = 0;
  double number = 0;
  bool boolean = false;
  Dtype dtype = Dtype::undef;
  std::vector<Arg> items;
};

// A result of a node; an empty name means that nothing uses it.
struct NodeOutput {
  std::string name;
  Dtype dtype = Dtype::f32;
  Shape shape;
};

// One operator call; arguments by their names in PyTorch's schema, defaults filled in.
struct GraphNode {
  std::string op;  // "aten.linear.default"
  std::map<std::string, Arg, std::less<>> args;
  std::vector<NodeOutput> outputs;
  Location place;  // the user's code
};

// At the end of a call, `tensor` (a buffer or an input) takes the value of `value`.
struct GraphUpdate {
  std::string tensor;
  std::string value;
};

struct Graph {
  std::string file;     // where it was read from, for messages
  std::string name;
  std::string weights;  // file name of the .safetensors beside graph.json; empty if none
  std::vector<GraphTensor> tensors;
  std::vector<GraphNode> nodes;
  std::vector<std::string> outputs;
  std::vector<GraphUpdate> updates;

  const GraphTensor* find(std::string_view tensor) const;
};

// Parses graph.json; refuses (Code::parse, with the JSON path of the fault) unknown versions, missing keys, wrong
// types, negative extents, names used twice or before they exist.
Result<Graph> parse_graph(std::string_view text, const std::string& file);
// Reads and parses a file.
Result<Graph> read_graph(const std::string& path);

}  // namespace cairn
