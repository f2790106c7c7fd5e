// Random small programs for property and differential tests.
#pragma once
#include <cstdint>

#include "base/rng.h"
#include "ir/program.h"

namespace cairn {

// What random_program may make. Programs are well named, typed and of right arity (rules 1 to 6 hold); bounds,
// coverage, order of writes and promises are right in many and wrong in some, on purpose.
struct RandomProgramOptions {
  int nests = 3;                  // top-level statements, at most
  int depth = 3;                  // loops around an equation, at most
  std::int64_t max_extent = 6;
  double fault = 0.2;             // chance that a subscript is left unguarded though it may leave its dimension
  double guard = 0.3;             // chance of a T test around a body
  double parallel = 0.3;          // chance that a loop is P, V or U
  bool integers = true;           // whole inputs give whole values: sums in another order are the same bits
};

// Inputs A (8), C (5,6), out D (8) or (5,6), temporaries E, F, G of scope g or l; f64.
Program random_program(Rng& rng, const RandomProgramOptions& options = {});

}  // namespace cairn
