// Random rows and whole memories for the tests of the store.
#pragma once
#include <string>

#include "base/rng.h"
#include "memory/store.h"

namespace cairn {

// A row that check_evidence takes, every field drawn; `run` and `number` make its id.
Evidence random_evidence(Rng& rng, const std::string& run, std::uint64_t number);
// A memory of a few rows, runs, cards and decisions drawn from a small set of keys, so that two of them overlap and conflict.
MemoryContent random_memory(Rng& rng);
// Without the cards that every memory holds.
MemoryContent without_built_in(MemoryContent content);
// Every field as text, for messages and equality.
std::string describe(const Evidence& row);
std::string describe(const MemoryContent& content);

}  // namespace cairn
