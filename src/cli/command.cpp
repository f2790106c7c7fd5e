#include "cli/command.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "cli/version.h"

namespace cairn {

const std::vector<Command>& all_commands() {
  static const std::vector<Command> commands{
      {"optimize", "find a faster verified program for a module: writes program, trace, C source and report", setup_optimize},
      {"import", "turn a PyTorch module into graph.json and LEIR", setup_import},
      {"show", "print a program", setup_show},
      {"check", "verify programs by every numbered rule", setup_check},
      {"fmt", "rewrite programs in the standard layout", setup_fmt},
      {"run", "execute a program on inputs", setup_run},
      {"verify", "certificates that two programs compute the same", setup_verify},
      {"emit", "lower a program to C, or write LEIR", setup_emit},
      {"strategies", "the catalogue of strategies", setup_strategies},
      {"sites", "all moves that apply to a program", setup_sites},
      {"apply", "apply one move", setup_apply},
      {"trace", "replay a trace and explain each step", setup_trace},
      {"search", "search for a faster program, with every knob", setup_search},
      {"memory", "what earlier runs taught: show, explain, exchange and prune it", setup_memory},
      {"report", "render the report of a run", setup_report},
      {"bench", "benchmarks with targets", setup_bench},
      {"doctor", "what this machine has and lacks", setup_doctor},
      {"config", "the settings and where each came from", setup_config},
      {"version", "version, build and dependencies", setup_version},
      {"completion", "shell completion script", setup_completion},
      {"man", "manual page in troff", setup_man},
  };
  return commands;
}

void Session::print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }
void Session::print_line(const std::string& text) { print(text + "\n"); }

void Session::answer(const Json& json, const std::string& text) {
  if (json.is_object() && wants_json()) {
    Json whole{{"version", kJsonVersion}};
    if (!subject.empty()) whole["file"] = subject;
    whole["ok"] = true;
    whole.update(json);
    print_line(line.json_lines ? dump_json(whole) : dump_json_pretty(whole));
    return;
  }
  if (line.json_lines) print_line(dump_json(json));
  else if (line.json) print_line(dump_json_pretty(json));
  else print(text);
}

void Session::show_wait(double seconds) {
  if (seconds < 1) return;   // a candidate or two of the other process
  const std::string what = "another process measures on this device";
  if (progress) progress->wait(what);
  else note_once("waiting: " + what);
}

void Session::note_once(const std::string& text) {
  if (noted_.insert(text).second) std::fputs(fmt::format("note: {}\n", text).c_str(), stderr);
}

std::string bug_text(const std::string& what) {
  return fmt::format("cairn: bug: {}\n  please send this line, the command and its input files; 'cairn version' says which "
                     "build this is\n", what);
}

Json error_json(const Error& e) {
  Json j{{"code", code_name(e.code)}, {"message", e.message}};
  if (!e.where.file.empty()) j["file"] = e.where.file;
  if (e.where.line > 0) {
    j["line"] = e.where.line;
    j["column"] = e.where.column;
  }
  if (!e.notes.empty()) j["notes"] = e.notes;
  return j;
}

namespace {

// Flags that every command takes; settings land in line.flags under their names.
void add_common(CLI::App& app, CommandLine& line) {
  for (const SettingRow& row : known_settings()) {
    const std::string name = row.name;
    app.add_option_function<std::string>("--" + name, [&line, name](const std::string& v) { line.flags[name] = v; }, row.help)
        ->group("Settings");
  }
  app.add_option_function<std::string>("--config", [&line](const std::string& v) { line.flags["config"] = v; },
                                       "settings file (TOML)")->group("Settings");
  app.add_flag_callback("--no-memory", [&line] { line.flags["memory"] = "off"; }, "the same as --memory off")->group("Settings");
  app.add_flag_callback("--verbose,-v", [&line] { line.verbose = true; }, "say more on stderr")->group("Settings");
  app.add_flag_function(
         "--json",
         [&line](std::int64_t) { line.json = true; }, "results as JSON; --json=lines: one line a result")
      ->group("Settings");
}

// `file` is the program that the command works on, if it got that far.
int report_error(const Error& error, bool json, const std::string& file = {}) {
  if (json) {
    Json answer{{"version", kJsonVersion}};
    if (!file.empty()) answer["file"] = file;
    answer["ok"] = false;
    answer["error"] = error_json(error);
    std::fputs((dump_json(answer) + "\n").c_str(), stdout);
    std::fflush(stdout);
  }
  std::fputs((render(error) + "\n").c_str(), stderr);
  return exit_code(error.code);
}

// A command that has subcommands needs one of them after its name; the parser's own message does not say which there are.
std::optional<Error> check_subcommand(CLI::App& app, const std::string& command, const std::string& next) {
  const std::vector<CLI::App*> known = app.get_subcommand(command)->get_subcommands([](CLI::App*) { return true; });
  if (known.empty() || next.rfind('-', 0) == 0) return std::nullopt;
  std::string names;
  for (const CLI::App* sub : known) {
    if (sub->get_name() == next) return std::nullopt;
    names += " " + sub->get_name();
  }
  const std::string found = next.empty() ? "found no subcommand" : fmt::format("unknown subcommand '{}'", next);
  return Error{Code::usage, fmt::format("{} of {}, expected one of:{}", found, command, names), {}, {}};
}

}  // namespace

int run_cli(int argc, char** argv) {
  CommandLine line;
  CLI::App app{"Cairn optimises tensor programs one verified step at a time.", "cairn"};
  app.require_subcommand(1);
  app.set_version_flag("--version", kVersion);
  app.failure_message(CLI::FailureMessage::simple);
  std::vector<std::pair<CLI::App*, CommandRun>> runs;
  for (const Command& command : all_commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    add_common(*sub, line);
    runs.emplace_back(sub, command.setup(*sub));
    // Subcommands take the settings too: their help lists them.
    for (CLI::App* nested : sub->get_subcommands([](CLI::App*) { return true; })) add_common(*nested, line);
  }
  // --json takes an optional value; CLI11's flags with values need the `=` form only.
  std::vector<std::string> arguments;
  for (int i = argc - 1; i > 0; --i) {
    const std::string a = argv[i];
    if (a == "--json=lines") {
      line.json_lines = true;
    } else {
      arguments.push_back(a);
    }
  }
  const std::string named = arguments.empty() ? "" : arguments.back();  // the first word: they stand reversed
  const bool known = std::any_of(all_commands().begin(), all_commands().end(), [&](const Command& c) { return named == c.name; });
  if (!known && !named.empty() && named[0] != '-') {
    return report_error(Error{Code::usage, fmt::format("unknown command '{}'", named), {}, {"'cairn --help' lists the commands"}},
                        line.json_lines);
  }
  if (known) {
    const std::string next = arguments.size() > 1 ? arguments[arguments.size() - 2] : "";
    if (const auto error = check_subcommand(app, named, next)) return report_error(*error, line.json_lines);
  }
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return report_error(Error{Code::usage, e.what(), {}, {"'cairn --help' and 'cairn COMMAND --help' list the words"}},
                        line.json || line.json_lines);
  }
  set_log_level(line.verbose ? LogLevel::debug : LogLevel::warning);
  install_interrupt_handlers();
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is a failed write, reported as one
  try {
    auto settings = Settings::resolve(line.flags);
    if (!settings.ok()) return report_error(settings.error(), line.json || line.json_lines);
    // The compile step reads the variable, so that every command and child agrees.
    if (const std::string& cc = settings->value("cc"); !cc.empty()) ::setenv("CAIRN_CC", cc.c_str(), 1);
    Session session(line, std::move(settings.value()));
    for (auto& [sub, run] : runs) {
      if (!sub->parsed()) continue;
      Result<int> code = run(session);
      std::fflush(stdout);
      if (std::ferror(stdout)) {
        return report_error(Error{Code::io, "standard output cannot be written (disk full or closed pipe)", {}, {}}, false);
      }
      if (code.ok()) return code.value();
      if (code.error().code == Code::interrupted && interrupted() == 15) {
        report_error(code.error(), session.wants_json(), session.subject);
        return 143;
      }
      return report_error(code.error(), session.wants_json(), session.subject);
    }
  } catch (const InternalError& e) {
    std::fputs(bug_text(e.what()).c_str(), stderr);
    return 70;
  } catch (const std::bad_alloc&) {
    return report_error(Error{Code::environment, "out of memory", {}, {}}, false);
  } catch (const std::exception& e) {
    std::fputs(bug_text(std::string("unexpected exception: ") + e.what()).c_str(), stderr);
    return 70;
  }
  return 2;
}

}  // namespace cairn
