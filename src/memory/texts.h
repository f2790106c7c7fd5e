// Data files of the memory that are compiled in.
#pragma once
#include <string_view>
#include <vector>

namespace cairn {

// schema.sql: the tables and views of a new memory file.
std::string_view memory_schema_text();
// directions.json: the eight directions and what is known of going from one to another.
std::string_view memory_directions_text();
// locals.json: cards of composites and of strategies on CUDA source.
std::string_view memory_locals_text();

// prior.jsonl: what our own runs learned, for a new memory (docs/memory.md).
std::string_view memory_prior_text();

// A strategy's page up to its first case.
struct PageText {
  std::string_view name, text;
};
const std::vector<PageText>& strategy_page_texts();

}  // namespace cairn
