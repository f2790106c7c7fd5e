#include "cli/programs.h"

#include <algorithm>
#include <cstdio>

#include "base/check.h"
#include "base/interrupt.h"

namespace cairn {

namespace {

// One file's answer; a failed check is that file's answer too, so that the others still get theirs.
int answer_file(Session& session, const std::string& file, const ProgramWork& fn, Json& row, std::string& text) {
  try {
    Result<Json> result = fn(file, &text);
    if (result.ok()) {
      row.update(result.value());
      return row["ok"] == false ? 1 : 0;
    }
    row["ok"] = false;
    row["error"] = error_json(result.error());
    if (!session.wants_json()) std::fputs((render(result.error()) + "\n").c_str(), stderr);
    return exit_code(result.error().code);
  } catch (const InternalError& e) {
    row["ok"] = false;
    row["error"] = Json{{"code", "bug"}, {"message", e.what()}};
    std::fputs((file + ": " + bug_text(e.what())).c_str(), stderr);
    return 70;
  }
}

}  // namespace

Result<int> for_each_program(Session& session, const std::vector<std::string>& files,
                             const ProgramWork& fn) {
  int worst = 0;
  Json all = Json::array();
  if (std::count(files.begin(), files.end(), "-") > 1) {
    return Error{Code::usage, "standard input is named twice, it can be read once", {}, {}};
  }
  for (const std::string& file : files) {
    if (interrupted() != 0) return Error{Code::interrupted, "interrupted", {}, {}};
    Json row{{"version", kJsonVersion}, {"file", file}, {"ok", true}};
    std::string text;
    worst = std::max(worst, answer_file(session, file, fn, row, text));
    if (!session.wants_json()) session.print(text);
    if (session.line.json_lines) session.print_line(dump_json(row)), std::fflush(stdout);
    else if (session.line.json) all.push_back(std::move(row));
  }
  if (session.line.json) session.print_line(dump_json_pretty(files.size() == 1 ? all[0] : all));
  return worst;
}

}  // namespace cairn
