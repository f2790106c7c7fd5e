// Random small programs that the verifier accepts: chains of element-wise, transposing, reducing, shifting, convolving
// and imperfect nests over small tensors.
#pragma once
#include <string>
#include <string_view>

#include "base/rng.h"

namespace cairn::test {

// LEIR text of one to four stages; the last writes the output D, some runs have a second output.
std::string generate_program(Rng* rng);
// The same, or half of the time what a builder of the strategy's own makes (the table is in generator.cpp).
std::string generate_program_for(std::string_view strategy, Rng* rng);

// Nests that share expressions, factors and terms (generator_algebra2.cpp).
std::string generate_sharing(Rng* rng);
// Several nests of one form over different extents, with traps (generator_graph.cpp).
std::string generate_twins(Rng* rng);
// Convolutions, poolings and stencils over several inputs, with traps (generator_windows.cpp).
std::string generate_windows(Rng* rng);
// Sums of products, reductions with factors, scalings behind reductions (generator_factors.cpp).
std::string generate_factors(Rng* rng);

// LEIR text with the rows of a softmax in many spellings, and traps for the strategies that make them run online.
std::string generate_softmax(Rng* rng);
// Temporaries that layout, placement and storage strategies can move (generator_layout.cpp).
std::string generate_layout(Rng* rng);
// Quotients, powers, exponentials and logarithms (generator_math.cpp).
std::string generate_algebra(Rng* rng);
// Literals, neutral operands and conditions of loop variables (generator_constants.cpp).
std::string generate_constants(Rng* rng);

}  // namespace cairn::test
