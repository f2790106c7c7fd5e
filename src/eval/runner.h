// The runner: this program, started again with a hidden first argument, supervising kernels for the evaluator.
//
// Any program that links the evaluator is its own runner: a hook that the loader calls before main() looks for
// the hidden argument (runner_hook.cpp), so main() needs to know nothing. `PROGRAM --cairn-runner JOB` reads the
// job file, forks workers that run the kernels (worker.h), and writes the answer the job names.
#pragma once
#include <map>

#include "base/clock.h"
#include "base/result.h"
#include "eval/job.h"

namespace cairn {

inline constexpr const char* kRunnerArgument = "--cairn-runner";

// What the runner does; 0 unless the answer could not be written.
int runner_main(const char* job_path);

// How runs of one job are limited and where they run.
struct RunnerOptions {
  double wall_seconds = 120;   // the whole job
  std::vector<int> cpus;       // pinned to; empty: anywhere
  int threads = 1;             // OMP_NUM_THREADS
  std::map<std::string, std::string> environment;  // besides
};
// Starts a runner on the job, waits for its end and reads its answer. Whatever a kernel did is in the answer;
// refuses if there is no runner, on a full disk, or when interrupted.
Result<JobAnswer> run_job(const Job& job, const std::string& directory, const RunnerOptions& options);

// Reads a job, runs it, without files for the answer (inside the runner).
JobAnswer execute_job(const Job& job);
JobAnswer check_kernel(const Job& job);
JobAnswer time_kernels(const Job& job);

// A whole file mapped for reading, private to the process.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path, std::size_t expected_bytes);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();
  const unsigned char* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  MappedFile(const unsigned char* data, std::size_t size) : data_(data), size_(size) {}
  const unsigned char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace cairn
