#include "cli/verdict.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/executor.h"
#include "ir/canon.h"
#include "verify/conditions.h"
#include "verify/explain.h"
#include "verify/identity.h"
#include "verify/numeric.h"
#include "verify/verify.h"

namespace cairn {

namespace {
std::string reason_of(const CertificateSet& set) {
  for (const Certificate& c : set.certificates) {
    if (!c.held) return fmt::format("{}: {}", rung_name(c.rung), c.reason);
  }
  return set.ok() ? "" : "no certificate beyond wellformed was earned";
}

bool has_fact(const Certificate& c, const char* key, const char* value) {
  return std::any_of(c.facts.begin(), c.facts.end(), [&](const auto& f) { return f.first == key && f.second == value; });
}

bool only_conditional(const CertificateSet& set) {
  return std::all_of(set.certificates.begin(), set.certificates.end(), [](const Certificate& c) { return c.held || has_fact(c, "verdict", "conditional"); });
}

// A numeric certificate that only conditions withhold holds where they do: those that extreme values alone break, and all
// of them if asked to.
void accept_conditions(bool all, CertificateSet* set) {
  for (Certificate& c : set->certificates) {
    if (c.held || !has_fact(c, "verdict", "conditional") || !(all || has_fact(c, "broken_by", "extreme"))) continue;
    c.held = true;
  }
}

std::string word_of(const CertificateSet& set) {
  if (set.ok()) return "equal";
  const Certificate* wellformed = set.find(Rung::wellformed);
  if (wellformed == nullptr || !wellformed->held) return "malformed";
  const bool failed = std::any_of(set.certificates.begin(), set.certificates.end(), [](const Certificate& c) { return !c.held; });
  if (!failed) return "undecided";
  return only_conditional(set) ? "conditional" : "different";
}

bool wellformed(const CertificateSet& set) {
  const Certificate* c = set.find(Rung::wellformed);
  return c != nullptr && c->held;
}

// The set of the strongest class that holds; of the weakest tried where none does.
CertificateSet certify_strongest(const Program& before, const Program& after, const CertifyOptions& options) {
  std::vector<Exactness> claims = {Exactness::exact, Exactness::algebraic};
  bool shown = false;
  CertifyOptions chosen = options;
  std::string absent;
  if (check_program(before, options.target) && check_program(after, options.target) && check_interfaces(before, after)) {
    IdentityOptions identity;
    identity.seed = options.seed;
    const IdentityResult result = find_identity(before, after, identity);
    shown = result.held();
    if (shown) claims = {result.claim, Exactness::algebraic};
    else if (result.verdict == IdentityResult::Verdict::failed) claims = {Exactness::algebraic};
    // A mismatch over max, comparisons or opaque functions decides nothing where no rounding differs: the values do.
    if (!shown && result.verdict == IdentityResult::Verdict::failed && result.incomplete && same_float_types(before, after)) {
      chosen.identity = false;
      absent = "not shown: " + result.reason;
    }
  }
  CertificateSet set;
  for (const Exactness claim : claims) {
    CertificateSet next = certify(before, after, claim, nullptr, chosen);
    if (!absent.empty()) next.certificates[0].facts.emplace_back("identity_absent", absent);
    accept_conditions(false, &next);
    const bool unconditional = std::all_of(next.conditions.begin(), next.conditions.end(), [](const auto& c) { return c.proved; });
    // Equal bits on the families alone say nothing of operations that only one of the programs has.
    if (set.ok() && next.ok() && unconditional) return set;
    set = std::move(next);
    if (!wellformed(set) || (set.ok() && (shown || claim != Exactness::exact || partial_operations(before) == partial_operations(after)))) break;
  }
  return set;
}

// The certificate of a found action, beside what the pair has by itself.
void add_match(const Program& before, const Program& after, const CertifyOptions& base, double seconds, Clock& clock, Verdict* verdict) {
  const auto found = find_step(before, after, base.target, seconds, clock);
  if (!found) return;
  const auto& [action, step] = *found;
  ActionEvidence evidence = evidence_of(before, base.target, action, step);
  evidence.replayed = evidence.replayed && canonical_hash_equal(step.after, after);
  CertifyOptions options = base;
  options.numeric = false;
  options.execute = nullptr;
  const CertificateSet matched = certify(before, after, step.exactness, &evidence, options);
  verdict->set.action = evidence.action;
  for (const Rung rung : {Rung::legal, Rung::rule}) {
    const Certificate* c = matched.find(rung);
    if (c == nullptr || !c->held || verdict->set.find(rung) != nullptr) continue;
    const auto place = std::find_if(verdict->set.certificates.begin(), verdict->set.certificates.end(), [rung](const Certificate& x) { return x.rung > rung; });
    verdict->set.certificates.insert(place, *c);
    verdict->set.claim = std::max(verdict->set.claim, step.exactness);
  }
}
}  // namespace

Json held_rungs(const CertificateSet& set) {
  Json held = Json::array();
  for (const Certificate& c : set.certificates) {
    if (c.held) held.push_back(std::string(rung_name(c.rung)));
  }
  return held;
}

std::optional<std::pair<Action, Step>> find_step(const Program& before, const Program& after, const Target& target, double seconds, Clock& clock) {
  const double end = clock.now() + seconds;
  const Digest wanted = canonical_hash(after);
  for (const Strategy* strategy : all_strategies()) {
    if (clock.now() >= end) break;
    for (const Args& args : strategy->sites(before, target)) {
      if (clock.now() >= end) break;
      const Result<Step> raw = strategy->apply(before, target, args);
      if (!raw || !(canonical_hash(raw->after) == wanted)) continue;
      Action action{std::string(strategy->name), args};
      if (Result<Step> step = apply_action(before, target, action)) return std::make_pair(std::move(action), *std::move(step));
    }
  }
  return std::nullopt;
}

Result<Verdict> judge_pair(Session& session, const Program& before, const Program& after, const VerdictOptions& options,
                           const Target& target) {
  CertifyOptions certify_options;
  certify_options.target = target;
  certify_options.numeric_seconds = options.numeric_seconds;
  CAIRN_TRY(certify_options.seed, session.settings.number("seed"));
  if (options.execute) certify_options.execute = make_executor(session, target);
  Verdict verdict;
  if (!options.action.empty()) {
    CAIRN_TRY(const Action action, parse_action(options.action));
    CAIRN_TRY(const Step step, apply_action(before, target, action));
    ActionEvidence evidence = evidence_of(before, target, action, step);
    evidence.replayed = evidence.replayed && canonical_hash_equal(step.after, after);
    verdict.set = certify(before, after, options.claim.value_or(step.exactness), &evidence, certify_options);
  } else {
    verdict.set = options.claim ? certify(before, after, *options.claim, nullptr, certify_options) : certify_strongest(before, after, certify_options);
    if (options.match_seconds > 0 && wellformed(verdict.set)) add_match(before, after, certify_options, options.match_seconds, session.clock, &verdict);
  }
  accept_conditions(false, &verdict.set);
  verdict.word = word_of(verdict.set);
  if (verdict.word == "conditional" && options.conditional) accept_conditions(true, &verdict.set);
  verdict.accepted = verdict.word == "equal" || (options.conditional && verdict.word == "conditional");
  for (const SideCondition& c : verdict.set.conditions) {
    if (!c.proved) verdict.accepted_under.push_back(c.text);
  }
  if (verdict.word == "equal" || verdict.word == "conditional") verdict.exactness = std::string(exactness_name(verdict.set.claim));
  verdict.reason = reason_of(verdict.set);
  return verdict;
}

Json verdict_json(const Verdict& verdict) {
  Json json;
  json["ok"] = verdict.accepted;
  json["verdict"] = verdict.word;
  json["class"] = verdict.exactness;
  json["accepted_under"] = verdict.accepted_under;
  json["action"] = verdict.set.action;
  json["reason"] = verdict.reason;
  return json;
}

}  // namespace cairn
