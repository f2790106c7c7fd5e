// cairn search: one search with every knob.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/file.h"
#include "cli/run_search.h"
#include "cli/summary.h"
#include "ir/text.h"

namespace cairn {

CommandRun setup_search(CLI::App& app) {
  auto file = std::make_shared<std::string>();
  app.add_option("program", *file, "program: .leir, graph.json or .py")->required();
  return [file](Session& session) -> Result<int> {
    CAIRN_TRY(const Loaded loaded, load_verified(session, *file));
    const std::string out = session.settings.value("out");
    CAIRN_TRY(const SearchRun run, run_search(session, loaded, out));
    std::string text = summary_text(run);
    Json json = summary_json(run);
    json["ok"] = run.improved;
    if (!out.empty()) {
      Trace trace;
      trace.from = canonical_hash_of(loaded.program);
      trace.actions = run.trace;
      CAIRN_CHECKED(write_file_atomic(join_path(out, "best.leir"), print_program(run.best)));
      CAIRN_CHECKED(write_file_atomic(join_path(out, "best.trace"), print_trace(trace)));
      text += fmt::format("wrote {0}/best.leir, {0}/best.trace and {0}/journal.jsonl\n", out);
    }
    session.answer(json, text);
    return run.improved ? 0 : 5;
  };
}

}  // namespace cairn
