// Judges built kernels of one task: the gates of verification.md "Executing a kernel", in order.
#pragma once
#include <string>
#include <vector>

#include "eval/compile.h"
#include "eval/reference.h"
#include "lower/c.h"

namespace cairn {

struct JudgeOptions {
  double call_seconds = 20;
  std::uint64_t memory_bytes = 8ull << 30;
  int min_samples = 5;
  double sample_seconds = 0.2;
  int threads = 1;
  std::vector<int> cpus;
};

// A kernel that was built and may be loaded.
struct BuiltKernel {
  JobKernel job;
  CompiledObject object;
  std::vector<std::string> flags;
};

class Judge {
 public:
  Judge(const References& references, const Compiler& compiler, std::uint64_t seed) :
      references_(references), compiler_(compiler), seed_(seed) {}

  // Compiles a source and reads what the object asks for; on failure the result's outcome is compile or refused.
  std::optional<BuiltKernel> build(const CSource& source, const std::vector<std::string>& flags, EvalResult* result) const;
  // Correctness on every set of the task. Error only when interrupted or when the host fails.
  Result<void> check(const BuiltKernel& kernel, const JudgeOptions& options, EvalResult* result) const;
  // Times kernels interleaved in one fresh process; results in the same order. A kernel that fails is marked and
  // the others are timed without it.
  Result<void> time(const std::vector<const BuiltKernel*>& kernels, const JudgeOptions& options,
                    const std::vector<EvalResult*>& results) const;

 private:
  std::string compare_set(std::size_t index, const std::vector<std::string>& files, ErrorReport* report) const;
  const References& references_;
  const Compiler& compiler_;
  std::uint64_t seed_;
};

// CPUs this process may use, ascending.
std::vector<int> allowed_cpus();

}  // namespace cairn
