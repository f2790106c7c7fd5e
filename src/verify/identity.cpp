#include "verify/identity.h"

#include <fmt/core.h>

#include "verify/identity/session.h"

namespace cairn {

using identity::Session;
using Verdict = IdentityResult::Verdict;

IdentityResult check_identity(const Program& before, const Program& after, const IdentityOptions& options) {
  if (options.claim == Exactness::changes_precision) {
    IdentityResult r;
    r.claim = options.claim;
    r.reason = "a change of precision is no identity";
    return r;
  }
  IdentityResult r = Session(before, after, options).judge(options.claim);
  r.claim = options.claim;
  return r;
}

IdentityResult find_identity(const Program& before, const Program& after, const IdentityOptions& options) {
  return Session(before, after, options).judge(Exactness::algebraic);
}

std::optional<Certificate> identity_certificate(const IdentityResult& result, bool conditions_stated, std::string* absent) {
  if (result.verdict == Verdict::absent) {
    *absent = result.reason;
    return std::nullopt;
  }
  Certificate c;
  c.rung = Rung::identity;
  c.held = result.held();
  c.reason = result.reason;
  std::string compared, conditions;
  for (const std::string& name : result.compared) compared += fmt::format("{}{}", compared.empty() ? "" : " ", name);
  for (const std::string& text : result.conditions) conditions += fmt::format("{}{}", conditions.empty() ? "" : "; ", text);
  if (c.held && !conditions.empty() && !conditions_stated) {
    c.held = false;
    c.reason = fmt::format("equal only where {}, which the claim does not state", conditions);
  }
  c.facts = {{"algebra", std::string(exactness_name(result.claim))},
             {"mode", result.sampled ? "sampled" : "full"},
             {"compared", compared},
             {"elements", fmt::format("{}", result.elements)},
             {"pieces", fmt::format("{}", result.pieces)},
             {"trials", fmt::format("{}", result.trials)},
             {"nodes", fmt::format("{}", result.nodes)},
             {"error_probability", fmt::format("{:.2g}", result.error_probability)}};
  if (result.sampled) c.facts.emplace_back("miss_probability", fmt::format("{:.2g}", result.miss_probability));
  if (!conditions.empty()) c.facts.emplace_back("conditions", conditions);
  return c;
}

}  // namespace cairn
