#include "ops/graph.h"

#include <cmath>
#include <fmt/core.h>
#include <limits>
#include <set>

#include "base/file.h"
#include "base/json.h"

namespace cairn {
namespace {

// Parses one document; every refusal carries the JSON path where it happened.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Result<Graph> read(const Json& root);

 private:
  Error fault(const std::string& path, const std::string& message) const {
    Error error;
    error.code = Code::parse;
    error.message = path.empty() ? message : path + ": " + message;
    error.where.file = file_;
    return error;
  }
  Result<const Json*> member(const Json& object, const std::string& path, const char* key) const {
    if (!object.is_object()) return fault(path, std::string("found ") + object.type_name() + ", expected an object");
    const auto found = object.find(key);
    if (found == object.end()) return fault(path, fmt::format("key '{}' is missing", key));
    return &*found;
  }
  Result<std::string> string(const Json& value, const std::string& path) const {
    if (!value.is_string()) return fault(path, std::string("found ") + value.type_name() + ", expected a string");
    return value.get<std::string>();
  }
  Result<std::string> string_at(const Json& object, const std::string& path, const char* key) const {
    CAIRN_TRY(const Json* value, member(object, path, key));
    return string(*value, path + "." + key);
  }
  Result<Dtype> dtype(const Json& value, const std::string& path) const {
    CAIRN_TRY(const std::string text, string(value, path));
    const auto found = parse_dtype(text);
    if (!found) return fault(path, fmt::format("'{}' is not a dtype", text));
    return *found;
  }
  Result<Shape> shape(const Json& value, const std::string& path) const;
  Result<GraphTensor> tensor(const std::string& name, const Json& value, const std::string& path) const;
  Result<Generator> generator(const Json& value, const std::string& path) const;
  Result<Arg> arg(const Json& value, const std::string& path, unsigned depth) const;
  Result<GraphNode> node(const Json& value, const std::string& path);
  Result<void> know(const std::string& name, const std::string& path) {
    if (name.empty()) return fault(path, "a tensor has an empty name");
    if (!known_.insert(name).second) return fault(path, fmt::format("tensor '{}' is defined twice", name));
    return {};
  }
  Result<void> check_known(const std::string& name, const std::string& path) const {
    if (known_.count(name) == 0) return fault(path, fmt::format("tensor '{}' is used before it is defined", name));
    return {};
  }

  std::string file_;
  std::set<std::string, std::less<>> known_;
};

Result<Shape> Reader::shape(const Json& value, const std::string& path) const {
  if (!value.is_array()) return fault(path, std::string("found ") + value.type_name() + ", expected a list of extents");
  Shape out;
  for (const Json& extent : value) {
    if (!extent.is_number_integer() || extent.get<std::int64_t>() < 0) {
      return fault(path, "an extent is not a non-negative integer");
    }
    out.push_back(extent.get<std::int64_t>());
  }
  if (out.size() > 16) return fault(path, "more than 16 axes");
  if (!element_count(out)) return fault(path, "the number of elements overflows 64 bits");
  return out;
}

Result<double> finite_or_named(const Json& value, Error otherwise) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  }
  return otherwise;
}

Result<Generator> Reader::generator(const Json& value, const std::string& path) const {
  CAIRN_TRY(const std::string kind, string_at(value, path, "kind"));
  Generator out;
  const auto number = [&](const char* key) -> Result<double> {
    CAIRN_TRY(const Json* found, member(value, path, key));
    return finite_or_named(*found, fault(path + "." + key, "expected a number"));
  };
  if (kind == "constant") {
    CAIRN_TRY(out.low, number("value"));
    return out;
  }
  if (kind != "uniform") return fault(path, fmt::format("generator '{}' is unknown, expected constant or uniform", kind));
  out.kind = Generator::Kind::uniform;
  CAIRN_TRY(out.low, number("low"));
  CAIRN_TRY(out.high, number("high"));
  CAIRN_TRY(const Json* seed, member(value, path, "seed"));
  if (!seed->is_number_unsigned()) return fault(path + ".seed", "expected a non-negative integer");
  out.seed = seed->get<std::uint64_t>();
  if (!(std::isfinite(out.low) && std::isfinite(out.high) && out.low <= out.high)) {
    return fault(path, "low and high are not finite and in order");
  }
  return out;
}

Result<GraphTensor> Reader::tensor(const std::string& name, const Json& value, const std::string& path) const {
  GraphTensor out;
  out.name = name;
  CAIRN_TRY(const std::string role, string_at(value, path, "role"));
  if (role == "in") {
    out.role = Role::in;
  } else if (role == "param") {
    out.role = Role::param;
  } else if (role == "const") {
    out.role = Role::constant;
  } else {
    return fault(path + ".role", fmt::format("found '{}', expected in, param or const", role));
  }
  CAIRN_TRY(const Json* type, member(value, path, "dtype"));
  CAIRN_TRY(out.dtype, dtype(*type, path + ".dtype"));
  CAIRN_TRY(const Json* extents, member(value, path, "shape"));
  CAIRN_TRY(out.shape, shape(*extents, path + ".shape"));
  if (value.contains("buffer")) out.buffer = value["buffer"].is_boolean() && value["buffer"].get<bool>();
  if (value.contains("generator")) {
    CAIRN_TRY(out.generator, generator(value["generator"], path + ".generator"));
  }
  if (value.contains("scalar")) {
    if (!out.shape.empty()) return fault(path + ".scalar", "only a tensor of rank 0 may be given in place");
    CAIRN_TRY(out.scalar, finite_or_named(value["scalar"], fault(path + ".scalar", "expected a number")));
  }
  if (value.contains("key")) {
    CAIRN_TRY(out.key, string_at(value, path, "key"));
  }
  const int sources = int{out.generator.has_value()} + int{out.scalar.has_value()} + int{!out.key.empty()};
  if (out.role == Role::in ? sources != 0 : sources != 1) {
    return fault(path, out.role == Role::in ? "an input has no values of its own"
                                            : "expected exactly one of generator, scalar and key");
  }
  return out;
}

Result<Arg> Reader::arg(const Json& value, const std::string& path, unsigned depth) const {
  Arg out;
  if (depth > 4) return fault(path, "lists are nested too deep");
  if (value.is_null()) return out;
  if (value.is_boolean()) {
    out.kind = Arg::Kind::boolean;
    out.boolean = value.get<bool>();
  } else if (value.is_number_integer()) {
    out.kind = Arg::Kind::integer;
    out.integer = value.get<std::int64_t>();
  } else if (value.is_number_float()) {
    out.kind = Arg::Kind::number;
    out.number = value.get<double>();
  } else if (value.is_string()) {
    out.kind = Arg::Kind::text;
    out.text = value.get<std::string>();
  } else if (value.is_array()) {
    out.kind = Arg::Kind::list;
    for (std::size_t i = 0; i < value.size(); ++i) {
      CAIRN_TRY(Arg item, arg(value[i], fmt::format("{}[{}]", path, i), depth + 1));
      out.items.push_back(std::move(item));
    }
  } else if (value.size() == 1 && value.contains("tensor")) {
    out.kind = Arg::Kind::tensor;
    CAIRN_TRY(out.text, string_at(value, path, "tensor"));
    CAIRN_CHECKED(check_known(out.text, path));
  } else if (value.size() == 1 && value.contains("dtype")) {
    out.kind = Arg::Kind::dtype;
    CAIRN_TRY(out.dtype, dtype(value["dtype"], path));
  } else if (value.size() == 1 && value.contains("float")) {
    out.kind = Arg::Kind::number;
    CAIRN_TRY(out.number, finite_or_named(value["float"], fault(path, "expected inf, -inf or nan")));
  } else {
    return fault(path, "expected null, a number, a bool, a string, a list, or one of tensor, dtype, float");
  }
  return out;
}

// "file.py:23" -> a Location.
Location parse_place(const std::string& text) {
  Location out;
  out.file = text;
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || colon + 1 == text.size() || text.size() - colon > 9) return out;
  std::uint32_t line = 0;
  for (std::size_t i = colon + 1; i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9') return out;
    line = line * 10 + static_cast<std::uint32_t>(text[i] - '0');
  }
  out.file = text.substr(0, colon);
  out.line = line;
  out.column = 1;
  return out;
}

Result<GraphNode> Reader::node(const Json& value, const std::string& path) {
  GraphNode out;
  CAIRN_TRY(out.op, string_at(value, path, "op"));
  if (value.contains("place")) {
    CAIRN_TRY(const std::string place, string_at(value, path, "place"));
    out.place = parse_place(place);
  }
  CAIRN_TRY(const Json* args, member(value, path, "args"));
  if (!args->is_object()) return fault(path + ".args", "expected an object");
  for (const auto& [key, item] : args->items()) {
    CAIRN_TRY(Arg one, arg(item, path + ".args." + key, 0));
    out.args[key] = std::move(one);
  }
  CAIRN_TRY(const Json* outputs, member(value, path, "outputs"));
  if (!outputs->is_array()) return fault(path + ".outputs", "expected a list");
  for (std::size_t i = 0; i < outputs->size(); ++i) {
    const Json& item = (*outputs)[i];
    const std::string where = fmt::format("{}.outputs[{}]", path, i);
    NodeOutput output;
    if (!item.is_null()) {
      CAIRN_TRY(output.name, string_at(item, where, "name"));
      CAIRN_CHECKED(know(output.name, where));
      CAIRN_TRY(const Json* type, member(item, where, "dtype"));
      CAIRN_TRY(output.dtype, dtype(*type, where + ".dtype"));
      CAIRN_TRY(const Json* extents, member(item, where, "shape"));
      CAIRN_TRY(output.shape, shape(*extents, where + ".shape"));
    }
    out.outputs.push_back(std::move(output));
  }
  return out;
}

Result<Graph> Reader::read(const Json& root) {
  Graph graph;
  graph.file = file_;
  CAIRN_TRY(const Json* version, member(root, "", "cairn_graph"));
  if (!version->is_number_integer() || version->get<int>() != kGraphVersion) {
    return fault("cairn_graph", fmt::format("found version {}, this build reads version {}", dump_json(*version),
                                            kGraphVersion));
  }
  CAIRN_TRY(graph.name, string_at(root, "", "name"));
  if (root.contains("weights") && !root["weights"].is_null()) {
    CAIRN_TRY(graph.weights, string_at(root, "", "weights"));
    if (graph.weights.find('/') != std::string::npos) return fault("weights", "expected a file name without directories");
  }
  CAIRN_TRY(const Json* tensors, member(root, "", "tensors"));
  if (!tensors->is_object()) return fault("tensors", "expected an object");
  for (const auto& [name, value] : tensors->items()) {
    const std::string path = "tensors." + name;
    CAIRN_TRY(GraphTensor one, tensor(name, value, path));
    CAIRN_CHECKED(know(name, path));
    if (!one.key.empty() && graph.weights.empty()) return fault(path, "has a key but the graph names no weights file");
    graph.tensors.push_back(std::move(one));
  }
  CAIRN_TRY(const Json* nodes, member(root, "", "nodes"));
  if (!nodes->is_array()) return fault("nodes", "expected a list");
  for (std::size_t i = 0; i < nodes->size(); ++i) {
    CAIRN_TRY(GraphNode one, node((*nodes)[i], fmt::format("nodes[{}]", i)));
    graph.nodes.push_back(std::move(one));
  }
  CAIRN_TRY(const Json* outputs, member(root, "", "outputs"));
  if (!outputs->is_array() || outputs->empty()) return fault("outputs", "expected a list of at least one tensor name");
  for (const Json& item : *outputs) {
    CAIRN_TRY(const std::string name, string(item, "outputs"));
    CAIRN_CHECKED(check_known(name, "outputs"));
    graph.outputs.push_back(name);
  }
  if (!root.contains("updates")) return graph;
  if (!root["updates"].is_array()) return fault("updates", "expected a list");
  for (const Json& item : root["updates"]) {
    GraphUpdate update;
    CAIRN_TRY(update.tensor, string_at(item, "updates", "tensor"));
    CAIRN_TRY(update.value, string_at(item, "updates", "value"));
    CAIRN_CHECKED(check_known(update.value, "updates"));
    const GraphTensor* target = graph.find(update.tensor);
    if (target == nullptr || target->role == Role::constant) {
      return fault("updates", fmt::format("'{}' is not an input or a parameter", update.tensor));
    }
    graph.updates.push_back(std::move(update));
  }
  return graph;
}

}  // namespace

const GraphTensor* Graph::find(std::string_view tensor) const {
  for (const GraphTensor& one : tensors) {
    if (one.name == tensor) return &one;
  }
  return nullptr;
}

Result<Graph> parse_graph(std::string_view text, const std::string& file) {
  CAIRN_TRY(const Json root, parse_json(text, file));
  return Reader(file).read(root);
}

Result<Graph> read_graph(const std::string& path) {
  CAIRN_TRY(const std::string text, read_file(path));
  return parse_graph(text, path);
}

}  // namespace cairn
