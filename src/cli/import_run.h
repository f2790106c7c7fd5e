// Importing: python's torch.export in a child, and graph.json to a program.
#pragma once
#include <string>

#include "cli/load.h"

namespace cairn {

// Runs `python -m cairn.import FILE --out DIRECTORY`; returns the path of graph.json. Errors of the child
// come back as they are, without stack traces.
Result<std::string> run_python_import(Session& session, const std::string& file, const std::string& directory);
// Where the cairn package for Python lies, or the inherited PYTHONPATH.
std::string python_path();
// Reads graph.json, emits LEIR, loads or generates the values of its parameters.
Result<Loaded> load_graph(const std::string& path);

}  // namespace cairn
