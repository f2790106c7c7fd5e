// Wiring of evaluators: the `executed` rung of certificates, and the evaluator of a task.
#pragma once
#include <functional>
#include <memory>

#include "cli/load.h"
#include "eval/evaluator.h"
#include "verify/certificate.h"

namespace cairn {

// Runs `after` on this machine through the gate, with `before` as the naive program of the task; never on a simulated device.
std::function<Certificate(const Program&, const Program&, Exactness)> make_executor(Session& session, const Target& target);
// The evaluator of --device for a loaded program, a CPU with these options (without a cache directory: the session's); refuses
// an unknown device.
Result<std::unique_ptr<Evaluator>> make_task_evaluator(Session& session, const Loaded& loaded, const Target& target, const CpuEvalOptions& options = {});
// Where results, objects and references are kept: --cache, else the user's.
std::string cache_directory_of(const Session& session);
bool canonical_hash_equal(const Program& a, const Program& b);

}  // namespace cairn
