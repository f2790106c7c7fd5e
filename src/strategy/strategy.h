// A strategy is a value: strings, parameters and two functions (architecture.md "A strategy is a value").
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/target.h"
#include "ir/program.h"
#include "strategy/args.h"
#include "verify/certificate.h"

namespace cairn {

enum class Level : std::uint8_t { graph, op, memory, math, gpu };
// HTAM's global nodes.
enum class Direction : std::uint8_t {
  fusion, algebra, memory_access, data_reuse, parallelism, throughput, precision, launch,
};
std::string_view level_name(Level level);
std::string_view direction_name(Direction direction);

// What one application gives.
struct Step {
  Program after;
  Exactness exactness = Exactness::exact;
  bool same_instances = true;              // `legal` may be claimed
  std::vector<std::string> proved;         // numbered legality conditions that analysis proved
  std::vector<SideCondition> recorded;     // algebraic side conditions
  std::optional<Action> inverse;
  // Names the step invented, in the order its page documents: loop variables (lower case) and tensors.
  std::vector<std::string> created;
};

struct Strategy {
  std::string_view name;
  Level level;
  Direction direction;
  Exactness weakest;
  std::string_view summary;
  std::vector<Param> params;
  std::vector<Args> (*sites)(const Program&, const Target&);            // deterministic order, all of them
  Result<Step> (*apply)(const Program&, const Target&, const Args&);    // pure; refuses with a located reason
};

// All strategies in the order of strategies.def.
const std::vector<const Strategy*>& all_strategies();
const Strategy* find_strategy(std::string_view name);

// Checks the arguments, applies, and verifies the result. A result that does not verify is refused with the
// note "verify after: rule N" (strategies.md: every row is legal "besides verify after"); when the program
// was not well formed to begin with, that refusal is given instead.
Result<Step> apply_action(const Program& program, const Target& target, const Action& action);
// Evidence for certify(): replays the action and compares the canonical hash.
ActionEvidence evidence_of(const Program& before, const Target& target, const Action& action, const Step& step);

}  // namespace cairn
