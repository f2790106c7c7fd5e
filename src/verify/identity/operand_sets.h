// Sets of the operands of a max or a min: values share the log of the longest (identity rung, internal).
#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/hash.h"

namespace cairn::identity {

class OperandSets {
 public:
  // A prefix of a log; logs count from 1.
  struct Set {
    std::uint32_t log = 0, length = 0;
  };
  bool is_min(std::uint32_t log) const { return logs_[log - 1].is_min; }
  // The union of two operands, each a set of the same kind or (null) one value.
  Set join(bool is_min, const Set* a, std::uint64_t value_a, const Set* b, std::uint64_t value_b) {
    if (a == nullptr && b != nullptr) return join(is_min, b, value_b, a, value_a);
    if (a != nullptr && b != nullptr && b->length > a->length) std::swap(a, b);
    Set out;
    if (a != nullptr) {
      out = *a;
    } else {
      logs_.push_back({is_min, {}, {}});
      out.log = static_cast<std::uint32_t>(logs_.size());
      insert(&out, value_a);
    }
    if (b == nullptr) {
      insert(&out, value_b);
    } else if (b->log != out.log) {   // of one log the longer prefix holds the shorter
      for (std::uint32_t i = 0; i < b->length; ++i) insert(&out, logs_[b->log - 1].items[i]);
    }
    return out;
  }
  // Depends on the members alone.
  std::uint64_t hash(const Set& set, std::uint64_t key) const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < set.length; ++i) sum += mix64(logs_[set.log - 1].items[i] ^ key);
    return sum;
  }
  std::size_t largest() const {
    std::size_t n = 0;
    for (const Log& log : logs_) n = std::max(n, log.items.size());
    return n;
  }

 private:
  struct Log {
    bool is_min = false;
    std::vector<std::uint64_t> items;
    std::unordered_map<std::uint64_t, std::uint32_t> place;
  };
  void insert(Set* set, std::uint64_t item) {
    const auto found = logs_[set->log - 1].place.find(item);
    if (found != logs_[set->log - 1].place.end() && found->second < set->length) return;
    if (set->length != logs_[set->log - 1].items.size()) {  // somebody else grew it
      const Log& log = logs_[set->log - 1];
      Log copy{log.is_min, {log.items.begin(), log.items.begin() + set->length}, {}};
      for (std::uint32_t i = 0; i < set->length; ++i) copy.place.emplace(copy.items[i], i);
      logs_.push_back(std::move(copy));
      set->log = static_cast<std::uint32_t>(logs_.size());
    }
    logs_[set->log - 1].place.emplace(item, set->length);
    logs_[set->log - 1].items.push_back(item);
    ++set->length;
  }

  std::vector<Log> logs_;
};

}  // namespace cairn::identity
