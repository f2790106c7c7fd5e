#include <fmt/core.h>

#include "base/json.h"
#include "verify/mutate/campaign.h"

namespace cairn {

namespace {
Json claim_json(const ClaimCount& c) {
  return Json{{"different", c.different},
              {"refused_by_both", c.by_both},
              {"refused_by_identity", c.by_identity},
              {"refused_by_numeric", c.by_numeric},
              {"missed", c.missed},
              {"identity_alone", {{"missed", c.identity_missed}, {"absent", c.identity_absent}}},
              {"numeric_alone", {{"missed", c.numeric_missed}, {"absent", c.numeric_absent}}},
              {"equal_refused", c.equal_refused}};
}
}  // namespace

std::string mutation_json(const MutationReport& report) {
  Json json{{"version", 1}, {"seed", report.seed}, {"pairs", report.pairs}, {"pairs_left_out", report.pairs_left_out},
            {"mutants", report.mutants}, {"missed", report.missed}};
  Json operators = Json::array();
  for (const OperatorCount& c : report.operators) {
    Json one{{"name", c.name}, {"kind", std::string(damage_kind_name(c.kind))}, {"mutants", c.mutants}, {"malformed", c.malformed},
             {"different", c.different}, {"equal", c.equal}, {"broken", c.broken}, {"broken_accepted", c.broken_accepted}, {"unknown", c.unknown}};
    for (std::size_t k = 0; k < kMutationClaims.size(); ++k) one[std::string(exactness_name(kMutationClaims[k]))] = claim_json(c.claims[k]);
    operators.push_back(std::move(one));
  }
  json["operators"] = std::move(operators);
  Json rules = Json::object();
  for (std::size_t r = 0; r < report.rules.size(); ++r) {
    if (report.rules[r] > 0) rules[fmt::format("{}", r)] = report.rules[r];
  }
  json["rules"] = std::move(rules);
  Json misses = Json::array();
  for (const MissedMutant& m : report.misses) {
    misses.push_back(Json{{"kind", m.kind}, {"claim", m.claim}, {"operator", m.op}, {"pair", m.pair}, {"site", m.site}, {"witness", m.witness},
                          {"reason", m.reason}, {"before", m.before}, {"after", m.after}});
  }
  json["misses"] = std::move(misses);
  json["unusable"] = report.unusable;
  return dump_json(json);
}

std::string mutation_text(const MutationReport& report) {
  std::string text = fmt::format("{:<27} {:>7} {:>9} {:>6} {:>9} {:>9} {:>8} {:>8} {:>7} {:>9} {:>9}\n", "operator", "mutants", "malformed", "equal",
                                 "different", "both", "identity", "numeric", "missed", "id alone", "num alone");
  OperatorCount sum;
  ClaimCount all;
  const auto line = [&text](const std::string& name, const OperatorCount& c, const ClaimCount& a, std::int64_t promises) {
    text += fmt::format("{:<27} {:>7} {:>9} {:>6} {:>9} {:>9} {:>8} {:>8} {:>7} {:>9} {:>9}\n", name, c.mutants, c.malformed, c.equal, a.different,
                        a.by_both, a.by_identity, a.by_numeric, a.missed + promises, a.identity_missed, a.numeric_missed);
  };
  for (const OperatorCount& c : report.operators) {
    ClaimCount a;
    for (const ClaimCount& k : c.claims) {
      for (const auto field : {&ClaimCount::different, &ClaimCount::by_identity, &ClaimCount::by_numeric, &ClaimCount::by_both, &ClaimCount::missed,
                               &ClaimCount::identity_missed, &ClaimCount::numeric_missed}) {
        a.*field += k.*field;
        all.*field += k.*field;
      }
    }
    sum.mutants += c.mutants;
    sum.malformed += c.malformed;
    sum.equal += c.equal;
    sum.broken_accepted += c.broken_accepted;
    if (c.mutants > 0) line(c.name, c, a, c.broken_accepted);
  }
  line("all", sum, all, sum.broken_accepted);
  text += fmt::format("\n{} mutants of {} pairs, seed {}: {} missed{}\n", report.mutants, report.pairs, report.seed, report.missed,
                      report.pairs_left_out > 0 ? fmt::format("; {} pairs left out for lack of time", report.pairs_left_out) : "");
  text += "(different, both, identity, numeric, missed: over the claims exact, reassociates and algebraic)\n";
  for (const MissedMutant& m : report.misses) {
    if (m.kind != "ladder" && m.kind != "promise") continue;
    text += fmt::format("\nMISSED ({}, {}): {} on {}\n  {}\n  {}\n--- before\n{}--- after\n{}", m.kind, m.claim, m.op, m.pair, m.site, m.witness, m.before,
                        m.after);
  }
  for (const std::string& u : report.unusable) text += "unusable pair " + u + "\n";
  return text;
}

}  // namespace cairn
