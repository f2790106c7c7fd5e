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
// Refuses a file to write that is an SQLite database: most likely a memory that the words name by mistake.
Result<void> spare_database(const std::string& path);
// Counts of a content's evidence; `rows` are those of proposals, `inner` of the actions inside composites.
struct MemoryTotals {
  std::uint64_t rows = 0, inner = 0, tasks = 0, runs = 0;
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
