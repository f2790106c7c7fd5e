#include "base/fd.h"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace cairn {

void OwnedFd::reset() {
  if (fd_ >= 0) ::close(release());
}

OwnedFd open_retry(const std::string& path, int flags, unsigned mode) {
  for (;;) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EINTR) return OwnedFd(fd);
  }
}

}  // namespace cairn
