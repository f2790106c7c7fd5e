// An owned file descriptor.
#pragma once
#include <string>
#include <utility>

namespace cairn {

// Closes its descriptor, if it has one, when it ends.
class OwnedFd {
 public:
  explicit OwnedFd(int fd = -1) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(other.release()) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = other.release();
    }
    return *this;
  }
  ~OwnedFd() { reset(); }
  bool held() const { return fd_ >= 0; }
  int get() const { return fd_; }
  // The descriptor, for the caller to close.
  int release() { return std::exchange(fd_, -1); }
  // Closes it now.
  void reset();

 private:
  int fd_;
};

// open(2) with O_CLOEXEC, again where a signal came first; holds none, with errno set, where that fails.
OwnedFd open_retry(const std::string& path, int flags, unsigned mode = 0);

}  // namespace cairn
