// Memories as JSONL, for exchange and reading (docs/formats/memory.md): a first line, then one line an entry.
#pragma once
#include <string>

#include "memory/store.h"

namespace cairn {

// Version of the first line; a newer one is refused.
inline constexpr int kExchangeVersion = 1;

// All entries in the order of their keys; built-in cards are left out, since every memory has them.
std::string print_exchange(const MemoryContent& content);
// Refuses (parse) with file and line what is no entry; entries are trusted until somebody distrusts them.
Result<MemoryContent> parse_exchange(const std::string& text, const std::string& file);

}  // namespace cairn
