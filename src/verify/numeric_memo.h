// What the numeric rungs of one trace share: the program after a step is the program before the next one, on the same
// inputs (verify, internal).
#pragma once
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>

#include "base/hash.h"
#include "verify/families.h"

namespace cairn {

// Inputs and plain runs by content, the least recently used dropped. What it answers is what would have been computed.
// One thread at a time.
class NumericMemo {
 public:
  using Values = std::shared_ptr<const Result<ValueMap>>;
  explicit NumericMemo(std::size_t max_bytes = std::size_t{512} << 20) : max_bytes_(max_bytes) {}

  // Inputs of a family for the wanted elements (null: all), and the key under which runs on them are kept.
  struct Inputs {
    Digest key;
    Values values;
  };
  Inputs inputs(const Program& program, Family family, std::uint64_t seed, const Slice* slice);
  // interpret() in the program's own dtypes, rounding to nearest; `text` is the digest of the printed program.
  Values run(const Program& program, const Digest& text, const Inputs& inputs, const InterpOptions& options);

  // Sizes of samples (0 the full one) whose slices needed more instances than a limit: those of the next step will too.
  void note_too_large(int sample, std::uint64_t limit);
  bool is_too_large(int sample, std::uint64_t limit) const;

 private:
  struct Entry {
    Digest key;
    std::size_t bytes = 0;
    Values values;
  };
  Values keep(const Digest& key, const std::function<Result<ValueMap>()>& make);
  std::list<Entry> entries_;   // the last used first
  std::size_t bytes_ = 0, max_bytes_;
  std::map<int, std::uint64_t> too_large_;
};

}  // namespace cairn
