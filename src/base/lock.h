// A lock between processes.
#pragma once
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace cairn {

// Held on an existing file or directory by one process at a time; it ends with the process, however that ends.
class FileLock {
 public:
  // Empty if another process, or this one by another lock, holds it.
  static Result<std::optional<FileLock>> try_take(const std::string& path);
  // The same on a file that is made if it is not there; it stays when the lock ends.
  static Result<std::optional<FileLock>> try_make(const std::string& path);
  FileLock(FileLock&&) noexcept = default;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  static Result<std::optional<FileLock>> try_open(const std::string& path, int flags);
  explicit FileLock(OwnedFd fd) : fd_(std::move(fd)) {}
  OwnedFd fd_;
};

}  // namespace cairn
