// cairn verify: certificates that two programs compute the same; --pairs judges a JSONL of pairs.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "cli/executor.h"
#include "cli/load.h"
#include "cli/rows.h"
#include "strategy/strategy.h"
#include "verify/certificate.h"

namespace cairn {

namespace {

struct VerifyOptions {
  std::string before, after, claim = "algebraic", action, pairs, reading;
  bool execute = false;
  double numeric_seconds = 5;
};

Json set_json(const CertificateSet& set) {
  auto parsed = parse_json(serialize(set));
  return parsed.ok() ? parsed.value() : Json();
}

// The rungs that held, and why the set is not accepted.
Json held_rungs(const CertificateSet& set) {
  Json held = Json::array();
  for (const Certificate& c : set.certificates) {
    if (c.held) held.push_back(std::string(rung_name(c.rung)));
  }
  return held;
}
std::string reason_of(const CertificateSet& set) {
  for (const Certificate& c : set.certificates) {
    if (!c.held) return fmt::format("{}: {}", rung_name(c.rung), c.reason);
  }
  return set.ok() ? "" : "no certificate beyond wellformed was earned";
}

Result<CertificateSet> judge(const Program& before, const Program& after, Exactness claim, const VerifyOptions& options,
                             const Target& target, Session& session) {
  CertifyOptions certify_options;
  certify_options.target = target;
  certify_options.numeric_seconds = options.numeric_seconds;
  CAIRN_TRY(certify_options.seed, session.settings.number("seed"));
  if (options.execute) certify_options.execute = make_executor(session, target);
  if (options.action.empty()) return certify(before, after, claim, nullptr, certify_options);
  CAIRN_TRY(const Action action, parse_action(options.action));
  CAIRN_TRY(const Step step, apply_action(before, target, action));
  ActionEvidence evidence = evidence_of(before, target, action, step);
  evidence.replayed = evidence.replayed && canonical_hash_equal(step.after, after);
  return certify(before, after, claim, &evidence, certify_options);
}

// One program of a pair: its text, parsed by the Step-TP reading unless another was asked for.
Result<Program> parse_side(const Json& row, const char* key, const VerifyOptions& options) {
  CAIRN_TRY(const std::string text, get_string(row, key));
  ParseOptions parse;
  parse.file = key;
  parse.reading = options.reading.empty() ? Reading::steptp : parse_reading(options.reading);
  return parse_program(text, parse);
}

Result<int> verify_pairs(Session& session, const VerifyOptions& options, Exactness claim, const Target& target) {
  const auto answer_pair = [&](const Json& row, Json& answer) -> Result<RowVerdict> {
    CAIRN_TRY(const Program before, parse_side(row, "before", options));
    CAIRN_TRY(const Program after, parse_side(row, "after", options));
    CAIRN_TRY(const CertificateSet set, judge(before, after, claim, options, target, session));
    answer["certificates"] = held_rungs(set);
    answer["reason"] = reason_of(set);
    return set.ok() ? RowVerdict::yes : RowVerdict::no;
  };
  const Json fields{{"certificates", Json::array()}, {"reason", ""}};
  CAIRN_TRY(const unsigned jobs, worker_count(session, target));
  CAIRN_TRY(const RowCounts counts, answer_rows(session, options.pairs, options.execute ? 1 : jobs, fields, answer_pair));
  std::fputs(fmt::format("{} of {} pairs accepted\n", counts.yes, counts.rows).c_str(), stderr);
  if (counts.worst == RowVerdict::bug) return 70;
  return counts.yes == counts.rows ? 0 : 1;
}

}  // namespace

CommandRun setup_verify(CLI::App& app) {
  auto options = std::make_shared<VerifyOptions>();
  app.add_option("before", options->before, "program A");
  app.add_option("after", options->after, "program B");
  app.add_option("--claim", options->claim, "exact, reassociates, algebraic or changes_precision")
      ->check(CLI::IsMember({"exact", "reassociates", "algebraic", "changes_precision"}));
  app.add_option("--action", options->action, "the action that is said to lead from A to B: earns 'legal' by replay");
  app.add_option("--pairs", options->pairs, "JSONL of {id, before, after}: one answer a line");
  app.add_option("--reading", options->reading, "of promises: automatic, leir or steptp (default of --pairs)")
      ->check(CLI::IsMember({"automatic", "leir", "steptp"}));
  app.add_flag("--execute", options->execute, "compile and run both programs too");
  app.add_option("--numeric-seconds", options->numeric_seconds, "time limit of the numeric rung")
      ->check(CLI::Range(0.01, 3600.0));
  return [options](Session& session) -> Result<int> {
    CAIRN_TRY(const Target target, load_target(session));
    const Exactness claim = *parse_exactness(options->claim);
    if (!options->pairs.empty() && (!options->before.empty() || !options->action.empty())) {
      return Error{Code::usage, "--pairs takes the programs and steps from its file, no program or --action beside it", {}, {}};
    }
    if (!options->pairs.empty()) return verify_pairs(session, *options, claim, target);
    if (options->before.empty() || options->after.empty()) {
      return Error{Code::usage, "two programs are needed", {}, {"cairn verify BEFORE AFTER, or --pairs FILE"}};
    }
    if (options->before == "-" && options->after == "-") {
      return Error{Code::usage, "both programs are -, standard input holds only one", {}, {}};
    }
    const Reading reading = parse_reading(options->reading);
    CAIRN_TRY(const Loaded before, load_program(session, options->before, {}, reading));
    CAIRN_TRY(const Loaded after, load_program(session, options->after, {}, reading));
    CAIRN_TRY(const CertificateSet set, judge(before.program, after.program, claim, *options, target, session));
    std::string text;
    for (const Certificate& c : set.certificates) {
      text += fmt::format("{} {:<11}{}\n", c.held ? "+" : "-", rung_name(c.rung), c.reason);
      for (const auto& [key, value] : c.facts) text += fmt::format("    {:<16} {}\n", key, value);
    }
    text += set.ok() ? fmt::format("the programs compute the same ({})\n", exactness_name(claim))
                     : fmt::format("not established: {}\n", reason_of(set));
    Json json = set_json(set);
    json["ok"] = set.ok();
    json["reason"] = reason_of(set);
    session.answer(json, text);
    return set.ok() ? 0 : 1;
  };
}

}  // namespace cairn
