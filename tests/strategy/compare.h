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
// tolerance in f64. Otherwise what differs. Unproved side conditions ("A_{i}>0 at s3 if i>0") are evaluated while `before`
// runs: inputs on which one fails somewhere are replaced by milder ones; where all fail, nothing is compared.
std::string compare_runs(const Program& before, const Program& after, Exactness claim, std::uint64_t seed,
                         const std::vector<SideCondition>& recorded = {});
// Runs that compare_runs left out because a condition failed on all inputs, since the start.
int runs_without_inputs();
// Reads and verifies a program text; fails the calling test on error.
Program read_program(const std::string& text, const std::string& file);

}  // namespace cairn::test
