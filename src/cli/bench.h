// Subcommands of `cairn bench`, one file each.
#pragma once
#include "cli/command.h"

namespace cairn {

CommandRun setup_bench_mutation(CLI::App& app);
CommandRun setup_bench_strategies(CLI::App& app);
CommandRun setup_bench_memory(CLI::App& app);
// The modes of the memory's policy on the simulated tasks of a world (memory/simulation.h): warm, cold, and without the
// task's family.
Result<int> bench_memory_sim(Session& session, std::uint64_t world);
CommandRun setup_bench_verify(CLI::App& app);
CommandRun setup_bench_search(CLI::App& app);

}  // namespace cairn
