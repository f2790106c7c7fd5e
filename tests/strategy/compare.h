// Compares two programs by interpreting both on the same inputs, at the class a step claims.
#pragma once
#include <cstdint>
#include <string>

#include "ir/interp.h"
#include "strategy/strategy.h"

namespace cairn::test {

// Seeded inputs for `in param const io`: small floats of both signs, integers in [0, 4).
ValueMap random_inputs(const Program& program, std::uint64_t seed);
// Empty if the outputs agree: bit for bit (zero's sign and NaN payloads aside) for exact, else within a relative
// tolerance in f64. Otherwise what differs.
std::string compare_runs(const Program& before, const Program& after, Exactness claim, std::uint64_t seed);
// Reads and verifies a program text; fails the calling test on error.
Program read_program(const std::string& text, const std::string& file);

}  // namespace cairn::test
