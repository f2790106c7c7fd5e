// The process in which kernels run: forked by the runner, limited, watched; whatever happens in it is a value.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/fd.h"
#include "eval/bank.h"
#include "eval/job.h"

namespace cairn {

// How one command to a worker ended.
struct CallResult {
  Outcome outcome = Outcome::ok;
  std::string reason;
  double seconds = 0;          // as the worker's clock saw the calls together
  double outside_seconds = 0;  // as we saw command and reply
};

class Worker {
 public:
  // Forks, loads the job's objects and enters the sandbox; failure() says what went wrong.
  Worker(const Job& job, const std::vector<Bank>& banks);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  const CallResult& failure() const { return failure_; }
  const std::string& sandbox() const { return sandbox_; }
  // Calls a kernel once on each of `count` banks from `first` on (modulo their number).
  CallResult call(int kernel, int first, int count);

 private:
  struct Shared;
  [[noreturn]] void serve(int command_fd, int reply_fd);
  CallResult read_reply(void* reply, std::size_t size, double seconds);
  CallResult describe_death();
  void end();

  const Job& job_;
  const std::vector<Bank>& banks_;
  Shared* shared_ = nullptr;
  pid_t pid_ = -1;
  OwnedFd command_, reply_;
  CallResult failure_;
  std::string sandbox_;
};

}  // namespace cairn
