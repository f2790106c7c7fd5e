// Strategies and the arguments of their actions. The table itself, strategies.def, is known to registry.cpp alone, so that
// a new line there compiles nothing else again; `extern const Strategy strategy_NAME` is defined in NAME.cpp.
#pragma once
#include "strategy/strategy.h"

namespace cairn {

// Puts the arguments into the strategy's parameter order, fills defaults, checks names and forms.
Result<Args> check_args(const Strategy& strategy, const Args& args);

}  // namespace cairn
