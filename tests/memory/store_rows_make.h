// Random rows and whole memories for the tests of the store.
#pragma once
#include <string>

#include "base/rng.h"
#include "memory/store.h"

namespace cairn {

// A row that check_evidence takes, every field drawn; `run` and `number` make its id.
Evidence random_evidence(Rng& rng, const std::string& run, std::uint64_t number);
// Every field as text, for messages and equality.
std::string describe(const Evidence& row);
std::string describe(const MemoryContent& content);

}  // namespace cairn
