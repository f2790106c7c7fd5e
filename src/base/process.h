// Child processes with limits; a crash, a hang or too much output of the child is a value, not our failure.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace cairn {

// What a child may use; 0 means "no limit".
struct ProcessLimits {
  double wall_seconds = 60;
  double cpu_seconds = 0;
  std::uint64_t memory_bytes = 0;   // address space
  std::uint64_t output_bytes = 16u << 20;  // of stdout and stderr each
  std::uint64_t file_bytes = 0;     // largest file the child may write
};

struct ProcessSpec {
  std::vector<std::string> argv;     // argv[0] is looked up on PATH
  std::string directory;             // working directory; empty = ours
  std::string stdin_bytes;
  std::map<std::string, std::string> extra_env;
  bool clean_env = false;            // only PATH, HOME, TMPDIR, LANG and extra_env
  bool no_new_network = false;       // best effort: unshare the network namespace
  std::vector<int> pin_cpus;         // sched_setaffinity of the child; empty = inherit
  ProcessLimits limits;
};

struct ProcessResult {
  int exit_status = 0;       // exit code if it exited
  int signal = 0;            // signal that ended it, or 0
  bool timed_out = false;
  bool output_truncated = false;
  std::string out;
  std::string err;
  double wall_seconds = 0;
  bool succeeded() const { return exit_status == 0 && signal == 0 && !timed_out; }
};

// Runs a child to its end (or limits); refuses only if it cannot be started or we are interrupted.
// The child is in its own process group, and the whole group is killed at a limit.
Result<ProcessResult> run_process(const ProcessSpec& spec);
// Full path of a program on PATH, or environment error naming it.
Result<std::string> find_program(const std::string& name);

}  // namespace cairn
