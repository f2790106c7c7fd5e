// cairn verify: certificates that two programs compute the same; --pairs judges a JSONL of pairs.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "cli/executor.h"
#include "cli/load.h"
#include "ir/text.h"
#include "strategy/strategy.h"
#include "verify/certificate.h"

namespace cairn {

namespace {

struct VerifyOptions {
  std::string before, after, claim = "algebraic", action, pairs;
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

Result<int> verify_pairs(Session& session, const VerifyOptions& options, Exactness claim, const Target& target) {
  CAIRN_TRY(const std::string text, read_file(options.pairs));
  std::size_t start = 0, line_number = 0, accepted = 0, total = 0;
  while (start < text.size()) {
    if (interrupted() != 0) return Error{Code::interrupted, "interrupted", {}, {}};
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string line = text.substr(start, end - start);
    start = end + 1;
    ++line_number;
    if (line.empty()) continue;
    ++total;
    Json answer{{"id", fmt::format("line {}", line_number)}, {"ok", false}, {"certificates", Json::array()}, {"reason", ""}};
    const auto row = parse_json(line, options.pairs);
    if (!row.ok()) {
      return Error{Code::parse, fmt::format("{}:{}: {}", options.pairs, line_number, row.error().message), {}, {}};
    }
    CAIRN_TRY(const std::string before_text, get_string(row.value(), "before"));
    CAIRN_TRY(const std::string after_text, get_string(row.value(), "after"));
    if (row->contains("id")) answer["id"] = (*row)["id"];
    ParseOptions parse;
    parse.file = "before";
    const auto before = parse_program(before_text, parse);
    parse.file = "after";
    const auto after = parse_program(after_text, parse);
    if (!before.ok() || !after.ok()) {
      answer["reason"] = "wellformed: " + render(before.ok() ? after.error() : before.error());
    } else {
      CAIRN_TRY(const CertificateSet set, judge(before.value(), after.value(), claim, options, target, session));
      answer["ok"] = set.ok();
      answer["certificates"] = held_rungs(set);
      answer["reason"] = reason_of(set);
      accepted += set.ok() ? 1 : 0;
    }
    session.print_line(dump_json(answer));
  }
  std::fputs(fmt::format("{} of {} pairs accepted\n", accepted, total).c_str(), stderr);
  return accepted == total ? 0 : 1;
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
  app.add_flag("--execute", options->execute, "compile and run both programs too");
  app.add_option("--numeric-seconds", options->numeric_seconds, "time limit of the numeric rung");
  return [options](Session& session) -> Result<int> {
    CAIRN_TRY(const Target target, load_target(session));
    const Exactness claim = *parse_exactness(options->claim);
    if (!options->pairs.empty()) return verify_pairs(session, *options, claim, target);
    if (options->before.empty() || options->after.empty()) {
      return Error{Code::usage, "two programs are needed", {}, {"cairn verify BEFORE AFTER, or --pairs FILE"}};
    }
    CAIRN_TRY(const Loaded before, load_program(session, options->before));
    CAIRN_TRY(const Loaded after, load_program(session, options->after));
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
