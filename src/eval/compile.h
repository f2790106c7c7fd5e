// Building shared objects with the host's C compiler, in a child with limits, cached by content.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace cairn {

// A built object.
struct CompiledObject {
  std::string path;
  std::string key;         // digest of source, flags and compiler: its name in the cache
  double seconds = 0;      // 0 if it was there
  std::vector<std::string> warnings;
};

// Finds the compiler ($CAIRN_CC, else cc) and keeps objects under `directory`, or in a scratch directory of its
// own if that is empty. Safe from several threads and processes.
class Compiler {
 public:
  // Refuses with environment if there is no working compiler.
  static Result<std::unique_ptr<Compiler>> create(const std::string& directory, double seconds);
  // Code::compile with the compiler's first error if it refuses the source.
  Result<CompiledObject> build(const std::string& source, const std::vector<std::string>& flags) const;
  // First line of `cc --version`; enters every key.
  const std::string& version() const { return version_; }
  const std::string& program() const { return program_; }

 private:
  Compiler() = default;
  std::string program_;
  std::string version_;
  std::string directory_;
  double seconds_ = 60;
  std::unique_ptr<ScratchDir> scratch_;
};

}  // namespace cairn
