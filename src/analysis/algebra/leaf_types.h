// The types that conversions and comparisons take from their leaves (leir.md "Types").
#pragma once
#include "ir/program.h"

namespace cairn::algebra {

// The widest type among the leaves a conversion or a comparison computes in: 0 integers, 1 f32, 2 f64.
int widest_leaf(const Program& program, const Expr& e);
// True for nodes whose operands are computed in a type of their own leaves: conversions, comparisons, isnan.
bool sets_type(const Expr& e);
// True unless the node sets a type and the operands' leaves give another one than those of `before`.
bool same_leaf_types(const Program& program, const Expr& before, const Expr& after);

}  // namespace cairn::algebra
