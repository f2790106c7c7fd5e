#include "base/process.h"

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/interrupt.h"

extern char** environ;

namespace cairn {

namespace {
struct Pipe {
  OwnedFd read, write;
};
Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error("make", "a pipe", errno);
  return Pipe{OwnedFd(ends[0]), OwnedFd(ends[1])};
}

// The child's stdin: what it reads lies in memory, so that nobody has to feed a pipe.
Result<OwnedFd> make_stdin(const std::string& bytes) {
  if (bytes.empty()) {
    OwnedFd null = open_retry("/dev/null", O_RDONLY);
    if (!null.held()) return errno_error("open", "/dev/null", errno);
    return null;
  }
  OwnedFd memory(::memfd_create("stdin", MFD_CLOEXEC));
  if (memory.get() < 0) return errno_error("make", "a memory file", errno);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(memory.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno != EINTR) return errno_error("write", "a memory file", errno);
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  ::lseek(memory.get(), 0, SEEK_SET);
  return memory;
}

std::vector<std::string> make_environment(const ProcessSpec& spec) {
  std::map<std::string, std::string> variables;
  if (spec.clean_env) {
    for (const char* name : {"PATH", "HOME", "TMPDIR", "LANG"}) {
      if (const char* value = std::getenv(name)) variables[name] = value;
    }
  } else {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text = *entry;
      const std::size_t at = text.find('=');
      if (at != std::string::npos) variables[text.substr(0, at)] = text.substr(at + 1);
    }
  }
  for (const auto& [name, value] : spec.extra_env) variables[name] = value;
  std::vector<std::string> entries;
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Everything the child needs between fork and exec, made before: there it may only make system calls.
struct Launch {
  const char* path;
  char* const* argv;
  char* const* envp;
  const char* directory;  // null: ours
  int in, out, err, failure;
  bool no_network;
  bool pin;
  cpu_set_t cpus;
  struct {
    int resource;
    rlimit limit;
  } limits[5];
  std::size_t limit_count;
};

[[noreturn]] void start_child(const Launch& launch) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(launch.in, 0);
  ::dup2(launch.out, 1);
  ::dup2(launch.err, 2);
  // Descriptors that a library of ours opened without the flag must not leak.
  ::syscall(SYS_close_range, 3u, ~0u, static_cast<unsigned>(CLOSE_RANGE_CLOEXEC));
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  if (launch.no_network) ::unshare(CLONE_NEWUSER | CLONE_NEWNET);
  bool ready = launch.directory == nullptr || ::chdir(launch.directory) == 0;
  if (launch.pin) ::sched_setaffinity(0, sizeof launch.cpus, &launch.cpus);
  for (std::size_t i = 0; i < launch.limit_count && ready; ++i) {
    ready = ::setrlimit(static_cast<__rlimit_resource_t>(launch.limits[i].resource), &launch.limits[i].limit) == 0;
  }
  if (ready) ::execve(launch.path, launch.argv, launch.envp);
  const int failure = errno;
  (void)!::write(launch.failure, &failure, sizeof failure);
  ::_exit(127);
}

void add_limit(Launch& launch, int resource, std::uint64_t value) {
  rlimit limit{};
  limit.rlim_cur = limit.rlim_max = value;
  launch.limits[launch.limit_count++] = {resource, limit};
}

void set_limits(Launch& launch, const ProcessLimits& limits) {
  add_limit(launch, RLIMIT_CORE, 0);
  if (limits.cpu_seconds > 0) add_limit(launch, RLIMIT_CPU, static_cast<std::uint64_t>(std::ceil(limits.cpu_seconds)));
  if (limits.memory_bytes > 0) add_limit(launch, RLIMIT_AS, limits.memory_bytes);
  if (limits.file_bytes > 0) add_limit(launch, RLIMIT_FSIZE, limits.file_bytes);
}

// One output stream of the child.
struct Stream {
  OwnedFd fd;
  std::string* text;
};

// Reads what is there; false at the end of the stream.
bool drain(Stream& stream, std::uint64_t limit, bool* truncated) {
  char buffer[1 << 14];
  for (;;) {
    const ssize_t n = ::read(stream.fd.get(), buffer, sizeof buffer);
    if (n < 0) return errno == EINTR || errno == EAGAIN;
    if (n == 0) return false;
    std::uint64_t room = static_cast<std::uint64_t>(n);
    if (limit > 0) room = std::min<std::uint64_t>(room, limit - std::min<std::uint64_t>(limit, stream.text->size()));
    stream.text->append(buffer, static_cast<std::size_t>(room));
    if (room < static_cast<std::uint64_t>(n)) {
      *truncated = true;
      return true;
    }
  }
}

// Waits until nobody holds the streams' other ends: a process that the signal finds inside a system call finishes it first,
// and until then a file of its may appear where the caller cleans up. Who left the group is not waited for long.
void await_closed(Stream (&streams)[2]) {
  constexpr double kSeconds = 1;
  const double deadline = system_clock().now() + kSeconds;
  for (Stream& stream : streams) {
    char rest[1 << 12];
    for (double left = kSeconds; left > 0; left = deadline - system_clock().now()) {
      const ssize_t n = ::read(stream.fd.get(), rest, sizeof rest);
      if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) break;
      if (n > 0 || errno == EINTR) continue;
      pollfd watched{stream.fd.get(), POLLIN, 0};
      (void)::poll(&watched, 1, static_cast<int>(std::ceil(left * 1000)));
    }
  }
}

// A child that has been started; whatever happens, its whole group is killed and it is reaped at the end.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid), watch_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { reap(); }
  int watch_fd() const { return watch_.get(); }
  // True once the leader has ended; it stays a zombie, so its group id cannot be reused.
  bool ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
  }
  void kill_group() const { ::kill(-pid_, SIGKILL); }
  int reap() {
    if (pid_ <= 0) return status_;
    kill_group();
    while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status_;
  }

 private:
  pid_t pid_;
  OwnedFd watch_;
  int status_ = 0;
};

// Follows the child to its end or a limit.
Result<void> follow(Child& child, Stream (&streams)[2], const ProcessLimits& limits, double deadline,
                    ProcessResult& result) {
  constexpr double kTick = 0.1;  // how late an interrupt may be seen
  const double tick = child.watch_fd() >= 0 ? kTick : 0.01;
  bool open[2] = {true, true};
  for (;;) {
    if (interrupted() != 0) return Error{Code::interrupted, "interrupted", {}, {}};
    const double left = limits.wall_seconds > 0 ? deadline - system_clock().now() : tick;
    if (left <= 0) {
      result.timed_out = true;
      return {};
    }
    pollfd watched[3] = {{open[0] ? streams[0].fd.get() : -1, POLLIN, 0},
                         {open[1] ? streams[1].fd.get() : -1, POLLIN, 0},
                         {child.watch_fd(), POLLIN, 0}};
    (void)::poll(watched, 3, static_cast<int>(std::ceil(std::min(left, tick) * 1000)));
    const bool over = child.ended();  // before the last reads, so that none of its output is missed
    for (int i = 0; i < 2; ++i) {
      if (open[i]) open[i] = drain(streams[i], limits.output_bytes, &result.output_truncated);
    }
    if (over || result.output_truncated) return {};
  }
}
}  // namespace

Result<std::string> find_program(const std::string& name) {
  const auto executable = [](const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && ::access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) {
    if (executable(name)) return name;
    return Error{Code::environment, fmt::format("{} is no program that can be run", name), {}, {}};
  }
  const char* variable = std::getenv("PATH");
  const std::string path = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t end = std::min(path.find(':', start), path.size());
    const std::string candidate = join_path(end == start ? "." : path.substr(start, end - start), name);
    if (!name.empty() && executable(candidate)) return candidate;
    start = end + 1;
  }
  return Error{Code::environment, fmt::format("program {} is not on PATH", name), {}, {}};
}

Result<ProcessResult> run_process(const ProcessSpec& spec) {
  if (spec.argv.empty()) return Error{Code::usage, "no program to run", {}, {}};
  if (interrupted() != 0) return Error{Code::interrupted, "interrupted", {}, {}};
  CAIRN_TRY(const std::string path, find_program(spec.argv[0]));
  std::vector<std::string> arguments = spec.argv;
  std::vector<std::string> variables = make_environment(spec);
  const std::vector<char*> argv = pointers_to(arguments);
  const std::vector<char*> envp = pointers_to(variables);
  CAIRN_TRY(OwnedFd in, make_stdin(spec.stdin_bytes));
  CAIRN_TRY(Pipe out, make_pipe());
  CAIRN_TRY(Pipe err, make_pipe());
  CAIRN_TRY(Pipe failure, make_pipe());
  Launch launch{};
  launch.path = path.c_str();
  launch.argv = argv.data();
  launch.envp = envp.data();
  launch.directory = spec.directory.empty() ? nullptr : spec.directory.c_str();
  launch.in = in.get();
  launch.out = out.write.get();
  launch.err = err.write.get();
  launch.failure = failure.write.get();
  launch.no_network = spec.no_new_network;
  launch.pin = !spec.pin_cpus.empty();
  for (const int cpu : spec.pin_cpus) CPU_SET(static_cast<std::size_t>(cpu), &launch.cpus);
  set_limits(launch, spec.limits);

  const double start = system_clock().now();
  const pid_t pid = ::fork();
  if (pid < 0) return Error{Code::environment, fmt::format("cannot start {}: {}", path, std::strerror(errno)), {}, {}};
  if (pid == 0) start_child(launch);
  ::setpgid(pid, pid);  // both sides set it: whoever is first
  Child child(pid);
  out.write.reset();
  err.write.reset();
  failure.write.reset();
  int code = 0;
  ssize_t n = 0;
  do {
    n = ::read(failure.read.get(), &code, sizeof code);
  } while (n < 0 && errno == EINTR);
  if (n == static_cast<ssize_t>(sizeof code)) {
    return Error{Code::environment, fmt::format("cannot start {}: {}", path, std::strerror(code)), {}, {}};
  }
  ProcessResult result;
  Stream streams[2] = {{std::move(out.read), &result.out}, {std::move(err.read), &result.err}};
  for (Stream& stream : streams) ::fcntl(stream.fd.get(), F_SETFL, O_NONBLOCK);
  const Result<void> followed = follow(child, streams, spec.limits, start + spec.limits.wall_seconds, result);
  const double ended = system_clock().now();
  const int status = child.reap();
  await_closed(streams);
  if (!followed.ok()) return followed.error();
  result.wall_seconds = ended - start;
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  else result.exit_status = WEXITSTATUS(status);
  return result;
}

}  // namespace cairn
