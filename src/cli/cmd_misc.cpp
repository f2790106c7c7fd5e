// cairn config, version, completion, man, import.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/file.h"
#include "cli/import_run.h"
#include "cli/version.h"
#include "ir/canon.h"
#include "ir/text.h"

namespace cairn {

CommandRun setup_config(CLI::App&) {
  return [](Session& session) -> Result<int> {
    Json rows = Json::object();
    std::string text;
    for (const SettingRow& row : known_settings()) {
      const Setting& s = session.settings.get(row.name);
      rows[row.name] = Json{{"value", s.value}, {"source", s.source}};
      text += fmt::format("{:<10} {:<24} {}\n", row.name, s.value.empty() ? "(none)" : s.value, s.source);
    }
    session.answer(rows, text);
    return 0;
  };
}

CommandRun setup_version(CLI::App&) {
  return [](Session& session) -> Result<int> {
    session.answer(Json{{"version", kVersion}, {"compiler", __VERSION__}},
                   fmt::format("cairn {}\nbuilt with g++ {}\n", kVersion, __VERSION__));
    return 0;
  };
}

CommandRun setup_import(CLI::App& app) {
  auto file = std::make_shared<std::string>();
  app.add_option("file", *file, "module in KernelBench's form (.py), or graph.json")->required();
  return [file](Session& session) -> Result<int> {
    std::string out = session.settings.value("out");
    if (out.empty()) {
      const std::string base = basename_of(*file);
      out = base.substr(0, base.rfind('.')) + ".cairn";
    }
    CAIRN_CHECKED(expect_file(*file));  // before a directory is made for it
    CAIRN_CHECKED(make_directories(out));
    CAIRN_TRY(const Loaded loaded, load_verified(session, *file, out));
    const std::string path = join_path(out, "program.leir");
    CAIRN_CHECKED(write_file_atomic(path, print_program(loaded.program)));
    session.answer(Json{{"ok", true}, {"program", path}, {"graph", loaded.graph_path},
                        {"hash", canonical_hash(loaded.program).hex()}, {"nests", loaded.program.body().size()}},
                   fmt::format("{} nests\nwrote {}\n", loaded.program.body().size(), path));
    return 0;
  };
}

namespace {

// Option names of a command, for completion.
std::string option_words(CLI::App& app) {
  std::string words;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += " --" + name;
  }
  return words;
}

std::string bash_completion() {
  std::string commands, cases;
  for (const Command& command : all_commands()) {
    commands += std::string(commands.empty() ? "" : " ") + command.name;
    CLI::App app;
    command.setup(app);
    std::string words = option_words(app);
    for (const SettingRow& row : known_settings()) words += std::string(" --") + row.name;
    cases += fmt::format("    {}) words=\"{} --json --json=lines --config --verbose\" ;;\n", command.name, words.substr(words.empty() ? 0 : 1));
  }
  return fmt::format(
      "# bash completion for cairn: source this file\n"
      "_cairn() {{\n"
      "  local cur=\"${{COMP_WORDS[COMP_CWORD]}}\" words=\"\"\n"
      "  if [ \"$COMP_CWORD\" = 1 ]; then COMPREPLY=( $(compgen -W \"{}\" -- \"$cur\") ); return; fi\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n{}  esac\n"
      "  case \"$cur\" in\n"
      "    -*) COMPREPLY=( $(compgen -W \"$words\" -- \"$cur\") ) ;;\n"
      "    *) COMPREPLY=( $(compgen -f -- \"$cur\") ) ;;\n"
      "  esac\n"
      "}}\n"
      "complete -o filenames -F _cairn cairn\n",
      commands, cases);
}

std::string troff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '-') out += "\\-";
    else if (c == '\\') out += "\\e";
    else out += c;
  }
  return out;
}

std::string man_page() {
  std::string text = fmt::format(".TH CAIRN 1 \"\" \"cairn {}\" \"User Commands\"\n.SH NAME\ncairn \\- optimise tensor programs one "
                                 "verified step at a time\n.SH SYNOPSIS\n.B cairn\n.I COMMAND\n[options]\n.SH COMMANDS\n", kVersion);
  for (const Command& command : all_commands()) {
    text += fmt::format(".TP\n.B {}\n{}\n", command.name, troff(command.summary));
    CLI::App app;
    command.setup(app);
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_name() == "--help") continue;
      text += fmt::format(".RS\n.TP\n.B {}\n{}\n.RE\n", troff(option->get_name(false, true)), troff(option->get_description()));
    }
  }
  text += ".SH SETTINGS\nEvery command takes these; precedence: flag, CAIRN_NAME in the environment, \\-\\-config, the nearest "
          "cairn.toml, the user's configuration, default.\n";
  for (const SettingRow& row : known_settings()) {
    text += fmt::format(".TP\n.B \\-\\-{}\n{} (default: {})\n", row.name, troff(row.help), *row.fallback ? troff(row.fallback) : "none");
  }
  text += ".SH EXIT STATUS\n0 done; 1 the answer is no; 2 usage; 3 input refused; 4 environment; 5 no verified improvement "
          "within the budget; 70 bug; 130, 143 interrupted.\n";
  return text;
}

}  // namespace

CommandRun setup_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>("bash");
  app.add_option("shell", *shell, "bash (zsh reads it through bashcompinit)")->check(CLI::IsMember({"bash"}));
  return [](Session& session) -> Result<int> {
    session.print(bash_completion());
    return 0;
  };
}

CommandRun setup_man(CLI::App&) {
  return [](Session& session) -> Result<int> {
    session.print(man_page());
    return 0;
  };
}

}  // namespace cairn
