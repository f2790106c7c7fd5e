#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

namespace cairn {

namespace {
constexpr std::time_t kStaleSeconds = 60;

// Removes directories of this prefix whose owner is gone: nobody holds the lock and they are not brand new.
void remove_stale(const std::string& parent, const std::string& prefix) {
  DIR* directory = ::opendir(parent.c_str());
  if (directory == nullptr) return;
  const std::string start = prefix + "-";
  while (const dirent* entry = ::readdir(directory)) {
    const std::string name = entry->d_name;
    if (name.compare(0, start.size(), start) != 0 || name.size() != start.size() + 6) continue;
    const std::string path = join_path(parent, name);
    const OwnedFd fd = open_retry(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!fd.held()) continue;
    struct stat info {};
    const bool ours = ::fstat(fd.get(), &info) == 0 && info.st_uid == ::geteuid() &&
                      info.st_mtime + kStaleSeconds < std::time(nullptr);
    if (ours && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) remove_tree(path);
  }
  ::closedir(directory);
}
}  // namespace

void remove_tree(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return;
  if (!S_ISDIR(info.st_mode)) {
    ::unlink(path.c_str());
    return;
  }
  ::chmod(path.c_str(), 0700);  // a child may have taken our rights away
  if (DIR* directory = ::opendir(path.c_str())) {
    while (const dirent* entry = ::readdir(directory)) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") remove_tree(join_path(path, name));
    }
    ::closedir(directory);
  }
  ::rmdir(path.c_str());
}

Result<ScratchDir> ScratchDir::create(const std::string& prefix) {
  const char* variable = std::getenv("TMPDIR");
  const std::string parent = variable != nullptr && *variable != '\0' ? variable : "/tmp";
  remove_stale(parent, prefix);
  std::string path = join_path(parent, prefix + "-XXXXXX");
  if (::mkdtemp(path.data()) == nullptr) return errno_error("make a scratch directory in", parent, errno);
  OwnedFd lock = open_retry(path, O_RDONLY | O_DIRECTORY);
  if (lock.held()) ::flock(lock.get(), LOCK_SH | LOCK_NB);
  return ScratchDir(std::move(path), std::move(lock));
}

ScratchDir::ScratchDir(ScratchDir&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
ScratchDir& ScratchDir::operator=(ScratchDir&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  return *this;
}
ScratchDir::~ScratchDir() {
  if (!path_.empty()) remove_tree(path_);
}

}  // namespace cairn
