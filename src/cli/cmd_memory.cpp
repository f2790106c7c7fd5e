// cairn memory: the subcommands, and what they share.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <cstdio>
#include <set>
#include <string_view>

#include "cli/cmd_memory.h"
#include "cli/memory_run.h"

namespace cairn {

Result<std::string> find_memory(Session& session) {
  session.subject = memory_path(session.settings);
  if (!session.subject.empty()) return session.subject;
  return Error{Code::usage, fmt::format("memory is 'off' (from {}), expected a file", session.settings.get("memory").source), {}, {}};
}

Result<MemoryStore> open_memory(Session& session, MemoryStore::Mode mode) {
  CAIRN_TRY(const std::string path, find_memory(session));
  return MemoryStore::open(path, mode);
}

Result<void> spare_database(const std::string& path) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::string head(kMagic.size(), ' ');
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) return {};
  head.resize(std::fread(head.data(), 1, head.size(), file));
  std::fclose(file);
  if (head != kMagic) return {};
  return Error{Code::usage, path + ": is a database, expected another file to write; nothing was changed", {}, {}};
}

void add_query_options(CLI::App& app, EvidenceQuery* query) {
  app.add_option("--task", query->task, "rows of this task");
  app.add_option("--family", query->family, "rows of this operator family");
  app.add_option("--run", query->run, "rows of this run");
  app.add_option("--direction", query->direction, "rows of this direction");
  app.add_option("--local", query->local, "rows of this local strategy");
}

MemoryTotals count_totals(const MemoryContent& content) {
  std::set<std::string> tasks, runs;
  MemoryTotals totals;
  for (const Evidence& row : content.evidence) {
    ++(row.kind == EvidenceKind::inner ? totals.inner : totals.rows);
    tasks.insert(row.task.name);
    runs.insert(row.run);
  }
  totals.tasks = tasks.size();
  totals.runs = runs.size();
  return totals;
}

CommandRun setup_memory(CLI::App& app) {
  app.require_subcommand(1);
  struct Part {
    const char* name;
    const char* summary;
    CommandRun (*setup)(CLI::App&);
  };
  static constexpr Part kParts[] = {
      {"show", "directions and local strategies with what they gained; one of them with all that is known", setup_memory_show},
      {"stats", "counts of every node and edge, and what rows of each device weigh here", setup_memory_stats},
      {"why", "every term, the probabilities and the draw of a past decision", setup_memory_why},
      {"report", "draw the memory, and a run's search tree, as an HTML page", setup_memory_report},
      {"export", "write a memory as JSONL", setup_memory_export},
      {"import", "take over the entries of JSONL files", setup_memory_import},
      {"merge", "join memory files", setup_memory_merge},
      {"prune", "delete evidence by age, origin or number", setup_memory_prune}};
  std::vector<std::pair<CLI::App*, CommandRun>> runs;
  for (const Part& part : kParts) {
    CLI::App* sub = app.add_subcommand(part.name, part.summary);
    sub->fallthrough();
    runs.emplace_back(sub, part.setup(*sub));
  }
  return [runs](Session& session) -> Result<int> {
    for (const auto& [sub, run] : runs) {
      if (sub->parsed()) return run(session);
    }
    return 2;
  };
}

}  // namespace cairn
