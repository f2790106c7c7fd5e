// Shrinking a failure: the smallest programs, shape and inputs that still fail in the same way.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/target.h"
#include "base/clock.h"
#include "ir/interp.h"
#include "verify/certificate.h"

namespace cairn {

// What fails: one program (and something done to it) or two that share their inputs and outputs, with the inputs they
// fail on (none where the failure needs no values).
struct ShrinkCase {
  std::vector<Program> programs;
  ValueMap inputs;
};
// Does the case still fail in the way that counts? Must be false for what is not well formed where the start is.
using StillFails = std::function<bool(const ShrinkCase&)>;
struct ShrinkOptions {
  double seconds = 2;
  Clock* clock = nullptr;          // null: the system's
};
struct Shrunk {
  ShrinkCase smallest;
  std::uint64_t tried = 0, taken = 0;
  bool finished = false;           // nothing smaller fails; else the time was over
};
// Tries ever smaller cases, the large cuts first, and keeps those that fail: outputs, statements and temporaries are dropped
// (a temporary may become an input that holds its values), loop extents and with them the tensors' shapes shrink, promises
// and functions go, inputs become few small integers. What two programs share is changed in both alike, never a literal of
// one alone. Delta debugging (Zeller and Hildebrandt, 2002) over a program's own parts.
Shrunk shrink_case(ShrinkCase start, const StillFails& fails, const ShrinkOptions& options = {});

// How much there is of a case; every step makes it less.
std::uint64_t case_size(const ShrinkCase& c);
// Smaller cases worth trying, in order; offer answers whether it took the case, which ends the round.
bool offer_smaller(const ShrinkCase& c, const std::function<bool(ShrinkCase)>& offer);

// How a pair fails.
struct PairFailure {
  enum class Kind : std::uint8_t { refused_before, refused_after, run_error, value, nonfinite };
  Kind kind = Kind::value;
  int rule = 0;                    // refused: the verifier's
  std::string reason;
  friend bool operator==(const PairFailure& a, const PairFailure& b) { return a.kind == b.kind && a.rule == b.rule; }
};
// The failure of a pair on these inputs, or nullopt if it agrees there under the claim.
std::optional<PairFailure> failure_on(const Program& before, const Program& after, const ValueMap& inputs, Exactness claim,
                                      const Target& target);
// A failing case of the pair: inputs of some family, or the verifier's refusal; a pair too large to be interpreted is made
// smaller first. nullopt if none is found.
std::optional<ShrinkCase> find_failing_case(const Program& before, const Program& after, Exactness claim, const Target& target,
                                            std::uint64_t seed, PairFailure* failure);
// The smallest failing pair, or nullopt if the pair does not fail where this looks.
struct CounterExample {
  Shrunk shrunk;
  PairFailure failure;             // of the smallest
};
std::optional<CounterExample> shrink_pair(const Program& before, const Program& after, Exactness claim, const Target& target,
                                          std::uint64_t seed, const ShrinkOptions& options = {});

// A failure as a file that is replayed: "% remark" lines; `claim CLASS`; `expect refused` or `expect holds`; optionally
// `action TEXT` in place of the program after and `input NAME v v v` (row-major); then `before`, the program, `after`, the
// program.
struct RegressPair {
  std::vector<std::string> remarks;
  Exactness claim = Exactness::algebraic;
  bool holds = false;
  std::uint64_t seed = 1;   // of the certificates, where it matters
  std::string action, before, after;
  std::vector<std::pair<std::string, std::vector<double>>> inputs;
};
std::string print_regress_pair(const RegressPair& pair);
Result<RegressPair> parse_regress_pair(const std::string& text);
// The inputs of a pair's file as values of the program; refuses wrong names and counts.
Result<ValueMap> regress_inputs(const RegressPair& pair, const Program& program);

}  // namespace cairn
