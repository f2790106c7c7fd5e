#include "cli/programs.h"

#include <algorithm>
#include <cstdio>

#include "base/interrupt.h"

namespace cairn {

Result<int> for_each_program(Session& session, const std::vector<std::string>& files,
                             const std::function<Result<Json>(const std::string& file, std::string* text)>& fn) {
  int worst = 0;
  Json all = Json::array();
  for (const std::string& file : files) {
    if (interrupted() != 0) return Error{Code::interrupted, "interrupted", {}, {}};
    Json row{{"file", file}, {"ok", true}};
    std::string text;
    Result<Json> result = fn(file, &text);
    if (result.ok()) {
      row.update(result.value());
      if (row["ok"] == false) worst = std::max(worst, 1);
      if (!session.wants_json()) session.print(text);
    } else {
      row["ok"] = false;
      row["error"] = error_json(result.error());
      worst = std::max(worst, exit_code(result.error().code));
      if (!session.wants_json()) std::fputs((render(result.error()) + "\n").c_str(), stderr);
    }
    if (session.line.json_lines) session.print_line(dump_json(row));
    else if (session.line.json) all.push_back(std::move(row));
  }
  if (session.line.json) session.print_line(dump_json_pretty(files.size() == 1 ? all[0] : all));
  return worst;
}

}  // namespace cairn
