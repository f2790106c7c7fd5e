// Facts of a program's writes that preparing needs (identity rung, internal).
#pragma once
#include <map>
#include <set>
#include <string>

#include "ir/program.h"
#include "ir/self_update.h"

namespace cairn::identity {

// The loops around the writes of each tensor, numbered in the order of the text.
std::map<std::string, std::set<std::uint32_t>, std::less<>> loops_around_writes(const Program& program);

// Whether `operand`, of an update by `op` of a tensor of `dtype`, is a partial result or some joined by `op`: elements of
// temporaries of the same dtype that accumulate by the same operator.
bool sums_partials(const Program& program, const Expr& operand, Dtype dtype, UpdateOp op);

}  // namespace cairn::identity
