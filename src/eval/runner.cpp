#include "eval/runner.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/process.h"

namespace cairn {

extern const int kRunnerHookLinked;

Result<MappedFile> MappedFile::open(const std::string& path, std::size_t expected_bytes) {
  const OwnedFd fd = open_retry(path, O_RDONLY);
  if (!fd.held()) return errno_error("read", path, errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || static_cast<std::size_t>(info.st_size) != expected_bytes) {
    return Error{Code::io, fmt::format("{} has {} bytes, expected {}", path, info.st_size, expected_bytes), {}, {}};
  }
  if (expected_bytes == 0) return MappedFile(nullptr, 0);
  void* data = ::mmap(nullptr, expected_bytes, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) return errno_error("map", path, errno);
  return MappedFile(static_cast<const unsigned char*>(data), expected_bytes);
}
MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<unsigned char*>(data_), size_);
}

JobAnswer execute_job(const Job& job) {
  if (job.kernels.empty()) return {Outcome::host, "a job without kernels", 0, {}, {}};
  return job.mode == Job::Mode::time ? time_kernels(job) : check_kernel(job);
}

int runner_main(const char* job_path) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);  // the evaluator decides when we end
  const auto text = read_file(job_path);
  if (!text.ok()) return 2;
  const auto job = parse_job(*text);
  if (!job.ok()) return 2;
  JobAnswer answer;
  try {
    answer = execute_job(*job);
  } catch (const std::exception& e) {  // out of memory in the runner itself
    answer = {Outcome::host, fmt::format("the runner failed: {}", e.what()), 0, {}, {}};
  }
  return write_file_atomic(job->answer, print_answer(answer)).ok() ? 0 : 3;
}

namespace {
constexpr const char* kInsideRunner = "CAIRN_INSIDE_RUNNER";

std::string last_line(const std::string& text) {
  std::string trimmed = text.substr(0, text.find_last_not_of(" \n\r\t") + 1);
  if (const auto at = trimmed.rfind('\n'); at != std::string::npos) trimmed = trimmed.substr(at + 1);
  return trimmed.substr(0, 200);
}
}  // namespace

Result<JobAnswer> run_job(const Job& job, const std::string& directory, const RunnerOptions& options) {
  const std::string job_path = join_path(directory, "job.json");
  // A program whose hook does not work would start itself without end.
  if (kRunnerHookLinked != 1 || std::getenv(kInsideRunner) != nullptr) {
    return Error{Code::environment, "a runner cannot start runners", {}, {}};
  }
  CAIRN_CHECKED(write_file_atomic(job_path, print_job(job)));
  ::unlink(job.answer.c_str());
  ProcessSpec spec;
  spec.argv = {"/proc/self/exe", kRunnerArgument, job_path};
  spec.directory = directory;
  spec.clean_env = true;
  const std::string threads = std::to_string(options.threads);
  spec.extra_env = {{"OMP_NUM_THREADS", threads}, {"OMP_DYNAMIC", "false"}, {"OMP_PROC_BIND", "true"},
                    {"OMP_THREAD_LIMIT", threads}, {kInsideRunner, "1"}, {"TMPDIR", directory}, {"HOME", directory}};
  spec.extra_env.insert(options.environment.begin(), options.environment.end());
  spec.pin_cpus = options.cpus;
  spec.limits.wall_seconds = options.wall_seconds;
  spec.limits.output_bytes = 64 << 10;
  CAIRN_TRY(const ProcessResult ran, run_process(spec));
  JobAnswer answer;
  if (ran.output_truncated) {
    answer = {Outcome::crash, "printed more than 64 KiB", 0, {}, {}};
    return answer;
  }
  if (ran.timed_out) {
    answer = {Outcome::timeout, fmt::format("no result after {:.3g} s", options.wall_seconds), 0, {}, {}};
    return answer;
  }
  if (!file_exists(job.answer)) {
    return Error{Code::environment,
                 fmt::format("the runner ended with {} {} and no answer: {}", ran.signal != 0 ? "signal" : "status",
                             ran.signal != 0 ? ran.signal : ran.exit_status, last_line(ran.err)), {}, {}};
  }
  CAIRN_TRY(const std::string text, read_file(job.answer));
  CAIRN_TRY(answer, parse_answer(text));
  if (answer.outcome == Outcome::crash && !ran.err.empty()) answer.reason += ": " + last_line(ran.err);
  return answer;
}

}  // namespace cairn
