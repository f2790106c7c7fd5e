// Certificates: what is established about a step or a kernel (verification.md "The ladder").
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/target.h"
#include "base/hash.h"
#include "base/result.h"
#include "ir/program.h"

namespace cairn {

// Classes of a step, weakest last.
enum class Exactness : std::uint8_t { exact, reassociates, algebraic, changes_precision };
std::string_view exactness_name(Exactness e);
std::optional<Exactness> parse_exactness(std::string_view text);

enum class Rung : std::uint8_t { wellformed, legal, identity, rule, numeric, executed };
std::string_view rung_name(Rung rung);

// A side condition a step recorded, e.g. "A[..] finite".
struct SideCondition {
  std::string text;
  bool proved = false;
  // The text is "EXPRESSION at s3" or "EXPRESSION at s3 if GUARD", to be parsed and evaluated there; not serialised.
  bool evaluable = false;
};

// One certificate: held, or failed with its reason; absent rungs are not listed.
struct Certificate {
  Rung rung = Rung::wellformed;
  bool held = false;
  std::string reason;                                         // why not, or a remark
  std::vector<std::pair<std::string, std::string>> facts;     // seeds, counts, errors: printable, stable order
};

// All that is known of one pair of programs.
struct CertificateSet {
  int version = 1;
  Digest before, after;
  Exactness claim = Exactness::exact;
  std::string action;                    // the action's text, if a strategy made the step
  std::vector<SideCondition> conditions;
  std::vector<Certificate> certificates; // in rung order
  const Certificate* find(Rung rung) const;
  // Accepted: wellformed held, no certificate failed, and at least one of legal, identity, rule, numeric,
  // executed held.
  bool ok() const;
};
// Stable one-line JSON; parse refuses other versions.
std::string serialize(const CertificateSet& set);
Result<CertificateSet> parse_certificates(const std::string& json);

// What the maker of a step says of it: the legality conditions its strategy proved. `legal` is granted when
// re-applying the action gave exactly `after` (the caller replays it) and every condition was proved.
struct ActionEvidence {
  std::string action;
  bool replayed = false;
  bool same_instances = false;   // the equation instances stay the same (only order, place, storage change)
  std::vector<std::string> proved;
  std::vector<SideCondition> conditions;
};

struct CertifyOptions {
  Target target;
  std::uint64_t seed = 1;
  bool numeric = true;
  // Runs both programs on the machine; set by eval's callers. Absent: no `executed` rung.
  std::function<Certificate(const Program& before, const Program& after, Exactness claim)> execute;
  double numeric_seconds = 5;
  bool identity = true;
};
// Judges a pair of programs, whoever made them.
CertificateSet certify(const Program& before, const Program& after, Exactness claim,
                       const ActionEvidence* action, const CertifyOptions& options);

}  // namespace cairn
