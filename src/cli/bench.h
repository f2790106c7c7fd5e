// Subcommands of `cairn bench`, one file each.
#pragma once
#include "cli/command.h"

namespace cairn {

CommandRun setup_bench_mutation(CLI::App& app);
CommandRun setup_bench_strategies(CLI::App& app);
CommandRun setup_bench_memory(CLI::App& app);
CommandRun setup_bench_verify(CLI::App& app);
CommandRun setup_bench_search(CLI::App& app);

}  // namespace cairn
