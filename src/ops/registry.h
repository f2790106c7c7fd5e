// The table of operators: aten name -> emitter.
#pragma once
#include <string_view>

#include "ops/call.h"

namespace cairn {

// The row of an operator, or null.
const OpEntry* find_op(std::string_view name);

}  // namespace cairn
