// Which strategies undo or commute with which: measured on workloads, shipped as data, used by search to prune.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "strategy/workloads.h"

namespace cairn {

// What was seen when two moves that both apply to one program were made in either order.
enum class Commutes : std::uint8_t { untested, never, sometimes, always };

// The table over all strategies. Rows of strategies that the text does not name are untested.
class PairTable {
 public:
  // The table of pairs.inc.
  static const PairTable& shipped();
  // Refuses a text of another shape, naming the line.
  static Result<PairTable> parse(std::string_view text);
  std::string print() const;

  // Symmetric. `always`: the two orders gave the same canonical hash in each of at least kFewestTrials trials.
  Commutes commutes(std::string_view a, std::string_view b) const;
  // True if some step of `second` brought back the program that `first` was applied to, in at least half of first's steps.
  bool undoes(std::string_view first, std::string_view second) const;

  static constexpr int kFewestTrials = 4;

 private:
  friend class PairDeriver;
  struct Undo {
    std::string first, second;
    int undone = 0, steps = 0;
  };
  std::size_t index_of(std::string_view name) const;
  std::vector<std::string> names_;
  std::vector<std::vector<Commutes>> commutes_;
  std::vector<Undo> undo_;
};

// The states that the shipped table is derived on, and its seed: a third of the common ones and all prepared ones.
std::vector<WorkloadState> sample_states(const std::vector<WorkloadState>& states);
inline constexpr std::uint64_t kPairSeed = 1;
// Derives the table: in each of `states` a random site a strategy, all pairs of these in both orders, and (in small
// programs) a sample of the sites of every strategy after each of them. Deterministic in the seed, whatever the number of jobs.
PairTable derive_pairs(const std::vector<WorkloadState>& states, const Target& target, std::uint64_t seed, unsigned jobs);

}  // namespace cairn
