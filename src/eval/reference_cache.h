// References kept by content: what the outputs of a task should be does not change between runs.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "eval/compare.h"

namespace cairn {

// A check set without its inputs, which are made again and must have this digest.
struct StoredSet {
  std::string name;
  Digest inputs;
  std::vector<OutputReference> outputs;
  std::vector<Reaction> reactions;
};

// One file a task, written atomically, shared by processes. Beyond `max_bytes` in all, those that were not used for the
// longest time go.
class ReferenceCache {
 public:
  // Keeps files under directory/references; with an empty directory nothing is kept.
  explicit ReferenceCache(std::string directory, std::uint64_t max_bytes = std::uint64_t{1} << 30);
  // What is stored under a key; a damaged file counts as absent.
  std::optional<std::vector<StoredSet>> find(const std::string& key) const;
  // A full disk is no error, and what alone is larger than a quarter of the limit is not kept.
  void store(const std::string& key, const std::vector<StoredSet>& sets) const;

 private:
  void evict(const std::string& keep) const;
  std::string directory_;
  std::uint64_t max_bytes_;
};

// Bytes with a digest at the end; parse refuses anything else.
std::string print_sets(const std::vector<StoredSet>& sets);
std::optional<std::vector<StoredSet>> parse_sets(const std::string& bytes);

}  // namespace cairn
