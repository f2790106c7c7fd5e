// Data files of the memory that are compiled in.
#pragma once
#include <string_view>

namespace cairn {

// schema.sql: the tables and views of a new memory file.
std::string_view memory_schema_text();

}  // namespace cairn
