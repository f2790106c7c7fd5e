#include "strategy/registry.h"

#include "strategy/strategy.h"

namespace cairn {

#define CAIRN_STRATEGY(name) extern const Strategy strategy_##name;
#include "strategy/strategies.def"
#undef CAIRN_STRATEGY

std::string_view level_name(Level level) {
  switch (level) {
    case Level::graph: return "graph";
    case Level::op: return "op";
    case Level::memory: return "memory";
    case Level::math: return "math";
    case Level::gpu: return "gpu";
  }
  return "op";
}

std::string_view direction_name(Direction direction) {
  switch (direction) {
    case Direction::fusion: return "fusion";
    case Direction::algebra: return "algebra";
    case Direction::memory_access: return "memory_access";
    case Direction::data_reuse: return "data_reuse";
    case Direction::parallelism: return "parallelism";
    case Direction::throughput: return "throughput";
    case Direction::precision: return "precision";
    case Direction::launch: return "launch";
  }
  return "fusion";
}

const std::vector<const Strategy*>& all_strategies() {
  static const std::vector<const Strategy*> kAll = {
#define CAIRN_STRATEGY(name) &strategy_##name,
#include "strategy/strategies.def"
#undef CAIRN_STRATEGY
  };
  return kAll;
}

const Strategy* find_strategy(std::string_view name) {
  for (const Strategy* strategy : all_strategies()) {
    if (strategy->name == name) return strategy;
  }
  return nullptr;
}

}  // namespace cairn
