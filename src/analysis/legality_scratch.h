// Scratch tensors: temporaries whose every read sees a write of its own iteration, so that reordering
// iterations can not change what is read.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/access.h"

namespace cairn {

// Decides, tensor by tensor and only when asked, whether a temporary is scratch of the bodies (or statements)
// at `scopes`: each read below a scope is covered by an earlier write below the same scope and in the same
// iteration of all loops around both; each other read of the program is covered likewise by a write that the
// scopes do not separate from it. Sufficient, not necessary: boxes are compared.
class ScratchTensors {
 public:
  ScratchTensors(const Program& program, std::vector<StmtPath> scopes)
      : program_(program), scopes_(std::move(scopes)) {}
  bool is_scratch(const std::string& tensor);

 private:
  bool decide(const std::string& tensor);
  bool covers(const Access& write, const Access& read) const;

  const Program& program_;
  std::vector<StmtPath> scopes_;
  std::optional<std::vector<Access>> accesses_;
  std::map<std::string, bool> known_;
};

}  // namespace cairn
