#include "base/file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cairn {

namespace {
// Writes everything; 0 or the errno of the failing write.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return ENOSPC;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

int sync_fd(int fd) {
  while (::fsync(fd) != 0) {
    if (errno == EINVAL || errno == EROFS) return 0;  // pipes and devices have nothing to sync
    if (errno != EINTR) return errno;
  }
  return 0;
}

// Makes a rename durable; a directory that cannot be synced is not an error of the write.
void sync_directory(const std::string& path) {
  const OwnedFd fd = open_retry(path, O_RDONLY | O_DIRECTORY);
  if (fd.held()) (void)sync_fd(fd.get());
}
}  // namespace

Error errno_error(std::string_view action, const std::string& path, int error_number) {
  Error error{Code::io, fmt::format("cannot {} {}: {}", action, path, std::strerror(error_number)), {}, {}};
  if (error_number == ENOSPC || error_number == EDQUOT) error.notes.push_back("free some space and run again");
  return error;
}

Result<std::string> read_file(const std::string& path) {
  const OwnedFd fd = open_retry(path, O_RDONLY);
  if (!fd.held()) return errno_error("read", path, errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return errno_error("read", path, errno);
  if (S_ISDIR(info.st_mode)) return errno_error("read", path, EISDIR);
  std::string bytes;
  if (S_ISREG(info.st_mode)) bytes.reserve(static_cast<std::size_t>(info.st_size) + 1);
  constexpr std::size_t kChunk = 1u << 16;
  for (;;) {
    const std::size_t size = bytes.size();
    const std::size_t want = std::max(kChunk, bytes.capacity() - size);
    bytes.resize(size + want);
    const ssize_t n = ::read(fd.get(), bytes.data() + size, want);
    bytes.resize(size + static_cast<std::size_t>(n > 0 ? n : 0));
    if (n == 0) return bytes;
    if (n < 0 && errno != EINTR) return errno_error("read", path, errno);
  }
}

namespace {
// Devices and pipes cannot be replaced by a rename, and must not be: their bytes are written where they go.
Result<void> write_special(const std::string& path, std::string_view bytes) {
  OwnedFd fd = open_retry(path, O_WRONLY);
  if (!fd.held()) return errno_error("write", path, errno);
  int failure = write_all(fd.get(), bytes);
  if (::close(fd.release()) != 0 && failure == 0 && errno != EINTR) failure = errno;
  if (failure != 0) return errno_error("write", path, failure);
  return {};
}
}  // namespace

Result<void> write_file_atomic(const std::string& given, std::string_view bytes) {
  static std::atomic<unsigned> counter{0};
  struct stat info {};
  const bool exists = ::stat(given.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return errno_error("write", given, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) return write_special(given, bytes);
  std::string path = given;  // of the file itself, where the name is a link to it
  if (exists) {
    if (char* real = ::realpath(given.c_str(), nullptr)) {
      path = real;
      std::free(real);
    }
  }
  const std::string temporary = fmt::format("{}.tmp.{}.{}", path, ::getpid(), counter++);
  OwnedFd fd = open_retry(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (!fd.held()) return errno_error("write", given, errno);
  if (exists) (void)::fchmod(fd.get(), info.st_mode & 07777);  // a rewritten file keeps its permissions
  int failure = write_all(fd.get(), bytes);
  if (failure == 0) failure = sync_fd(fd.get());
  if (::close(fd.release()) != 0 && failure == 0 && errno != EINTR) failure = errno;
  if (failure == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) failure = errno;
  if (failure != 0) {
    ::unlink(temporary.c_str());
    return errno_error("write", given, failure);
  }
  sync_directory(dirname_of(path));
  return {};
}

bool is_directory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool file_exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

Result<void> make_directories(const std::string& path) {
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (!part.empty() && ::mkdir(part.c_str(), 0777) != 0) {
      const int failure = errno;
      struct stat info {};
      if (::stat(part.c_str(), &info) != 0) return errno_error("make directory", part, failure);
      if (!S_ISDIR(info.st_mode)) return errno_error("make directory", part, ENOTDIR);
    }
    if (at == std::string::npos) return {};
  }
}

Result<std::vector<std::string>> list_directory(const std::string& path) {
  std::error_code failure;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator at(path, failure), end; !failure && at != end; at.increment(failure)) {
    names.push_back(at->path().filename().string());
  }
  if (failure) return errno_error("list directory", path, failure.value());
  std::sort(names.begin(), names.end());
  return names;
}

std::string dirname_of(const std::string& path) {
  const std::size_t at = path.rfind('/');
  if (at == std::string::npos) return ".";
  return at == 0 ? "/" : path.substr(0, at);
}

std::string basename_of(const std::string& path) {
  const std::size_t at = path.rfind('/');
  return at == std::string::npos ? path : path.substr(at + 1);
}

std::string join_path(const std::string& a, const std::string& b) {
  if (a.empty() || (!b.empty() && b[0] == '/')) return b;
  return a.back() == '/' ? a + b : a + "/" + b;
}

Result<AppendLog> AppendLog::open(const std::string& path) {
  OwnedFd fd = open_retry(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (!fd.held()) return errno_error("open", path, errno);
  return AppendLog(std::move(fd));
}

Result<void> AppendLog::append(std::string_view line, bool sync) {
  const std::string whole = std::string(line) + '\n';
  struct stat info {};
  if (::fstat(fd_.get(), &info) != 0) return errno_error("append to", "the log", errno);
  ssize_t n = 0;
  do {
    n = ::write(fd_.get(), whole.data(), whole.size());
  } while (n < 0 && errno == EINTR);
  if (n != static_cast<ssize_t>(whole.size())) {
    const int failure = n < 0 ? errno : ENOSPC;
    if (n > 0) (void)!::ftruncate(fd_.get(), info.st_size);
    return errno_error("append to", "the log", failure);
  }
  if (sync) {
    if (const int failure = sync_fd(fd_.get()); failure != 0) return errno_error("sync", "the log", failure);
  }
  return {};
}

}  // namespace cairn
