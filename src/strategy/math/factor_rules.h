// What factorization, collect and their inverses take of the table of identities.
#pragma once
#include <string_view>
#include <vector>

#include "analysis/algebra/match.h"
#include "strategy/strategy.h"

namespace cairn {

// The rule name that stands for a factor that leaves or enters a reduction.
inline constexpr std::string_view kReductionRule = "reduction";

// IdentityUse::takes of the four strategies: whole sums; products that are no term of a sum; two terms of a longer sum that
// share a variable; products that are a term of a sum.
bool takes_factorization(const ExprPtr& root, const algebra::Match& match);
bool takes_expand_factorization(const ExprPtr& root, const algebra::Match& match);
bool takes_collect(const ExprPtr& root, const algebra::Match& match);
bool takes_expand_collect(const ExprPtr& root, const algebra::Match& match);

// Sites and application by rows. A row through max or min is taken only where its conditions are proved.
std::vector<Args> list_factor_sites(std::string_view strategy, const Program& program);
Result<Step> apply_factor_rule(std::string_view strategy, const Program& program, const Args& args);

}  // namespace cairn
