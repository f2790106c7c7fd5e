// What the evaluator asks of a runner process and what it answers: plain data, as JSON files in a scratch
// directory (docs: evaluation.md).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "eval/evaluator.h"

namespace cairn {

// A shared object and its entry, `int entry(void *const *tensors, void *workspace)`.
struct JobKernel {
  std::string object;
  std::string entry;
  std::int64_t workspace_bytes = 0;
  std::vector<std::string> check_texts;  // of the run-time checks, by return value - 1
};

// A tensor argument. Inputs are in, param, const and io; outputs are io and out.
struct JobParam {
  std::string name;
  Role role = Role::in;
  std::int64_t bytes = 0;
  std::int64_t element_bytes = 1;
  bool is_input() const { return role != Role::out; }
  bool is_output() const { return role == Role::io || role == Role::out; }
};

struct Job {
  enum class Mode : std::uint8_t { reference, check, time };
  Mode mode = Mode::check;
  std::vector<JobKernel> kernels;        // check: exactly one
  std::vector<JobParam> params;          // the same for all kernels
  std::vector<std::string> sets;         // files: the inputs' bytes, concatenated in params order
  std::vector<std::string> results;      // files to write, one a set: the outputs' bytes (not in time mode)
  std::string answer;                    // file to write: a JobAnswer
  double call_seconds = 20;              // one call may take this long
  std::uint64_t memory_bytes = 0;        // beyond what the process needs itself; 0: no limit
  int min_samples = 5;
  double sample_seconds = 0.2;
  std::uint64_t seed = 1;
};

// What came out. Everything about a kernel that breaks is a value here.
struct JobAnswer {
  Outcome outcome = Outcome::ok;
  std::string reason;
  int kernel = 0;                              // the one that failed
  std::vector<std::vector<double>> samples;    // time mode: seconds of one call, by kernel
  std::string sandbox;                         // what held the kernel: "seccomp", or "none" with the reason
};

std::string print_job(const Job& job);
Result<Job> parse_job(const std::string& text);
std::string print_answer(const JobAnswer& answer);
Result<JobAnswer> parse_answer(const std::string& text);

}  // namespace cairn
