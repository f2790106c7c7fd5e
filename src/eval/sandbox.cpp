#include "eval/sandbox.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace cairn {

namespace {
#if defined(__x86_64__)
constexpr unsigned kArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kArch = AUDIT_ARCH_AARCH64;
#else
constexpr unsigned kArch = 0;
#endif

// Assembles a classic BPF program over struct seccomp_data.
class Filter {
 public:
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<unsigned>(offset)); }
  void answer(unsigned action) { add(BPF_RET | BPF_K, 0, 0, action); }
  void skip_if_equal(unsigned value, unsigned char count) { add(BPF_JMP | BPF_JEQ | BPF_K, count, 0, value); }
  // Skips the next `count` instructions unless the loaded word equals (has a bit of) value.
  void unless_equal(unsigned value, unsigned char count) { add(BPF_JMP | BPF_JEQ | BPF_K, 0, count, value); }
  void unless_set(unsigned bits, unsigned char count) { add(BPF_JMP | BPF_JSET | BPF_K, 0, count, bits); }
  void allow(long number) {
    unless_equal(static_cast<unsigned>(number), 1);
    answer(SECCOMP_RET_ALLOW);
  }
  static std::size_t argument(int index) {
    return offsetof(seccomp_data, args) + static_cast<std::size_t>(index) * 8;  // low word, little endian
  }
  std::vector<sock_filter> code;

 private:
  void add(int op, unsigned char yes, unsigned char no, unsigned k) {
    code.push_back({static_cast<unsigned short>(op), yes, no, k});
  }
};

std::vector<sock_filter> make_filter(int command_fd, int reply_fd) {
  Filter f;
  f.load(offsetof(seccomp_data, arch));
  f.skip_if_equal(kArch, 1);
  f.answer(SECCOMP_RET_KILL_PROCESS);
  f.load(offsetof(seccomp_data, nr));
  // Memory, but none that can be run.
  for (const long call : {SYS_mmap, SYS_mprotect}) {
    f.unless_equal(static_cast<unsigned>(call), 4);
    f.load(Filter::argument(2));
    f.unless_set(PROT_EXEC, 1);
    f.answer(SECCOMP_RET_TRAP);
    f.answer(SECCOMP_RET_ALLOW);
  }
  // Threads, but no processes.
  f.unless_equal(static_cast<unsigned>(SYS_clone), 4);
  f.load(Filter::argument(0));
  f.unless_set(CLONE_THREAD, 1);
  f.answer(SECCOMP_RET_ALLOW);
  f.answer(SECCOMP_RET_TRAP);
  f.unless_equal(static_cast<unsigned>(SYS_clone3), 1);
  f.answer(SECCOMP_RET_ERRNO | ENOSYS);  // its flags lie in memory: the library falls back to clone
  // Talk with the supervisor, and messages on stderr.
  f.unless_equal(static_cast<unsigned>(SYS_read), 4);
  f.load(Filter::argument(0));
  f.unless_equal(static_cast<unsigned>(command_fd), 1);
  f.answer(SECCOMP_RET_ALLOW);
  f.answer(SECCOMP_RET_TRAP);
  f.unless_equal(static_cast<unsigned>(SYS_write), 6);
  f.load(Filter::argument(0));
  f.unless_equal(static_cast<unsigned>(reply_fd), 1);
  f.answer(SECCOMP_RET_ALLOW);
  f.unless_equal(2, 1);
  f.answer(SECCOMP_RET_ALLOW);
  f.answer(SECCOMP_RET_TRAP);
  for (const long call : {SYS_futex, SYS_munmap, SYS_mremap, SYS_madvise, SYS_brk, SYS_set_robust_list, SYS_rseq,
                          SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_setaffinity, SYS_gettid, SYS_getpid,
                          SYS_exit, SYS_exit_group, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn,
                          SYS_sigaltstack, SYS_clock_gettime, SYS_clock_nanosleep, SYS_getrandom, SYS_tgkill,
                          SYS_restart_syscall, SYS_membarrier, SYS_getcpu, SYS_prlimit64}) {
    f.allow(call);
  }
  f.answer(SECCOMP_RET_TRAP);
  return f.code;
}
}  // namespace

std::string enter_sandbox(int command_fd, int reply_fd) {
  if (kArch == 0) return "none: no filter for this processor";
  std::vector<sock_filter> code = make_filter(command_fd, reply_fd);
  sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    return std::string("none: ") + std::strerror(errno);
  }
  return "seccomp";
}

}  // namespace cairn
