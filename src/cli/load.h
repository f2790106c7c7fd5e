// Loading programs and targets that a command names.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "analysis/target.h"
#include "cli/command.h"
#include "ir/interp.h"
#include "ir/program.h"
#include "ir/text.h"

namespace cairn {

// A program and what came with it.
struct Loaded {
  std::string name;        // file name without directory and extension
  std::string kind;        // "leir", "graph", "torch"
  Program program;
  ValueMap values;         // param and const values that files or generators give
  std::string graph_path;  // graph.json for graph and torch
  std::map<std::string, std::string> bindings;  // program's tensor -> the graph's, for graph and torch
  std::vector<std::string> outputs;             // program's outputs in the order the module returns them
};

// .leir (or - for stdin), graph.json, .py: parsed, not verified. A .py is imported through the configured
// python into `work_directory` (a scratch directory if empty). `reading` is how a LEIR text's promises are read.
Result<Loaded> load_program(Session& session, const std::string& path, const std::string& work_directory = {},
                            Reading reading = Reading::automatic);
// Refuses a path that is missing or a directory, as a usage error.
Result<void> expect_file(const std::string& path);
// A file that the command's words name, whole (- for stdin); a missing file or a directory is a usage error.
Result<std::string> read_input(const std::string& path);
// The same, refused unless it verifies.
Result<Loaded> load_verified(Session& session, const std::string& path, const std::string& work_directory = {});

// The target of --target: host, described or a JSON file.
Result<Target> load_target(Session& session);
// Threads for work on many programs: --jobs, 0 meaning one a core.
Result<unsigned> worker_count(Session& session, const Target& target);
// The python that imports modules: setting, .venv beside the program or working directory, python3.
Result<std::string> find_python(Session& session);
// The directory this program lies in; "." if the system does not say.
std::string executable_directory();
// A C identifier made of a program's name: "mm-2" -> "mm_2", "2d" -> "cairn_2d".
std::string c_function_name(const std::string& name);
// Values from and to .safetensors.
Result<ValueMap> read_values(const std::string& path);
// The same of a file that the command's words name: a missing one is a usage error.
Result<ValueMap> read_value_file(const std::string& path);
Result<void> write_values(const std::string& path, const ValueMap& values);

}  // namespace cairn
