// What the subcommands of `cairn memory` share.
#pragma once
#include "cli/command.h"
#include "memory/store.h"

namespace cairn {

// The file that --memory names, or the user's; it becomes the session's subject. Usage error with --memory off.
Result<std::string> find_memory(Session& session);
// Opens that file.
Result<MemoryStore> open_memory(Session& session, MemoryStore::Mode mode);
// Options that select evidence; `query` lives as long as the command.
void add_query_options(CLI::App& app, EvidenceQuery* query);
// "1,234 rows of 5 tasks"-like counts for a content's evidence.
struct MemoryTotals {
  std::uint64_t rows = 0, tasks = 0, runs = 0;
};
MemoryTotals count_totals(const MemoryContent& content);

CommandRun setup_memory_show(CLI::App& app);
CommandRun setup_memory_stats(CLI::App& app);
CommandRun setup_memory_why(CLI::App& app);
CommandRun setup_memory_report(CLI::App& app);
CommandRun setup_memory_export(CLI::App& app);
CommandRun setup_memory_import(CLI::App& app);
CommandRun setup_memory_merge(CLI::App& app);
CommandRun setup_memory_prune(CLI::App& app);

}  // namespace cairn
