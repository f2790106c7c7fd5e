#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ir/canon.h"
#include "verify/certify.h"
#include "verify/identity.h"
#include "verify/numeric.h"
#include "verify/row.h"
#include "verify/verify.h"

namespace cairn {

namespace {
// Instances that one second of interpretation covers, with a margin for heavy functions.
constexpr double kInstancesPerSecond = 10e6;
// What the numeric rung says of a pair that is equal only under conditions.
const std::pair<std::string, std::string> kConditional{"verdict", "conditional"};

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

// `rule` by a row of the table: proved outright, or, with conditions only recorded, beside another rung that judged what
// values make of them (it may well refuse a pair that states no condition: the row then says why it is equal under some).
void add_row(const RowRewrite& row, std::optional<Certificate>* rule, bool judged, CertificateSet* set) {
  Certificate c = row_certificate(row);
  if (*rule) {   // of a replayed action: which row its strategy used
    (*rule)->facts.insert((*rule)->facts.end(), c.facts.begin(), c.facts.end());
    return;
  }
  const auto open = [](const SideCondition& s) { return !s.proved; };
  if (row.exactness > set->claim) return;
  if (judged || std::none_of(row.conditions.begin(), row.conditions.end(), open)) *rule = std::move(c);
  else set->certificates[0].facts.emplace_back("rule_absent", fmt::format("{} at {}, with conditions that no other rung has judged", row.row, row.equation));
}

// The numeric rung; the conditions that it derives join the set's.
std::optional<Certificate> judge_values(const Program& before, const Program& after, CertificateSet* set, const CertifyOptions& options,
                                        bool confirmed, NumericMemo* memo) {
  NumericOptions numeric;
  numeric.claim = set->claim;
  numeric.conditions = set->conditions;
  numeric.seed = options.seed;
  numeric.memo = memo;
  numeric.confirmed = confirmed;
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
  return certify_in_trace(before, after, claim, action, options, {});
}

CertificateSet certify_in_trace(const Program& before, const Program& after, Exactness claim, const ActionEvidence* action,
                                const CertifyOptions& options, const TraceContext& context) {
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
  const bool same_instances = legal && legal->rung == Rung::legal;
  if (legal && legal->rung == Rung::legal) set.certificates.push_back(*std::exchange(legal, std::nullopt));
  const std::optional<RowRewrite> row = wellformed && !same_instances ? find_row(before, after) : std::nullopt;
  const bool known = replayed || (row && row->exactness <= claim);
  std::optional<Certificate> numeric;
  if (wellformed && !context.skipped.empty()) {
    if (!options.numeric) set.certificates[0].facts.emplace_back("numeric_absent", context.skipped);
    if (!options.identity) set.certificates[0].facts.emplace_back("identity_absent", context.skipped);
  }
  IdentityResult result;
  if (wellformed && options.identity) {
    IdentityOptions identity;
    identity.claim = claim;
    identity.seed = options.seed;
    result = check_identity(before, after, identity);
  }
  if (wellformed && options.numeric) numeric = judge_values(before, after, &set, options, result.held() && !result.sampled, context.memo);
  if (wellformed && options.identity) {
    std::string absent;
    // The field does not know the laws of max with + and *: there a rule, replayed or a row of the table, stands by itself.
    // Whether values that one meets break a condition is the families' to say.
    // So is an element at which a recorded divisor is zero.
    const bool excused = result.voided &&
                         std::any_of(set.conditions.begin(), set.conditions.end(), [](const SideCondition& c) { return !c.proved; });
    if (result.verdict == IdentityResult::Verdict::failed && (result.incomplete || excused) && known) {
      absent = "not shown: " + result.reason;
    } else if (std::optional<Certificate> c = identity_certificate(result, action != nullptr || !set.conditions.empty() || numeric, &absent)) {
      if (action == nullptr) {
        for (const std::string& text : result.conditions) set.conditions.push_back({text, false});
      }
      set.certificates.push_back(*std::move(c));
    }
    if (!absent.empty()) set.certificates[0].facts.emplace_back("identity_absent", absent);
  }
  if (row) {
    const Certificate* identity = set.find(Rung::identity);
    const bool fits = !numeric || numeric->held || std::find(numeric->facts.begin(), numeric->facts.end(), kConditional) != numeric->facts.end();
    const bool judged = fits && (identity == nullptr || identity->held) && (identity != nullptr || numeric);
    add_row(*row, &legal, judged, &set);
  }
  if (legal) set.certificates.push_back(*std::move(legal));
  if (numeric) set.certificates.push_back(*std::move(numeric));
  if (!wellformed) return set;
  if (options.execute) set.certificates.push_back(options.execute(before, after, claim));
  return set;
}

}  // namespace cairn
