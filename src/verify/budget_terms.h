// Gamma of multilinear programs, from two derived programs run in f64.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/interp.h"

namespace cairn {

// Of each element of an output: the 2-norm of its terms, and the root of their number.
struct TermNorms {
  std::vector<double> norm, root_count;
};
// Per output; empty if the program is not multilinear (sums and products of inputs and literals, guarded by
// integer conditions).
std::map<std::string, TermNorms, std::less<>> terms_norm(const Program& program, const ValueMap& inputs,
                                                         const InterpOptions& options);

// The derived programs: each element is the sum over its terms of the term's square (squares, to be run on squared
// inputs) or of 1 (count, on ones), in f64. False if the program is not multilinear.
bool derive_term_programs(const Program& program, Program* squares, Program* count);

}  // namespace cairn
