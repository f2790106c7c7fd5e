#include "cli/import_run.h"

#include <cstdlib>

#include <fmt/core.h>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "ops/lower_graph.h"
#include "ops/params.h"
#include "ops/tensor_data.h"

namespace cairn {

namespace {

// The child's last lines carry the message; "error: " is dropped because main puts its own.
Error error_of_child(const ProcessResult& child, const std::string& file) {
  Error error;
  error.code = child.exit_status == 4 ? Code::environment : child.exit_status == 2 ? Code::usage : Code::parse;
  if (child.timed_out) error.code = Code::timeout;
  std::string message;
  for (const TextLine& text : split_lines(child.err)) {
    std::string line(text.text);
    if (line.rfind("note: ", 0) == 0) {
      error.notes.push_back(line.substr(6));
    } else if (!line.empty()) {
      if (const std::size_t at = line.find("error: "); at != std::string::npos) line.erase(at, 7);
      message += (message.empty() ? "" : "\n  ") + line;
    }
  }
  if (child.timed_out) message = fmt::format("{}: the import took longer than its limit", file);
  if (message.empty()) message = fmt::format("{}: the import ended with {} {}", file, child.signal ? "signal" : "status",
                                             child.signal ? child.signal : child.exit_status);
  error.message = message;
  return error;
}

}  // namespace

Result<std::string> find_python(Session& session) {
  if (const std::string& set = session.settings.value("python"); !set.empty()) return set;
  for (const std::string& base : {std::string("."), join_path(executable_directory(), "..")}) {
    const std::string path = join_path(base, ".venv/bin/python");
    if (file_exists(path)) return path;
  }
  return find_program("python3");
}

std::string python_path() {
  for (const char* relative : {"../python", "../share/cairn/python"}) {
    const std::string path = join_path(executable_directory(), relative);
    if (file_exists(join_path(path, "cairn/__init__.py"))) return path;
  }
  const char* set = std::getenv("PYTHONPATH");
  return set ? set : "";
}

Result<std::string> run_python_import(Session& session, const std::string& file, const std::string& directory) {
  ProcessSpec spec;
  CAIRN_TRY(const std::string python, find_python(session));
  spec.argv = {python, "-m", "cairn.import", file, "--out", directory};
  CAIRN_TRY(const std::uint64_t seed, session.settings.number("seed"));
  spec.argv.insert(spec.argv.end(), {"--seed", std::to_string(seed)});
  spec.extra_env["PYTHONPATH"] = python_path();
  spec.limits.wall_seconds = 600;
  CAIRN_TRY(const ProcessResult child, run_process(spec));
  if (!child.succeeded()) return error_of_child(child, file);
  return join_path(directory, "graph.json");
}

Result<Loaded> load_graph(const std::string& path) {
  CAIRN_TRY(const Graph graph, read_graph(path));
  CAIRN_TRY(const ValueMap by_graph_name, load_graph_values(graph, dirname_of(path)));
  CAIRN_TRY(LoweredGraph lowered, lower_graph(graph, by_graph_name));
  Loaded loaded;
  loaded.name = graph.name;
  loaded.kind = "graph";
  loaded.graph_path = path;
  loaded.program = std::move(lowered.program);
  for (const std::vector<Binding>* bindings : {&lowered.parameters, &lowered.constants}) {
    for (const Binding& b : *bindings) {
      const auto it = by_graph_name.find(b.graph);
      if (it != by_graph_name.end()) loaded.values[b.leir] = it->second;
      loaded.bindings[b.leir] = b.graph;
    }
  }
  for (const Binding& b : lowered.inputs) loaded.bindings[b.leir] = b.graph;
  loaded.outputs = std::move(lowered.outputs);
  return loaded;
}

Result<ValueMap> read_values(const std::string& path) {
  CAIRN_TRY(const auto tensors, read_safetensors(path));
  ValueMap values;
  for (const auto& [name, data] : tensors) {
    CAIRN_TRY(Value value, value_of_tensor(data, path));
    values.emplace(name, std::move(value));
  }
  return values;
}

Result<void> write_values(const std::string& path, const ValueMap& values) {
  std::map<std::string, TensorData> tensors;
  for (const auto& [name, value] : values) {
    CAIRN_TRY(TensorData data, tensor_of_value(value));
    tensors.emplace(name, std::move(data));
  }
  return write_safetensors(path, tensors);
}

}  // namespace cairn
