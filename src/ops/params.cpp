#include "ops/params.h"

#include <fmt/core.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/safetensors.h"
#include "ops/tensor_data.h"

namespace cairn {

// 2**30 values of the interpreter take 8 GiB.
constexpr std::int64_t kLargestGenerated = std::int64_t{1} << 30;

double generate_uniform(const Generator& generator, std::uint64_t k) {
  const std::uint64_t bits = mix64(mix64(generator.seed) + k) >> 40;
  return generator.low + (generator.high - generator.low) * (static_cast<double>(bits) / 16777216.0);
}

Value generate_value(const GraphTensor& tensor) {
  Value out = Value::zeros(tensor.dtype, tensor.shape);
  const auto fill = [&](std::uint64_t k) {
    if (tensor.scalar) return *tensor.scalar;
    if (!tensor.generator) return 0.0;
    if (tensor.generator->kind == Generator::Kind::constant) return tensor.generator->low;
    return generate_uniform(*tensor.generator, k);
  };
  for (std::size_t k = 0; k < out.floats.size(); ++k) out.floats[k] = round_to(tensor.dtype, fill(k));
  for (std::size_t k = 0; k < out.ints.size(); ++k) {
    out.ints[k] = tensor.dtype == Dtype::boolean ? std::int64_t{fill(k) != 0} : to_integer(tensor.dtype, fill(k));
  }
  return out;
}

Result<ValueMap> load_graph_values(const Graph& graph, const std::string& directory) {
  ValueMap out;
  std::map<std::string, TensorData> file;
  const std::string path = join_path(directory, graph.weights);
  if (!graph.weights.empty()) {
    CAIRN_TRY(file, read_safetensors(path));
  }
  for (const GraphTensor& tensor : graph.tensors) {
    if (tensor.role == Role::in) continue;
    if (tensor.key.empty()) {
      if (*element_count(tensor.shape) > kLargestGenerated) {
        Error error;
        error.code = Code::parse;
        error.where.file = graph.file;
        error.message = fmt::format("tensor '{}' has {} elements, a generator makes at most {}", tensor.name,
                                    *element_count(tensor.shape), kLargestGenerated);
        return error;
      }
      out[tensor.name] = generate_value(tensor);
      continue;
    }
    Error error;
    error.code = Code::parse;
    error.where.file = path;
    const auto found = file.find(tensor.key);
    if (found == file.end()) {
      error.message = fmt::format("tensor '{}' is missing, the graph names it for '{}'", tensor.key, tensor.name);
      return error;
    }
    CAIRN_TRY(Value value, value_of_tensor(found->second, path));
    if (value.dtype != tensor.dtype || value.shape != tensor.shape) {
      error.message = fmt::format("tensor '{}' has another dtype or shape than the graph says", tensor.key);
      return error;
    }
    out[tensor.name] = std::move(value);
  }
  return out;
}

}  // namespace cairn
