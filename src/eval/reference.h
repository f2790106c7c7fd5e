// References of a task: computed once by compiled references in child processes, kept for all candidates.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "eval/compare.h"
#include "eval/compile.h"
#include "eval/evaluator.h"
#include "eval/job.h"
#include "verify/families.h"

namespace cairn {

// One set of inputs and what the outputs should be.
struct CheckSet {
  std::string name;                      // family, or "one element of A changed"
  std::string inputs_path;               // inputs in C's layout, concatenated in params order
  Digest inputs;                         // of these bytes
  std::vector<OutputReference> outputs;  // in params order; empty for a perturbed set
  std::vector<Reaction> reactions;       // perturbed sets: one an output, against the first set
};

struct ReferenceOptions {
  // Operations of one f64 run times families: more add no family. Counted and not timed: what a kernel is judged by must
  // not depend on how busy the machine is.
  double operations = 6e8;
  double call_seconds = 120;
  int threads = 1;
  std::vector<int> cpus;
  std::string cache_directory;   // what took a second or longer is kept there; empty: nothing is
  double worth_keeping = 1;      // seconds
  std::vector<Family> families = {Family::normal, Family::one_hot, Family::nonfinite, Family::outliers,
                                  Family::small_integers, Family::cancellation, Family::magnitude, Family::zeros,
                                  Family::uniform, Family::constant_rows, Family::denormals};
};
using InputMaker = std::function<ValueMap(const Program&, Family, std::uint64_t)>;

class References {
 public:
  // Compiles the naive program twice, runs it on every family that its cost allows (normal, one_hot and nonfinite
  // always) and on one changed element of each input, or reads what an earlier run kept. Refuses when the task itself
  // is broken: a reference that cannot be built, crashes or takes too long.
  static Result<std::unique_ptr<References>> create(const EvalTask& task, const Compiler& compiler,
                                                    const InputMaker& make, const ReferenceOptions& options);
  const std::vector<CheckSet>& sets() const { return sets_; }
  const std::vector<JobParam>& params() const { return params_; }
  const std::string& directory() const { return scratch_.path(); }
  // Names of the families in use, joined by spaces.
  std::string families() const;
  bool from_cache() const { return from_cache_; }

 private:
  References(ScratchDir scratch) : scratch_(std::move(scratch)) {}
  ScratchDir scratch_;
  std::vector<JobParam> params_;
  std::vector<CheckSet> sets_;
  bool from_cache_ = false;
  friend class ReferenceBuilder;
};

// The outside of a program as job parameters, in declaration order, in C's layout.
std::vector<JobParam> job_params(const Program& program);

}  // namespace cairn
