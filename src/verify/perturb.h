// A program with a rounding more behind every operation, up or down at random: what its results owe to rounding.
#pragma once
#include "ir/program.h"

namespace cairn {

// The program with every float operation's result multiplied by one unit more or less than 1, chosen by a hash of the seed,
// the operation and the loop variables. The interpreter rounds stores at random; this reaches inside expressions, where
// x+z-z loses its digits. The operands of comparisons are left alone unless `comparisons` is set: then ties may turn.
Program perturb_operations(const Program& program, std::uint64_t seed, bool comparisons = false);

}  // namespace cairn
