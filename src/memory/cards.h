// The knowledge that every memory starts with: directions, edges and local strategies, from data files and strategy pages.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "memory/store.h"

namespace cairn {

// Built-in cards in the order of their keys; the other lists are empty. A memory file holds them as they are: neither imports
// nor merges change a card of the same name.
const MemoryContent& built_in_cards();
bool is_built_in(const DirectionCard& card);
bool is_built_in(const LocalCard& card);
bool is_built_in(const EdgeCard& card);

// Bottleneck classes by direction, as the policy takes them.
std::map<std::string, std::vector<std::string>> list_triggers(const std::vector<DirectionCard>& directions);
// Directions whose edge from `origin` does not apply at a bottleneck.
std::set<std::string> list_closed(const std::vector<EdgeCard>& edges, const std::string& origin, const std::string& bottleneck);

}  // namespace cairn
