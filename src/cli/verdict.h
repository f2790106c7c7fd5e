// What `cairn verify` answers of a pair of programs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "strategy/strategy.h"
#include "verify/certificate.h"

namespace cairn {

struct VerdictOptions {
  std::optional<Exactness> claim;   // nullopt: the strongest that holds
  std::string action;               // said to lead from before to after
  double numeric_seconds = 5;
  double match_seconds = 0;         // to look for an action that leads from before to after; 0: none is looked for
  bool execute = false;
  bool conditional = false;         // a pair that is equal only under conditions is accepted too
};

struct Verdict {
  CertificateSet set;
  bool accepted = false;
  // equal: nothing failed and more than wellformed held. conditional: equal where the conditions hold, which values that one
  // meets break. malformed: a program is refused, or the interfaces differ. different: a certificate failed. undecided:
  // nothing beyond wellformed could be computed.
  std::string word;
  std::string exactness;            // the class that holds; empty unless equal or conditional
  std::vector<std::string> accepted_under;   // side conditions that are not proved
  std::string reason;               // why it is not accepted, or empty
};
Result<Verdict> judge_pair(Session& session, const Program& before, const Program& after, const VerdictOptions& options,
                           const Target& target);
// ok, verdict, class, accepted_under, reason; the same keys in both forms of the command.
Json verdict_json(const Verdict& verdict);
// The rungs that held.
Json held_rungs(const CertificateSet& set);

// One step that leads from before to after by canonical hash: every strategy's sites in order, until the time is over.
std::optional<std::pair<Action, Step>> find_step(const Program& before, const Program& after, const Target& target, double seconds, Clock& clock);

}  // namespace cairn
