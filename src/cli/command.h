// Subcommands: one file each, one row in the table of command.cpp.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/result.h"
#include "cli/settings.h"

namespace CLI {
class App;
}

namespace cairn {

// What the common flags gave; filled by the parser before run().
struct CommandLine {
  std::map<std::string, std::string> flags;   // settings given as flags, by name
  bool json = false;
  bool json_lines = false;
  bool verbose = false;
};

// The environment a command runs in. Results go to out(), the rest to stderr.
class Session {
 public:
  Session(CommandLine words, Settings resolved)
      : line(std::move(words)), settings(std::move(resolved)), simulated(settings.value("device") == "simulated"),
        clock(simulated ? static_cast<Clock&>(simulated_clock) : system_clock()) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  CommandLine line;
  Settings settings;
  const bool simulated;          // --device simulated: predicted times, nothing is compiled or run
  FakeClock simulated_clock;     // advances by its evaluations only, so that two runs are the same to the byte
  Clock& clock;
  Progress* progress = nullptr;  // of the search under way, if there is one
  std::string subject;   // the program file that the command works on; `file` of JSON answers and errors
  // Text on stdout, as it is.
  void print(const std::string& text);
  void print_line(const std::string& text);
  // A result: the JSON with --json or --json=lines (one line), else the text. An object gets `version`, `file` (the
  // subject) and `ok` first.
  void answer(const Json& json, const std::string& text);
  // Shows that another process measures, once that has lasted a while; one note where no progress is shown.
  void show_wait(double seconds);
  // Says something on stderr unless it was said before.
  void note_once(const std::string& text);
  bool wants_json() const { return line.json || line.json_lines; }

 private:
  std::set<std::string> noted_;
};

// What a session shows while this lives.
class ShownProgress {
 public:
  ShownProgress(Session& session, Progress* progress) : session_(session) { session.progress = progress; }
  ShownProgress(const ShownProgress&) = delete;
  ShownProgress& operator=(const ShownProgress&) = delete;
  ~ShownProgress() { session_.progress = nullptr; }

 private:
  Session& session_;
};

// Returns the exit code, or an error that main renders and maps.
using CommandRun = std::function<Result<int>(Session&)>;

struct Command {
  const char* name;
  const char* summary;
  // Adds options to the subcommand's parser and returns what runs after parsing.
  CommandRun (*setup)(CLI::App& app);
};
const std::vector<Command>& all_commands();

// Version of the JSON that commands answer (docs/formats/answers.md).
inline constexpr int kJsonVersion = 1;
// Error as JSON: {code, message, file, line, column, notes}.
Json error_json(const Error& error);
// What a failed check of ours says on stderr: what happened and what to send.
std::string bug_text(const std::string& what);

CommandRun setup_show(CLI::App& app);
CommandRun setup_check(CLI::App& app);
CommandRun setup_fmt(CLI::App& app);
CommandRun setup_run(CLI::App& app);
CommandRun setup_verify(CLI::App& app);
CommandRun setup_emit(CLI::App& app);
CommandRun setup_import(CLI::App& app);
CommandRun setup_strategies(CLI::App& app);
CommandRun setup_sites(CLI::App& app);
CommandRun setup_apply(CLI::App& app);
CommandRun setup_trace(CLI::App& app);
CommandRun setup_search(CLI::App& app);
CommandRun setup_optimize(CLI::App& app);
CommandRun setup_memory(CLI::App& app);
CommandRun setup_report(CLI::App& app);
CommandRun setup_bench(CLI::App& app);
CommandRun setup_doctor(CLI::App& app);
CommandRun setup_config(CLI::App& app);
CommandRun setup_version(CLI::App& app);
CommandRun setup_completion(CLI::App& app);
CommandRun setup_man(CLI::App& app);

// Parses the whole command line and runs; the exit code of cli.md.
int run_cli(int argc, char** argv);

}  // namespace cairn
