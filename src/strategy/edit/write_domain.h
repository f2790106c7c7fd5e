// The elements that a nest writes through one equation, as a nest of their own: copies back, combinations of parts.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "strategy/edit/simplify.h"

namespace cairn {

struct WriteDomain {
  std::vector<LoopHeader> loops;   // those the equation's subscripts use, all L, under new names
  Substitution names;              // from the nest's loop variables to these
  std::vector<ExprPtr> tests;      // conjuncts above the equation on these loops alone
  bool dropped_test = false;       // a test on other loops stands above: some elements may never be written
  const Stmt* data_test = nullptr; // a test above that reads a tensor
};
// `enclosing` are the loops and tests around the equation; `name` gives the k-th new loop variable.
WriteDomain write_domain(const Stmt& equation, const std::vector<const Stmt*>& enclosing, const std::function<std::string(std::size_t)>& name);
// Does no element come twice, so that it may be updated under the domain's loops? Sufficient only: each loop is a digit of a
// subscript that is a mixed-radix number. `subscripts` in the new names.
bool writes_once(const WriteDomain& domain, const std::vector<ExprPtr>& subscripts);
// The body, in the new names, under the domain's tests and loops.
Body wrap_domain(const WriteDomain& domain, Body body);

}  // namespace cairn
