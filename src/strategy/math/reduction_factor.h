// A factor leaves a reduction, or enters it: the part of factorization and expand_factorization that works on nests.
//
//   L_i L_k [ E_{i}=E_{i}+s_{i}*f ]  <=>  L_i L_k [ E_{i}=E_{i}+f ]  L_i [ E_{i}=E_{i}*s_{i} ]
#pragma once
#include "strategy/math/factor_terms.h"
#include "strategy/strategy.h"

namespace cairn {

// The numbers of the conditions are those of factorization.cpp.
// Takes the factor out of the updates of the tensor that `equation` updates, after the loop.
Result<Step> factor_out(const Program& program, const StmtPath& equation, const Factor& factor, const StmtPath& loop);
// Multiplies the scaling `X=X*s` at `scaling` into the updates of X in the statement before it. The action of
// factor_out that undoes it goes to `*back`.
struct FactorBack {
  StmtPath equation, loop;
  Factor factor;
};
Result<Step> factor_in(const Program& program, const StmtPath& scaling, FactorBack* back);

}  // namespace cairn
