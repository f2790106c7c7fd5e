// cairn show, cairn fmt, cairn check.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/file.h"
#include "cli/programs.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "verify/verify.h"

namespace cairn {

namespace {

Result<std::string> print_as(const Program& program, const std::string& profile) {
  if (profile == "steptp") return print_steptp(program);
  return print_program(program, profile == "short" ? Profile::short_form : Profile::leir);
}

struct ProgramOptions {
  std::vector<std::string> files;
  std::string profile = "leir";
  bool in_place = false;
};

}  // namespace

CommandRun setup_show(CLI::App& app) {
  auto options = std::make_shared<ProgramOptions>();
  app.add_option("program", options->files, "programs: .leir, graph.json, .py, or - for stdin")->required();
  app.add_option("--profile", options->profile, "leir, short or steptp")->check(CLI::IsMember({"leir", "short", "steptp"}));
  return [options](Session& session) {
    return for_each_program(session, options->files, [&](const std::string& file, std::string* text) -> Result<Json> {
      CAIRN_TRY(const Loaded loaded, load_program(session, file));
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

CommandRun setup_check(CLI::App& app) {
  auto options = std::make_shared<ProgramOptions>();
  auto list_rules = std::make_shared<bool>(false);
  app.add_option("program", options->files, "programs");
  app.add_flag("--rules", *list_rules, "list the numbered rules");
  return [options, list_rules](Session& session) -> Result<int> {
    if (*list_rules) {
      Json rows = Json::array();
      std::string text;
      for (const Rule& rule : verifier_rules()) {
        rows.push_back(Json{{"number", rule.number}, {"name", rule.name}, {"sentence", rule.sentence}});
        text += fmt::format("{:3}  {:<22} {}\n", rule.number, rule.name, rule.sentence);
      }
      session.answer(rows, text);
      return 0;
    }
    if (options->files.empty()) return Error{Code::usage, "no program given", {}, {"cairn check FILE..., or --rules"}};
    CAIRN_TRY(const Target target, load_target(session));
    return for_each_program(session, options->files, [&](const std::string& file, std::string* text) -> Result<Json> {
      CAIRN_TRY(const Loaded loaded, load_program(session, file));
      const VerifyReport report = verify_program(loaded.program, target);
      Json findings = Json::array();
      for (const Finding& f : report.findings) {
        const char* kind = f.kind == Finding::Kind::refused ? "refused" : f.kind == Finding::Kind::note ? "note" : "runtime_check";
        Json row = error_json(f.error);
        row["kind"] = kind;
        row["rule"] = f.rule;
        findings.push_back(std::move(row));
        if (f.kind == Finding::Kind::refused) {
          std::fputs((render(f.error) + "\n").c_str(), stderr);
        } else if (!session.wants_json()) {
          *text += fmt::format("{}: {}: {}\n", file, kind, f.error.message);
        }
      }
      if (report.ok()) *text += fmt::format("{}: ok\n", file);
      return Json{{"ok", report.ok()}, {"hash", canonical_hash(loaded.program).hex()}, {"findings", findings}};
    });
  };
}

}  // namespace cairn
