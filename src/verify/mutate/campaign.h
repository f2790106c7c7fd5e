// A mutation test of the ladder: damages programs, finds out which differ, and demands that certificates are withheld.
#pragma once
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "analysis/target.h"
#include "verify/certificate.h"
#include "verify/mutate/damage.h"

namespace cairn {

// A correct pair: `after` computes what `before` does; damage is done to `after`.
struct MutationPair {
  std::string name;
  Program before, after;
};

struct MutationOptions {
  Target target;
  std::uint64_t seed = 1;
  std::size_t per_operator = 1;      // damages of one operator on one pair, at most
  std::size_t stride = 1;            // of the operators: a pair gets every stride-th, each its own share
  std::vector<std::string> only;     // operators; empty: all
  int inputs = 64;
  double numeric_seconds = 5;
  unsigned jobs = 1;
  double seconds = 0;                // pairs that would start later are left out and counted; 0: no limit
  std::function<double()> now;       // seconds, for the limit
  bool keep_missed_text = true;
  bool judge_equal = false;          // certify also what does not differ, to count refusals
};

// The classes that `certify` is asked for.
inline constexpr std::array<Exactness, 3> kMutationClaims{Exactness::exact, Exactness::reassociates, Exactness::algebraic};

// Counts at one claimed class.
struct ClaimCount {
  std::int64_t different = 0;        // well formed and truly different at this class
  std::int64_t by_identity = 0, by_numeric = 0, by_both = 0;   // refused by: the others let it pass or were silent
  std::int64_t missed = 0;           // accepted
  std::int64_t identity_missed = 0, identity_absent = 0;       // identity alone
  std::int64_t numeric_missed = 0, numeric_absent = 0;         // numeric alone
  std::int64_t equal_refused = 0;    // not different at this class and refused (judge_equal)
};
// Counts of one operator.
struct OperatorCount {
  std::string name;
  DamageKind kind = DamageKind::value;
  std::int64_t mutants = 0;          // damaged programs
  std::int64_t malformed = 0;        // refused by wellformed
  std::int64_t different = 0;        // well formed and different in value or precision
  std::int64_t equal = 0;            // well formed and not different on any input
  std::int64_t broken = 0;           // promise: not kept, as runs tell (form: all of them)
  std::int64_t broken_accepted = 0;  // of those, accepted by wellformed: missed
  std::int64_t unknown = 0;          // promise: accepted, and runs cannot tell
  std::array<ClaimCount, 3> claims;
};
struct MissedMutant {
  std::string pair, op, site, claim, kind, witness, reason, before, after;
  // kind: "ladder" (certify accepted), "promise" (wellformed accepted), "identity", "numeric" (that rung alone held)
};
struct MutationReport {
  std::uint64_t seed = 0;
  std::int64_t pairs = 0, pairs_left_out = 0, mutants = 0, missed = 0;
  std::vector<OperatorCount> operators;
  std::vector<std::int64_t> rules;   // malformed, by the number of the rule that refused
  std::vector<MissedMutant> misses;
  std::vector<std::string> unusable; // pairs whose reference does not run or whose two programs differ
};
MutationReport run_mutation(const std::vector<MutationPair>& pairs, const MutationOptions& options);

// One JSON document, and a table for people.
std::string mutation_json(const MutationReport& report);
std::string mutation_text(const MutationReport& report);

}  // namespace cairn
