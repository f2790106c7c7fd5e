// Pairs of accesses between which order matters, and memoised questions about them.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/dependence.h"

namespace cairn {

// Loops enclosing the statement at a path (the statement itself not counted).
std::size_t enclosing_loops(const Program& program, const StmtPath& path);
// Equal relations for the first `depth` loops, which both accesses share.
std::vector<PairRelation> equal_prefix(const Access& a, const Access& b, std::size_t depth);

// Conflicts within or between lists of accesses: same tensor, at least one write. Accesses with the same
// place, subscripts and conditions (X on both sides of a self-update) share their answers.
class PairFinder {
 public:
  struct Pair {
    std::size_t first = 0, second = 0;   // indices of the accesses
  };
  explicit PairFinder(const std::vector<Access>& accesses);

  // All ordered pairs (first executes earlier in the question asked), a write with itself included.
  std::vector<Pair> pairs() const;
  // Ordered pairs with the first from [begin_a, end_a) and the second from [begin_b, end_b).
  std::vector<Pair> pairs_between(std::size_t begin_a, std::size_t end_a, std::size_t begin_b,
                                  std::size_t end_b) const;
  // Both belong to self-updates by one operator.
  bool is_reduction(const Pair& pair) const;
  // may_touch of the pair; `relations` must be the same function of the pair's loops for all pairs until
  // forget() is called.
  Answer touch(const Pair& pair, const std::vector<PairRelation>& relations);
  void forget() { answers_.clear(); }
  const Access& at(std::size_t index) const { return accesses_[index]; }

 private:
  const std::vector<Access>& accesses_;
  std::vector<std::size_t> representative_;
  std::vector<std::optional<UpdateOp>> updates_;
  std::map<std::pair<std::size_t, std::size_t>, Answer> answers_;
};

}  // namespace cairn
