// Executing candidates: compile, check, time (verification.md "Executing a kernel").
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/target.h"
#include "base/clock.h"
#include "eval/lane.h"
#include "ir/interp.h"
#include "ir/program.h"
#include "verify/certificate.h"

namespace cairn {

enum class Outcome : std::uint8_t {
  ok, refused, compile, crash, timeout, runtime_check, mismatch, unwritten, out_of_bounds, input_changed,
  nondeterministic, below_floor, host,
};
std::string_view outcome_name(Outcome outcome);
std::optional<Outcome> parse_outcome(std::string_view name);

// Seconds of one call.
struct Timing {
  double median = 0, q25 = 0, q75 = 0;
  double lo = 0, hi = 0;       // 90 % bootstrap interval of the median
  int samples = 0;
};

struct EvalResult {
  Outcome outcome = Outcome::ok;
  std::string reason;
  std::optional<Timing> time;
  double floor_seconds = 0;    // roofline floor of the task
  double compile_seconds = 0, run_seconds = 0;
  double max_ulp = 0, relative_l2 = 0;
  bool from_cache = false;
  Certificate executed;
  bool passed() const { return outcome == Outcome::ok; }
};

// One task: the naive program, whose meaning and cost everything is compared with.
struct EvalTask {
  std::string name;
  Program naive;
  ValueMap fixed_inputs;       // values that are part of the task (params from files), by name
  std::uint64_t seed = 1;
  bool strict = true;          // precision contract
};

// Judges candidates for one task. Thread-compatible: prepare() may run in parallel, measure() one at a time.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // Checks and times one program of the task; never throws for what generated code does.
  virtual EvalResult evaluate(const Program& candidate) = 0;
  // Compiles ahead on a worker; evaluate() then finds it done. Default: nothing.
  virtual void prepare(const Program&) {}
  // Times several programs interleaved (A B A B) in a fresh process.
  virtual std::vector<EvalResult> remeasure(const std::vector<Program>& programs) = 0;
  virtual const Target& target() const = 0;
  virtual std::string device() const = 0;   // fingerprint for journals and memory
  // False if it runs nothing: then what passes has no `executed` certificate.
  virtual bool executes() const { return true; }
};

struct CpuEvalOptions {
  std::string cache_directory;     // empty: no persistent cache
  double compile_seconds = 60, run_seconds = 20;
  std::uint64_t memory_bytes = 8ull << 30;
  int min_samples = 5;
  double sample_seconds = 0.2;     // time spent sampling a candidate in a search
  int threads = 0;                 // 0: target cores
  LaneOptions lane;                // kernels run in a turn of the machine's lane; without a directory at any time
};
// The CPU backend. Refuses with environment if there is no C compiler.
Result<std::unique_ptr<Evaluator>> make_cpu_evaluator(EvalTask task, const Target& target,
                                                      const CpuEvalOptions& options, Clock& clock);

// Evaluator::device() of the CPU that the target describes, with the compiler's version line.
std::string describe_cpu_device(const Target& target, const std::string& compiler);

}  // namespace cairn
