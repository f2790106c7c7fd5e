// What commands over several program files share: one answer a file, the worst exit code of all.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "cli/load.h"

namespace cairn {

// The answer for one file; `text` is what a run without --json prints.
using ProgramWork = std::function<Result<Json>(const std::string& file, std::string* text)>;

// Calls fn for each file. An error becomes an answer {"file","ok":false,"error"} with --json, else a message
// on stderr; the exit code is the worst one.
Result<int> for_each_program(Session& session, const std::vector<std::string>& files,
                             const ProgramWork& fn);

}  // namespace cairn
