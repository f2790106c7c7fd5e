#include "eval/worker.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/clock.h"
#include "eval/sandbox.h"

namespace cairn {

// Written by the worker, read by the runner after its end.
struct Worker::Shared {
  int signal = 0;
  std::uintptr_t address = 0;
  bool is_write = false;
  int system_call = 0;
  char load_error[400] = {};
  char sandbox[120] = {};
};

namespace {
using Entry = int (*)(void* const*, void*);
struct Command {
  std::int32_t kernel, first, count;
};
struct Reply {
  std::int32_t code;
  double seconds;
};
constexpr int kCommandFd = 3;
constexpr int kReplyFd = 4;
constexpr int kLoadFailed = 97;
constexpr int kForbidden = 98;

// Set in the worker only, for its signal handlers.
void* shared_of_handler = nullptr;

bool faulted_on_write(void* context) {
#if defined(__x86_64__)
  return (static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  (void)context;
  return false;
#endif
}

double read_seconds() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

bool read_whole(int fd, void* data, std::size_t size) {
  auto* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t n = ::read(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

// Bytes of address space in use, so that a limit counts what the kernel adds.
std::uint64_t own_address_space() {
  unsigned long long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%llu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * 4096;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // sanitizers reserve terabytes of addresses
#else
constexpr bool kSanitized = false;
#endif

void limit_worker(std::uint64_t memory_bytes) {
  rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  ::setrlimit(RLIMIT_FSIZE, &none);
  if (memory_bytes > 0 && !kSanitized) {
    rlimit memory{};
    memory.rlim_cur = memory.rlim_max = own_address_space() + memory_bytes;
    ::setrlimit(RLIMIT_AS, &memory);
  }
}
}  // namespace

Worker::Worker(const Job& job, const std::vector<Bank>& banks) : job_(job), banks_(banks) {
  void* page = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int commands[2] = {-1, -1}, replies[2] = {-1, -1};
  if (page == MAP_FAILED || ::pipe2(commands, O_CLOEXEC) != 0 || ::pipe2(replies, O_CLOEXEC) != 0) {
    failure_ = {Outcome::host, fmt::format("cannot set a worker up: {}", std::strerror(errno))};
    return;
  }
  shared_ = new (page) Shared;
  pid_ = ::fork();
  if (pid_ < 0) {
    failure_ = {Outcome::host, fmt::format("cannot fork: {}", std::strerror(errno))};
    return;
  }
  if (pid_ == 0) serve(commands[0], replies[1]);
  ::close(commands[0]);
  ::close(replies[1]);
  command_ = OwnedFd(commands[1]);
  reply_ = OwnedFd(replies[0]);
  Reply hello{};
  failure_ = read_reply(&hello, sizeof hello, 30);
  sandbox_ = shared_->sandbox;
}

Worker::~Worker() {
  end();
  if (shared_ != nullptr) ::munmap(static_cast<void*>(shared_), sizeof(Shared));
}

void Worker::end() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

void Worker::serve(int command_fd, int reply_fd) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Both ends to fixed numbers by way of high ones, so that neither overwrites the other.
  const int command_high = ::fcntl(command_fd, F_DUPFD, 50), reply_high = ::fcntl(reply_fd, F_DUPFD, 50);
  ::dup2(command_high, kCommandFd);
  ::dup2(reply_high, kReplyFd);
  ::syscall(SYS_close_range, 5u, ~0u, 0u);
  shared_of_handler = shared_;

  struct sigaction action {};
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  action.sa_sigaction = [](int number, siginfo_t* info, void* context) {
    auto* shared = static_cast<Shared*>(shared_of_handler);
    if (number == SIGSYS) {
      shared->system_call = info->si_syscall;
      ::_exit(kForbidden);
    }
    shared->signal = number;
    shared->address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    shared->is_write = number == SIGSEGV && faulted_on_write(context);
    ::signal(number, SIG_DFL);  // returning faults again, and ends the process by the signal
  };
  static char alternate[1 << 16];
  stack_t stack{};
  stack.ss_sp = alternate;
  stack.ss_size = sizeof alternate;
  ::sigaltstack(&stack, nullptr);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS}) ::sigaction(number, &action, nullptr);

  std::vector<Entry> entries;
  for (const JobKernel& kernel : job_.kernels) {
    void* object = ::dlopen(kernel.object.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* entry = object == nullptr ? nullptr : ::dlsym(object, kernel.entry.c_str());
    if (entry == nullptr) {
      std::snprintf(shared_->load_error, sizeof shared_->load_error, "%s", ::dlerror());
      ::_exit(kLoadFailed);
    }
    entries.push_back(reinterpret_cast<Entry>(entry));
  }
  std::vector<std::vector<void*>> tensors;
  for (const Bank& bank : banks_) {
    tensors.push_back(bank.pointers());
    bank.protect_inputs(job_.params);
  }
  limit_worker(job_.memory_bytes);
  std::snprintf(shared_->sandbox, sizeof shared_->sandbox, "%s", enter_sandbox(kCommandFd, kReplyFd).c_str());
  Reply reply{};
  (void)!::write(kReplyFd, &reply, sizeof reply);
  Command command{};
  while (read_whole(kCommandFd, &command, sizeof command)) {
    const Entry entry = entries[static_cast<std::size_t>(command.kernel)];
    std::size_t bank = static_cast<std::size_t>(command.first);
    reply.code = 0;
    const double start = read_seconds();
    for (std::int32_t i = 0; i < command.count && reply.code == 0; ++i) {
      reply.code = entry(tensors[bank].data(), banks_[bank].workspace().data);
      if (++bank == tensors.size()) bank = 0;
    }
    reply.seconds = read_seconds() - start;
    (void)!::write(kReplyFd, &reply, sizeof reply);
  }
  ::_exit(0);
}

CallResult Worker::read_reply(void* reply, std::size_t size, double seconds) {
  const double start = system_clock().now();
  for (;;) {
    const double left = start + seconds - system_clock().now();
    pollfd watched{reply_.get(), POLLIN, 0};
    const int ready = left <= 0 ? 0 : ::poll(&watched, 1, static_cast<int>(std::ceil(std::min(left, 3600.0) * 1000)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      end();
      return {Outcome::timeout, fmt::format("no result after {:.3g} s", seconds)};
    }
    if (!read_whole(reply_.get(), reply, size)) return describe_death();
    return {};
  }
}

CallResult Worker::describe_death() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (WIFEXITED(status)) {
    if (WEXITSTATUS(status) == kLoadFailed) return {Outcome::compile, fmt::format("cannot be loaded: {}", shared_->load_error)};
    if (WEXITSTATUS(status) == kForbidden) {
      return {Outcome::crash, fmt::format("made the forbidden system call {}", shared_->system_call)};
    }
    return {Outcome::crash, fmt::format("ended its process with status {}", WEXITSTATUS(status))};
  }
  const int number = WTERMSIG(status);
  if (shared_->signal == number && (number == SIGSEGV || number == SIGBUS)) {
    for (const Bank& bank : banks_) {
      const std::string place = bank.describe_address(shared_->address);
      if (place.empty()) continue;
      if (shared_->is_write && bank.is_input_address(shared_->address, job_.params)) {
        return {Outcome::input_changed, "wrote to " + place + ", an input"};
      }
      return {Outcome::out_of_bounds, (shared_->is_write ? "wrote " : "read ") + place};
    }
    return {Outcome::crash, fmt::format("crashed: {} at address {:#x}", ::strsignal(number), shared_->address)};
  }
  return {Outcome::crash, fmt::format("crashed: {}", ::strsignal(number))};
}

CallResult Worker::call(int kernel, int first, int count) {
  if (failure_.outcome != Outcome::ok) return failure_;
  const Command command{kernel, first, count};
  const double start = system_clock().now();
  if (::write(command_.get(), &command, sizeof command) != static_cast<ssize_t>(sizeof command)) {
    failure_ = describe_death();
    return failure_;
  }
  Reply reply{};
  CallResult result = read_reply(&reply, sizeof reply, job_.call_seconds * count);
  result.outside_seconds = system_clock().now() - start;
  result.seconds = reply.seconds;
  if (result.outcome == Outcome::ok && reply.code != 0) {
    const auto& texts = job_.kernels[static_cast<std::size_t>(kernel)].check_texts;
    const std::size_t index = static_cast<std::size_t>(reply.code) - 1;
    result.outcome = Outcome::runtime_check;
    result.reason = index < texts.size() ? texts[index] : fmt::format("returned {}", reply.code);
    return result;  // the worker lives on
  }
  if (result.outcome != Outcome::ok) failure_ = result;
  return result;
}

}  // namespace cairn
