// A test tool: lowers graphs and interprets them, many cases in one process.
//   graph_batch ops                     the supported operators, one a line
//   graph_batch show GRAPH              the program as LEIR
//   graph_batch run < LINES             a line is GRAPH INPUTS OUTPUTS (tab separated); runs each and answers one
//                                       JSON line {"ok", "error"}; INPUTS holds the inputs under the graph's names,
//                                       OUTPUTS gets "0", "1" ... and updated tensors under their names
#include <algorithm>
#include <cstdio>
#include <fmt/core.h>
#include <iostream>
#include <string>

#include "analysis/target.h"
#include "base/check.h"
#include "base/file.h"
#include "base/json.h"
#include "ir/interp.h"
#include "ir/text.h"
#include "ops/lower_graph.h"
#include "ops/params.h"
#include "ops/tensor_data.h"
#include "verify/verify.h"

namespace cairn {
namespace {

// Programs go through text, as a user's would.
Result<Program> reparse(const Program& program) {
  ParseOptions options;
  for (const Tensor& tensor : program.tensors()) {
    if (tensor.role == Role::constant) options.const_digests[tensor.name] = tensor.data;
  }
  return parse_program(print_program(program), options);
}

Result<void> run_case(const std::string& graph_path, const std::string& inputs_path, const std::string& outputs_path) {
  CAIRN_TRY(const Graph graph, read_graph(graph_path));
  CAIRN_TRY(const ValueMap values, load_graph_values(graph, dirname_of(graph_path)));
  CAIRN_TRY(const LoweredGraph lowered, lower_graph(graph, values));
  CAIRN_TRY(const Program program, reparse(lowered.program));
  // The verifier refuses extents of 0; the interpreter gives them PyTorch's meaning all the same.
  const bool empty = std::any_of(program.tensors().begin(), program.tensors().end(), [](const Tensor& tensor) {
    return tensor.shape && element_count(*tensor.shape) == std::int64_t{0};
  });
  if (!empty) CAIRN_CHECKED(check_program(program, described_target()));
  CAIRN_TRY(const auto given, read_safetensors(inputs_path));
  ValueMap inputs;
  for (const Binding& binding : lowered.inputs) {
    CAIRN_TRY(inputs[binding.leir], value_of_tensor(given.at(binding.graph), inputs_path));
  }
  for (const auto* bindings : {&lowered.parameters, &lowered.constants}) {
    for (const Binding& binding : *bindings) inputs[binding.leir] = values.at(binding.graph);
  }
  CAIRN_TRY(const ValueMap results, interpret(program, inputs));
  std::map<std::string, TensorData> outputs;
  for (std::size_t i = 0; i < lowered.outputs.size(); ++i) {
    CAIRN_TRY(outputs[std::to_string(i)], tensor_of_value(results.at(lowered.outputs[i])));
  }
  for (const auto* bindings : {&lowered.inputs, &lowered.parameters}) {
    for (const Binding& binding : *bindings) {
      if (program.find(binding.leir)->role != Role::io) continue;
      CAIRN_TRY(outputs[binding.graph], tensor_of_value(results.at(binding.leir)));
    }
  }
  return write_safetensors(outputs_path, outputs);
}

int run_lines() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto first = line.find('\t');
    const auto second = line.find('\t', first + 1);
    Json answer;
    try {
      const Result<void> done =
          run_case(line.substr(0, first), line.substr(first + 1, second - first - 1), line.substr(second + 1));
      answer["ok"] = done.ok();
      answer["error"] = done.ok() ? "" : render(done.error());
    } catch (const InternalError& error) {
      answer["ok"] = false;
      answer["error"] = std::string("internal error: ") + error.what();
    }
    fmt::print("{}\n", dump_json(answer));
  }
  return 0;
}

int show(const std::string& path) {
  const Result<Graph> graph = read_graph(path);
  if (!graph) return fmt::print(stderr, "{}\n", render(graph.error())), exit_code(graph.error().code);
  const Result<ValueMap> values = load_graph_values(*graph, dirname_of(path));
  if (!values) return fmt::print(stderr, "{}\n", render(values.error())), exit_code(values.error().code);
  const Result<LoweredGraph> lowered = lower_graph(*graph, *values);
  if (!lowered) return fmt::print(stderr, "{}\n", render(lowered.error())), exit_code(lowered.error().code);
  fmt::print("{}", print_program(lowered->program));
  return 0;
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "run") return cairn::run_lines();
  if (verb == "show" && argc > 2) return cairn::show(argv[2]);
  if (verb == "ops") {
    for (const std::string& name : cairn::supported_ops()) fmt::print("{}\n", name);
    return 0;
  }
  fmt::print(stderr, "usage: graph_batch ops | show GRAPH | run < LINES\n");
  return 2;
}
