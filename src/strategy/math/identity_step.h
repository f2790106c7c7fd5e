// What the strategies made of table rows share: sites, applying a row at a match, side conditions, the inverse.
//
// Their legality conditions are
// (1) the place is right: the match does not reach across the accumulator of a self-update, no equation becomes or stops
//     being one, and nothing invented reads the tensor written,
// (2) no side condition is known to fail (they are proved or recorded),
// where a row may lose or bring in elements,
// (3) types stay: what conversions and comparisons around the place compute in is as before,
// and, where a row invents a name,
// (4) it is made of elements that the program reads at this place or could read there: float, of the target's compute
//     type, in bounds, written before.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "analysis/algebra/match.h"
#include "analysis/algebra/prove.h"
#include "strategy/strategy.h"

namespace cairn {

// How a strategy uses its rows.
struct IdentityUse {
  std::string_view strategy;
  int conditions = 2;                // how many of them apply
  std::string_view invented = {};    // name of the parameter that gives an invented name's value; empty: no such row
  bool enabling = false;             // recorded: the step is judged at the end of its sequence
  // Whether a match may be listed and applied (null: all): splits take single elements only.
  bool (*takes)(const ExprPtr& root, const algebra::Match& match) = nullptr;
};

// The parameters equation, rule, at, and the invented one if the strategy has it.
std::vector<Param> identity_params(const IdentityUse& use, std::string_view help_of_invented = {});
// Every equation, rule and match that apply_identity accepts; at most 64 an equation.
std::vector<Args> list_identity_sites(const IdentityUse& use, const Program& program);
Result<Step> apply_identity(const IdentityUse& use, const Program& program, const Args& args);

// The use of a strategy of this family by name, or null.
const IdentityUse* find_identity_use(std::string_view strategy);

}  // namespace cairn
