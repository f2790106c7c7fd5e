#include "base/lock.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"

namespace cairn {

Result<std::optional<FileLock>> FileLock::try_take(const std::string& path) { return try_open(path, O_RDONLY); }
Result<std::optional<FileLock>> FileLock::try_make(const std::string& path) { return try_open(path, O_RDONLY | O_CREAT); }

Result<std::optional<FileLock>> FileLock::try_open(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  if (fd < 0) return errno_error("open", path, errno);
  FileLock lock(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return std::optional<FileLock>(std::move(lock));
  if (errno == EWOULDBLOCK) return std::optional<FileLock>();
  return errno_error("lock", path, errno);
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}
FileLock::~FileLock() {
  if (fd_ < 0) return;
  ::flock(fd_, LOCK_UN);   // a child that is being started may have the descriptor too
  ::close(fd_);
}

}  // namespace cairn
