#include "base/result.h"

#include <array>

#include <fmt/core.h>

#include "base/check.h"

namespace cairn {

namespace {
struct CodeRow {
  Code code;
  const char* name;
  int exit;
};
// The one table of codes and exit codes (cli.md "Exit codes").
constexpr std::array<CodeRow, 13> kCodes{{
    {Code::usage, "usage", 2},
    {Code::illegal, "illegal", 1},
    {Code::no_site, "no_site", 1},
    {Code::parse, "parse", 3},
    {Code::verify, "verify", 1},
    {Code::compile, "compile", 1},
    {Code::run, "run", 1},
    {Code::mismatch, "mismatch", 1},
    {Code::timeout, "timeout", 1},
    {Code::io, "io", 4},
    {Code::environment, "environment", 4},
    {Code::remote, "remote", 4},
    {Code::interrupted, "interrupted", 130},
}};
const CodeRow& row(Code code) { return kCodes[static_cast<std::size_t>(code)]; }
}  // namespace

const char* code_name(Code code) { return row(code).name; }
int exit_code(Code code) { return row(code).exit; }

std::string render(const Error& error) {
  std::string text;
  const Location& w = error.where;
  if (w.line > 0) {
    text = fmt::format("{}:{}:{}: error: {}", w.file.empty() ? "<text>" : w.file, w.line, w.column, error.message);
    if (!w.line_text.empty()) {
      constexpr std::size_t kWidth = 160;
      std::size_t column = w.column > 0 ? w.column - 1 : 0;
      std::size_t start = column > kWidth / 2 ? column - kWidth / 2 : 0;
      if (start > w.line_text.size()) start = 0;
      std::string shown = w.line_text.substr(start, kWidth);
      for (char& c : shown) {
        // Control characters, and what is no ASCII: a cut or damaged sequence must not reach the terminal.
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
        else if (static_cast<unsigned char>(c) >= 0x7f) c = '?';
      }
      text += fmt::format("\n  {}\n  {}^", shown, std::string(column - start, ' '));
    }
  } else if (!w.file.empty()) {
    text = fmt::format("{}: error: {}", w.file, error.message);
  } else {
    text = fmt::format("error: {}", error.message);
  }
  for (const std::string& note : error.notes) text += "\n  note: " + note;
  return text;
}

void fail_check(const char* condition, const char* file, int line, const std::string& note) {
  std::string base = file;
  if (auto at = base.rfind("src/"); at != std::string::npos) base = base.substr(at);
  throw InternalError(fmt::format("{}:{}: check failed: {}{}{}", base, line, condition, note.empty() ? "" : ": ", note));
}

}  // namespace cairn
