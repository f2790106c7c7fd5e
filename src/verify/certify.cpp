#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ir/canon.h"
#include "verify/certificate.h"
#include "verify/identity.h"
#include "verify/numeric.h"
#include "verify/verify.h"

namespace cairn {

namespace {
// Instances that one second of interpretation covers, with a margin for heavy functions.
constexpr double kInstancesPerSecond = 10e6;

Certificate check_wellformed(const Program& before, const Program& after, const Target& target) {
  Certificate c;
  c.rung = Rung::wellformed;
  c.held = true;
  const auto check = [&](const Program& program, const char* which) {
    const VerifyReport report = verify_program(program, target);
    if (!c.held) return;
    if (const Finding* refusal = report.first_refusal()) {
      c.held = false;
      c.reason = fmt::format("{}: rule {}: {}", which, refusal->rule, render(refusal->error));
      return;
    }
    c.facts.emplace_back(fmt::format("runtime_checks_{}", which), fmt::format("{}", report.runtime_checks.size()));
  };
  check(before, "before");
  check(after, "after");
  if (!c.held) return c;
  if (const Result<void> same = check_interfaces(before, after); !same) {
    c.held = false;
    c.reason = same.error().message;
  }
  return c;
}

// Granted to a replayed action whose numbered conditions are all proved: `legal` if the equation instances stay the
// same, else `rule`, the named rewrite that changed the equations (a staged copy, an inlined producer).
std::optional<Certificate> check_legal(const ActionEvidence& action) {
  if (!action.same_instances && action.proved.empty()) return std::nullopt;
  Certificate c;
  c.rung = action.same_instances ? Rung::legal : Rung::rule;
  c.held = true;
  for (std::size_t i = 0; i < action.proved.size(); ++i) c.facts.emplace_back(fmt::format("proved_{}", i + 1), action.proved[i]);
  if (!action.replayed) {
    c.held = false;
    c.reason = fmt::format("applying {} again did not give the program after", action.action);
  } else if (const auto open = std::find_if(action.conditions.begin(), action.conditions.end(),
                                            [](const SideCondition& s) { return !s.proved; });
             open != action.conditions.end()) {
    return std::nullopt;  // another rung must judge what is only recorded
  }
  return c;
}

// The numeric rung; the conditions that it derives join the set's.
std::optional<Certificate> judge_values(const Program& before, const Program& after, CertificateSet* set, const CertifyOptions& options) {
  NumericOptions numeric;
  numeric.claim = set->claim;
  numeric.conditions = set->conditions;
  numeric.seed = options.seed;
  numeric.budget = static_cast<std::uint64_t>(std::max(0.01, options.numeric_seconds) * kInstancesPerSecond);
  std::string absent;
  std::optional<Certificate> c = check_numeric(before, after, numeric, &absent);
  if (!c) {
    set->certificates[0].facts.emplace_back("numeric_absent", absent);
    return c;
  }
  const bool claimed = !set->conditions.empty();
  for (const auto& [key, value] : c->facts) {
    if (!claimed && key.starts_with("condition_")) set->conditions.push_back({value, false});
  }
  return c;
}
}  // namespace

CertificateSet certify(const Program& before, const Program& after, Exactness claim, const ActionEvidence* action,
                       const CertifyOptions& options) {
  CertificateSet set;
  set.before = canonical_hash(before);
  set.after = canonical_hash(after);
  set.claim = claim;
  if (action != nullptr) {
    set.action = action->action;
    set.conditions = action->conditions;
  }
  set.certificates.push_back(check_wellformed(before, after, options.target));
  const bool wellformed = set.certificates[0].held;
  std::optional<Certificate> legal = action != nullptr ? check_legal(*action) : std::nullopt;
  // With conditions only recorded no `rule` is granted, but the rewrite is the strategy's all the same.
  const bool replayed = action != nullptr && action->replayed && !action->proved.empty();
  if (legal && legal->rung == Rung::legal) set.certificates.push_back(*std::exchange(legal, std::nullopt));
  std::optional<Certificate> numeric;
  if (wellformed && options.numeric) numeric = judge_values(before, after, &set, options);
  if (wellformed && options.identity) {
    IdentityOptions identity;
    identity.claim = claim;
    identity.seed = options.seed;
    const IdentityResult result = check_identity(before, after, identity);
    std::string absent;
    // The field does not know the laws of max with + and *: there a replayed rule stands by itself. Whether values that one
    // meets break a condition is the families' to say.
    // So is an element at which a recorded divisor is zero.
    const bool excused = result.voided &&
                         std::any_of(set.conditions.begin(), set.conditions.end(), [](const SideCondition& c) { return !c.proved; });
    if (result.verdict == IdentityResult::Verdict::failed && (result.incomplete || excused) && replayed) {
      absent = "not shown: " + result.reason;
    } else if (std::optional<Certificate> c = identity_certificate(result, action != nullptr || !set.conditions.empty() || numeric, &absent)) {
      if (action == nullptr) {
        for (const std::string& text : result.conditions) set.conditions.push_back({text, false});
      }
      set.certificates.push_back(*std::move(c));
    }
    if (!absent.empty()) set.certificates[0].facts.emplace_back("identity_absent", absent);
  }
  if (legal) set.certificates.push_back(*std::move(legal));
  if (numeric) set.certificates.push_back(*std::move(numeric));
  if (!wellformed) return set;
  if (options.execute) set.certificates.push_back(options.execute(before, after, claim));
  return set;
}

}  // namespace cairn
