// A simulated device: times are the cost model's, with seeded noise and failures; nothing is compiled. Used by
// tests of searches and of the memory, and by `--device simulated`: deterministic to the byte.
#pragma once
#include <functional>

#include "eval/evaluator.h"

namespace cairn {

// Its fingerprint.
inline constexpr const char* kSimulatedDevice = "simulated";

struct SimulatedOptions {
  std::uint64_t seed = 1;
  double noise = 0.02;          // relative, log-normal, a function of the program's hash
  double failure_rate = 0;      // of candidates (not of the naive program)
  double seconds_per_evaluation = 0.5;  // advances the clock
};

// Evaluates with predict_cost; `clock` advances by seconds_per_evaluation each time.
class SimulatedEvaluator : public Evaluator {
 public:
  SimulatedEvaluator(Program naive, Target target, SimulatedOptions options, FakeClock& clock);
  EvalResult evaluate(const Program& candidate) override;
  std::vector<EvalResult> remeasure(const std::vector<Program>& programs) override;
  const Target& target() const override { return target_; }
  std::string device() const override { return kSimulatedDevice; }
  bool executes() const override { return false; }
  std::uint64_t evaluations() const { return evaluations_; }

 private:
  Digest naive_;
  Target target_;
  SimulatedOptions options_;
  FakeClock& clock_;
  std::uint64_t evaluations_ = 0;
};

}  // namespace cairn
