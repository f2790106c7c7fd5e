// Versions of the memory file: creation, migration, and what is refused.
#pragma once
#include "memory/store_sqlite.h"

namespace cairn {

// Refuses (parse) what is no memory file and schemas newer than ours; gives the schema's version, 0 for an empty file.
Result<int> read_memory_version(const Database& database);
// Brings the file to kMemoryVersion in one transaction; new ones get the schema. Safe against others doing the same.
Result<void> migrate_memory(const Database& database);

}  // namespace cairn
