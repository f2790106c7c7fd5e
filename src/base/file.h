// Files: whole reads, atomic writes (temporary name, fsync, rename), append-only logs, scratch directories.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace cairn {

// The io error of a failed call: "cannot ACTION PATH: reason".
Error errno_error(std::string_view action, const std::string& path, int error_number);
// The whole file; refuses directories and what cannot be read.
Result<std::string> read_file(const std::string& path);
// Writes to a temporary name beside path, fsyncs and renames; on failure path is as it was. A link's target is
// replaced, not the link; an existing file keeps its permissions; devices and pipes are written in place.
Result<void> write_file_atomic(const std::string& path, std::string_view bytes);
bool file_exists(const std::string& path);
bool is_directory(const std::string& path);
Result<void> make_directories(const std::string& path);
// Names of the entries of a directory, sorted.
Result<std::vector<std::string>> list_directory(const std::string& path);
// Directory part ("." if none), last component, and joined paths.
std::string dirname_of(const std::string& path);
std::string basename_of(const std::string& path);
std::string join_path(const std::string& a, const std::string& b);

// Removes a file or a directory tree; what cannot be removed stays.
void remove_tree(const std::string& path);

// A fresh directory under $TMPDIR, removed with its content on destruction. A lock on it lets the next
// create() remove what killed processes left behind.
class ScratchDir {
 public:
  static Result<ScratchDir> create(const std::string& prefix = "cairn");
  ScratchDir(ScratchDir&&) noexcept;
  ScratchDir& operator=(ScratchDir&&) noexcept;
  ~ScratchDir();
  const std::string& path() const { return path_; }

 private:
  ScratchDir(std::string path, OwnedFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  OwnedFd lock_;
};

// Append-only line log: each append is one write(2) of a whole line, optionally fsynced.
class AppendLog {
 public:
  static Result<AppendLog> open(const std::string& path);
  // Appends line + '\n'; refuses on a short write (disk full) after cutting the torn tail off.
  Result<void> append(std::string_view line, bool sync);

 private:
  explicit AppendLog(OwnedFd fd) : fd_(std::move(fd)) {}
  OwnedFd fd_;
};

}  // namespace cairn
