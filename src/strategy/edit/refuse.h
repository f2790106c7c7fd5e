// Refusals of strategies: located, and marked with the numbered legality condition that fails.
#pragma once
#include <string>
#include <string_view>

#include "ir/program.h"
#include "strategy/strategy.h"

namespace cairn {

// An illegal step: the message, and the note "legality condition (N)".
Error refuse(const Program& program, SourcePos pos, int condition, std::string message);
// Marks an error of analysis with the condition that asked for it.
Error refuse_because(Error reason, int condition, std::string_view prefix = {});
// An action that names a place of the wrong form: Code::no_site.
Error no_site(const Program& program, SourcePos pos, std::string message);
// "(1)", "(2)", ... for Step::proved.
std::vector<std::string> conditions_up_to(int count);

}  // namespace cairn
