// Internal to budget: gamma of multilinear programs, from two derived programs run in f64.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/interp.h"

namespace cairn {

// Per output the 2-norm of an element's terms times the root of their number; empty if the program is not
// multilinear (sums and products of inputs and literals, guarded by integer conditions).
std::map<std::string, std::vector<double>, std::less<>> terms_norm(const Program& program, const ValueMap& inputs,
                                                                   const InterpOptions& options);

}  // namespace cairn
