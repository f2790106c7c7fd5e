// Budgets and the ledger of what a run has spent (search-and-memory.md "Budget and ledger").
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cairn {

// Limits of a run; 0 means unlimited. Any may be the one that stops it.
struct Budget {
  std::uint64_t evaluations = 200;
  std::uint64_t proposals = 0, compiles = 0;
  double seconds = 0;                // wall
  double device_seconds = 0;
  std::uint64_t tokens = 0;
  double dollars = 0;
};

// Parses "200evals,10min,2usd" (units: evals, proposals, compiles, s, min, h, device-s, device-min, device-h, tokens, usd);
// what is not named is unlimited. Refuses a limit that is named twice.
Result<Budget> parse_budget(std::string_view text);
std::string print_budget(const Budget& budget);

// What was spent; `refused` and `duplicates` are proposals. A result of the persistent cache is charged its recorded cost.
// An evaluation is the first time a program's hash reaches lowering in this run.
struct Ledger {
  std::uint64_t evaluations = 0, proposals = 0, refused = 0, compiles = 0, duplicates = 0;
  double wall_seconds = 0, device_seconds = 0, dollars = 0;
  std::uint64_t tokens = 0;
};

// Refuses (usage) a budget whose only limits are tokens or dollars where nothing spends them: such a run would not end.
Result<void> check_free_budget(const Budget& budget);

// Empty while the budget lasts, else the stop reason: "evaluations", "proposals", "compiles", "seconds", "device seconds",
// "tokens", "dollars".
std::string exhausted_limit(const Budget& budget, const Ledger& ledger);

}  // namespace cairn
