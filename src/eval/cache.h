// Results kept by content: one small file each, written atomically, shared by processes.
#pragma once
#include <optional>
#include <string>

#include "eval/evaluator.h"

namespace cairn {

class ResultCache {
 public:
  // Keeps results under directory/results; with an empty directory nothing is kept.
  explicit ResultCache(std::string directory) : directory_(std::move(directory)) {}
  // The result stored under a key; a damaged file counts as absent.
  std::optional<EvalResult> find(const std::string& key) const;
  // Stores outcomes that the key determines: not those of time limits or of the host. A full disk is no error.
  void store(const std::string& key, const EvalResult& result) const;

 private:
  std::string path_of(const std::string& key) const;
  std::string directory_;
};

std::string print_result(const EvalResult& result);
Result<EvalResult> parse_result(const std::string& text);

}  // namespace cairn
