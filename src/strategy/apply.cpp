#include <fmt/core.h>

#include <utility>

#include "ir/canon.h"
#include "strategy/registry.h"
#include "verify/verify.h"

namespace cairn {

Result<Step> apply_action(const Program& program, const Target& target, const Action& action) {
  const Strategy* strategy = find_strategy(action.strategy);
  if (!strategy) return Error{Code::usage, fmt::format("there is no strategy {}", action.strategy), {}, {}};
  CAIRN_TRY(const Args args, check_args(*strategy, action.args));
  CAIRN_TRY(Step step, strategy->apply(program, target, args));
  const VerifyReport report = verify_program(step.after, target);
  const Finding* refusal = report.first_refusal();
  if (!refusal) return step;
  CAIRN_CHECKED(check_program(program, target));
  Error error = refusal->error;
  error.code = Code::illegal;
  error.message = fmt::format("after {} the program would not verify: {}", strategy->name, error.message);
  error.notes.push_back(fmt::format("verify after: rule {}", refusal->rule));
  return error;
}

ActionEvidence evidence_of(const Program& before, const Target& target, const Action& action, const Step& step) {
  ActionEvidence evidence;
  evidence.action = print_action(action);
  evidence.same_instances = step.same_instances;
  evidence.proved = step.proved;
  evidence.conditions = step.recorded;
  const Strategy* strategy = find_strategy(action.strategy);
  if (!strategy) return evidence;
  const Result<Args> args = check_args(*strategy, action.args);
  if (!args) return evidence;
  const Result<Step> again = strategy->apply(before, target, *args);
  evidence.replayed = again.ok() && canonical_hash(again->after) == canonical_hash(step.after);
  return evidence;
}

}  // namespace cairn
