// Joining memories: a union by key in which the larger of two entries stays, in a total order of content. So merging is
// commutative, associative and idempotent, whatever the order in which teams exchange their files.
#pragma once
#include "memory/store.h"

namespace cairn {

// Which of two entries with one key stays: trusted before untrusted, then the later, the better credited, then by content.
bool is_outranked(const Evidence& a, const Evidence& b);

// Marks everything as imported: its free text enters no prompt.
void distrust(MemoryContent* content);

// The entries of `from` that are new to `into` or outrank what it holds. Built-in cards never change.
MemoryContent select_winners(const MemoryContent& into, const MemoryContent& from, MergeCounts* counts);

}  // namespace cairn
