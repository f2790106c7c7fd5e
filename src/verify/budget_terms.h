// Gamma of multilinear programs, from two derived programs run in f64.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/interp.h"

namespace cairn {

// Of each element of an output: the 2-norm of its terms, and the root of their number.
struct TermNorms {
  std::vector<double> norm, root_count;
};
// Per output that is multilinear: sums and products of inputs and literals, guarded by integer conditions. The others are
// left out; all are where a test or the place of a store depends on computed floats.
std::map<std::string, TermNorms, std::less<>> terms_norm(const Program& program, const ValueMap& inputs,
                                                         const InterpOptions& options);

// The derived programs: each element of a multilinear output is the sum over its terms of the term's square (squares, to be
// run on squared inputs) or of 1 (count, on ones), in f64. The names of these outputs; other tensors hold zeros.
std::set<std::string, std::less<>> derive_term_programs(const Program& program, Program* squares, Program* count);

}  // namespace cairn
