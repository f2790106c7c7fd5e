// Random small programs that the verifier accepts: chains of element-wise, transposing, reducing, shifting, convolving
// and imperfect nests over small tensors.
#pragma once
#include <string>

#include "base/rng.h"

namespace cairn::test {

// LEIR text of one to four stages; the last writes the output D, some runs have a second output.
std::string generate_program(Rng* rng);

}  // namespace cairn::test
