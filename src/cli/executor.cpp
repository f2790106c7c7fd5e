#include "cli/executor.h"

#include <fmt/core.h>

#include "base/file.h"
#include "ir/canon.h"
#include "search/simulated.h"

namespace cairn {

std::string cache_directory_of(const Session& session) {
  const std::string& cache = session.settings.value("cache");
  return cache.empty() ? cache_directory() : cache;
}

bool canonical_hash_equal(const Program& a, const Program& b) { return canonical_hash(a) == canonical_hash(b); }

namespace {

Result<std::unique_ptr<Evaluator>> make_cpu_task(Session& session, const Loaded& loaded, const Target& target, CpuEvalOptions options) {
  EvalTask task;
  task.name = loaded.name;
  task.naive = loaded.program;
  task.fixed_inputs = loaded.values;
  CAIRN_TRY(task.seed, session.settings.number("seed"));
  if (options.cache_directory.empty()) options.cache_directory = cache_directory_of(session);
  // Of all searches on this machine, whatever cache they use.
  options.lane.directory = join_path(cache_directory(), "lanes");
  options.lane.on_wait = [&session](double seconds) { session.show_wait(seconds); };
  options.lane.on_note = [&session](const std::string& note) { session.note_once(note); };
  return make_cpu_evaluator(std::move(task), target, options, session.clock);
}

}  // namespace

Result<std::unique_ptr<Evaluator>> make_task_evaluator(Session& session, const Loaded& loaded, const Target& target, const CpuEvalOptions& options) {
  if (session.simulated) {
    SimulatedOptions simulated;
    CAIRN_TRY(simulated.seed, session.settings.number("seed"));
    return std::unique_ptr<Evaluator>(new SimulatedEvaluator(loaded.program, target, simulated, session.simulated_clock));
  }
  const Setting& device = session.settings.get("device");
  if (device.value == "cpu") return make_cpu_task(session, loaded, target, options);
  return Error{Code::usage, fmt::format("unknown device '{}' (from {})", device.value, device.source), {}, {"known: cpu simulated"}};
}

std::function<Certificate(const Program&, const Program&, Exactness)> make_executor(Session& session, const Target& target) {
  return [&session, target](const Program& before, const Program& after, Exactness) {
    Loaded loaded;
    loaded.name = "verify";
    loaded.program = before;
    Certificate failed;
    failed.rung = Rung::executed;
    auto evaluator = make_cpu_task(session, loaded, target, {});
    if (!evaluator.ok()) {
      failed.reason = evaluator.error().message;
      return failed;
    }
    const EvalResult result = evaluator.value()->evaluate(after);
    if (result.passed()) return result.executed;
    failed.reason = std::string(outcome_name(result.outcome)) + ": " + result.reason;
    return failed;
  };
}

}  // namespace cairn
