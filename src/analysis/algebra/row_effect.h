// What a row at a match does to an equation besides keeping its value over the reals.
#pragma once
#include "analysis/algebra/match.h"
#include "ir/self_update.h"

namespace cairn::algebra {

// The accumulator's place in the right side of a self-update.
struct Accumulator {
  bool is_update = false;
  UpdateOp op = UpdateOp::add;
  ExprPath path;
};
Accumulator accumulator_of(const Stmt& equation);
// Does what the match takes hold the accumulator?
bool reaches_accumulator(const Match& match, const Accumulator& accumulator);
// Conversions and comparisons above the place `path` compute in the type they did.
bool keeps_types(const Program& program, const ExprPtr& before, const ExprPtr& after, const ExprPath& path);
// The row's result has the bits that the equation had.
bool is_exact_at(const Program& program, const Stmt& equation, const Rule& rule, const Match& match);

}  // namespace cairn::algebra
