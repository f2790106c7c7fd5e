// cairn show, cairn fmt, cairn check.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/file.h"
#include "cli/programs.h"
#include "cli/rows.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "verify/verify.h"

namespace cairn {

namespace {

Result<std::string> print_as(const Program& program, const std::string& profile) {
  if (profile == "steptp") return print_steptp(program);
  return print_program(program, profile == "short" ? Profile::short_form : Profile::leir);
}

void add_reading(CLI::App& app, std::string& reading) {
  app.add_option("--reading", reading, "of promises in .leir texts: automatic (bare texts are Step-TP's), leir or steptp")
      ->check(CLI::IsMember({"automatic", "leir", "steptp"}));
}

struct ProgramOptions {
  std::vector<std::string> files;
  std::string profile = "leir", reading = "automatic", corpus;
  bool in_place = false;
};

}  // namespace

CommandRun setup_show(CLI::App& app) {
  auto options = std::make_shared<ProgramOptions>();
  app.add_option("program", options->files, "programs: .leir, graph.json, .py, or - for stdin")->required();
  app.add_option("--profile", options->profile, "leir, short or steptp")->check(CLI::IsMember({"leir", "short", "steptp"}));
  add_reading(app, options->reading);
  return [options](Session& session) {
    return for_each_program(session, options->files, [&](const std::string& file, std::string* text) -> Result<Json> {
      CAIRN_TRY(const Loaded loaded, load_program(session, file, {}, parse_reading(options->reading)));
      CAIRN_TRY(*text, print_as(loaded.program, options->profile));
      return Json{{"hash", canonical_hash(loaded.program).hex()}, {"text", *text}, {"notes", loaded.program.notes()}};
    });
  };
}

CommandRun setup_fmt(CLI::App& app) {
  auto options = std::make_shared<ProgramOptions>();
  app.add_option("program", options->files, "programs")->required();
  app.add_option("--profile", options->profile, "leir or short")->check(CLI::IsMember({"leir", "short"}));
  app.add_flag("--in-place,-i", options->in_place, "rewrite the files (atomically)");
  return [options](Session& session) {
    return for_each_program(session, options->files, [&](const std::string& file, std::string* text) -> Result<Json> {
      CAIRN_TRY(const Loaded loaded, load_program(session, file));
      CAIRN_TRY(std::string printed, print_as(loaded.program, options->profile));
      if (options->in_place) {
        if (loaded.kind != "leir" || file == "-") {
          return Error{Code::usage, fmt::format("{}: only .leir files are rewritten in place", file), {}, {}};
        }
        CAIRN_CHECKED(write_file_atomic(file, printed));
        return Json{{"written", true}};
      }
      *text = printed;
      return Json{{"text", printed}};
    });
  };
}

namespace {

// Findings as JSON rows; the first refusal's text into `reason`.
Json findings_json(const VerifyReport& report, std::string* reason) {
  Json findings = Json::array();
  for (const Finding& f : report.findings) {
    const char* kind = f.kind == Finding::Kind::refused ? "refused" : f.kind == Finding::Kind::note ? "note" : "runtime_check";
    Json row = error_json(f.error);
    row["kind"] = kind;
    row["rule"] = f.rule;
    findings.push_back(std::move(row));
    if (f.kind == Finding::Kind::refused && reason->empty()) *reason = render(f.error);
  }
  return findings;
}

Json rules_json(std::string* text) {
  Json rows = Json::array();
  for (const Rule& rule : verifier_rules()) {
    rows.push_back(Json{{"number", rule.number}, {"name", rule.name}, {"sentence", rule.sentence}});
    *text += fmt::format("{:3}  {:<22} {}\n", rule.number, rule.name, rule.sentence);
  }
  return rows;
}

Result<Json> check_file(Session& session, const std::string& file, Reading reading, const Target& target, std::string* text) {
  CAIRN_TRY(const Loaded loaded, load_program(session, file, {}, reading));
  const VerifyReport report = verify_program(loaded.program, target);
  std::string reason;
  Json findings = findings_json(report, &reason);
  for (const Finding& f : report.findings) {
    if (f.kind == Finding::Kind::refused) {
      std::fputs((render(f.error) + "\n").c_str(), stderr);
    } else {
      *text += fmt::format("{}: {}: {}\n", file, f.kind == Finding::Kind::note ? "note" : "runtime check", f.error.message);
    }
  }
  if (report.ok()) *text += fmt::format("{}: ok\n", file);
  return Json{{"ok", report.ok()}, {"hash", canonical_hash(loaded.program).hex()}, {"findings", findings},
              {"notes", loaded.program.notes()}};
}

// Rows {leir, known?, id?} of a JSONL corpus, judged in one process.
Result<int> check_corpus(Session& session, const ProgramOptions& options, const Target& target) {
  const auto check_row = [&](const Json& row, Json& answer) -> Result<RowVerdict> {
    for (const char* key : {"workload", "strategy"}) {
      if (row.contains(key)) answer[key] = row[key];
    }
    CAIRN_TRY(const std::string text, get_string(row, "leir"));
    ParseOptions parse;
    parse.file = "leir";
    parse.reading = parse_reading(options.reading);
    if (row.contains("known")) {
      CAIRN_TRY(parse.known, read_known_tensors(row["known"]));
      if (options.reading == "automatic") parse.reading = Reading::steptp;
    }
    CAIRN_TRY(const Program program, parse_program(text, parse));
    const VerifyReport report = verify_program(program, target);
    std::string reason;
    answer["hash"] = canonical_hash(program).hex();
    answer["findings"] = findings_json(report, &reason);
    answer["notes"] = program.notes();
    answer["reason"] = reason;
    return report.ok() ? RowVerdict::yes : RowVerdict::no;
  };
  CAIRN_TRY(const unsigned jobs, worker_count(session, target));
  CAIRN_TRY(const RowCounts counts, answer_rows(session, options.corpus, jobs, Json{{"reason", ""}}, check_row));
  std::fputs(fmt::format("{} of {} programs are well formed\n", counts.yes, counts.rows).c_str(), stderr);
  return static_cast<int>(counts.worst);
}

}  // namespace

CommandRun setup_check(CLI::App& app) {
  auto options = std::make_shared<ProgramOptions>();
  auto list_rules = std::make_shared<bool>(false);
  app.add_option("program", options->files, "programs: .leir, graph.json, .py, or - for stdin");
  app.add_flag("--rules", *list_rules, "list the numbered rules");
  app.add_option("--corpus", options->corpus, "JSONL of {leir, known: [{name, role, dtype, shape}]}: one answer a line");
  add_reading(app, options->reading);
  return [options, list_rules](Session& session) -> Result<int> {
    if (*list_rules) {
      std::string text;
      const Json rows = rules_json(&text);
      session.answer(rows, text);
      return 0;
    }
    if (options->files.empty() == options->corpus.empty()) {
      return Error{Code::usage, options->files.empty() ? "no program given" : "--corpus stands beside program files", {},
                   {"cairn check FILE..., --corpus FILE.jsonl, or --rules"}};
    }
    CAIRN_TRY(const Target target, load_target(session));
    if (!options->corpus.empty()) return check_corpus(session, *options, target);
    return for_each_program(session, options->files, [&](const std::string& file, std::string* text) {
      return check_file(session, file, parse_reading(options->reading), target, text);
    });
  };
}

}  // namespace cairn
