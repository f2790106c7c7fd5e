#include "search/simulated.h"

#include <cmath>

#include "analysis/cost.h"
#include "ir/canon.h"
#include "base/rng.h"

namespace cairn {

SimulatedEvaluator::SimulatedEvaluator(Program naive, Target target, SimulatedOptions options, FakeClock& clock)
    : naive_(canonical_hash(naive)), target_(std::move(target)), options_(options), clock_(clock) {}

EvalResult SimulatedEvaluator::evaluate(const Program& candidate) {
  ++evaluations_;
  clock_.advance(options_.seconds_per_evaluation);
  const Digest hash = canonical_hash(candidate);
  Rng rng = Rng(options_.seed).split(hash.lo).split(hash.hi);
  EvalResult result;
  result.run_seconds = options_.seconds_per_evaluation;
  if (!(hash == naive_) && rng.uniform() < options_.failure_rate) {
    result.outcome = Outcome::mismatch;
    result.reason = "simulated mismatch";
    return result;
  }
  Timing time;
  time.median = predict_cost(candidate, target_).seconds * std::exp(options_.noise * rng.normal());
  time.q25 = time.median * (1 - options_.noise / 2);
  time.q75 = time.median * (1 + options_.noise / 2);
  time.lo = time.q25;
  time.hi = time.q75;
  time.samples = 9;
  result.time = time;
  result.executed.rung = Rung::executed;
  result.executed.reason = "the device is simulated: nothing was run";
  return result;
}

std::vector<EvalResult> SimulatedEvaluator::remeasure(const std::vector<Program>& programs) {
  std::vector<EvalResult> results;
  for (const Program& p : programs) results.push_back(evaluate(p));
  return results;
}

}  // namespace cairn
