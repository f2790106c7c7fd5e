// A step that failed, made small and kept as a file that is replayed from then on.
#pragma once
#include <string>

#include "strategy/strategy.h"

namespace cairn::test {

// Shrinks the program as long as the action applies and gives a result that does not verify or differs, writes
// tests/regress/STRATEGY-HASH.leir-pair and returns the path and the text.
std::string keep_failure(const Program& program, const Target& target, const Action& action, std::uint64_t seed);

}  // namespace cairn::test
