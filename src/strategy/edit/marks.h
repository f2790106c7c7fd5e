// What loop_parallelization and loop_vectorization share: setting a kind that is a promise, and taking it back.
#pragma once
#include <initializer_list>
#include <string>

#include "analysis/promise.h"
#include "strategy/strategy.h"

namespace cairn {

// True if a loop around the statement has one of the kinds.
bool loop_of_kind_above(const Body& body, const StmtPath& path, std::initializer_list<LoopKind> kinds);
// Conditions (1) kind, (2) promise, (3, for P) storage of every s and l tensor. `kind` is what the loop gets:
// `promised`, or L to take it back.
Result<Step> apply_mark(const Program& program, const Target& target, const StmtPath& path, LoopKind kind,
                        LoopKind promised, const std::string& strategy);
// The storage rule for every s and l temporary: the first refusal, marked with the condition.
Result<void> check_all_storage(const Program& program, const Target& target, int condition);

}  // namespace cairn
