#include "base/lock.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>

#include "base/file.h"

namespace cairn {

Result<std::optional<FileLock>> FileLock::try_take(const std::string& path) { return try_open(path, O_RDONLY); }
Result<std::optional<FileLock>> FileLock::try_make(const std::string& path) { return try_open(path, O_RDONLY | O_CREAT); }

Result<std::optional<FileLock>> FileLock::try_open(const std::string& path, int flags) {
  OwnedFd fd = open_retry(path, flags, 0644);
  if (!fd.held()) return errno_error("open", path, errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return std::optional<FileLock>(FileLock(std::move(fd)));
  if (errno == EWOULDBLOCK) return std::optional<FileLock>();
  return errno_error("lock", path, errno);
}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  FileLock old(std::move(other));
  std::swap(fd_, old.fd_);
  return *this;
}
FileLock::~FileLock() {
  if (fd_.held()) ::flock(fd_.get(), LOCK_UN);   // a child that is being started may have the descriptor too
}

}  // namespace cairn
