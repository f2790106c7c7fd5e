// The strategies of strategies.def as objects; `strategy_NAME` is defined in NAME.cpp.
#pragma once
#include "strategy/strategy.h"

namespace cairn {

#define CAIRN_STRATEGY(name) extern const Strategy strategy_##name;
#include "strategy/strategies.def"
#undef CAIRN_STRATEGY

// Puts the arguments into the strategy's parameter order, fills defaults, checks names and forms.
Result<Args> check_args(const Strategy& strategy, const Args& args);

}  // namespace cairn
