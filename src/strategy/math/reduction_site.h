// Reductions as factorization sees them: where the updates of a tensor stand, and that they start and close there.
#pragma once
#include <string>
#include <vector>

#include "ir/self_update.h"
#include "strategy/strategy.h"

namespace cairn {

// Numbers of the legality conditions; 1 and 2 are those of identity_step.h (3 of it cannot fail here: no type goes).
enum ReductionCondition : int {
  kHasFactor = 3,   // every update of the element inside the loops has the factor
  kStarts = 4,      // the element starts with the loops, or right before them
  kInvariant = 5,   // the factor is one value for all updates of an element
  kUnread = 6,      // nothing reads the element before the loops close
  kOnce = 7,        // every scaled element was updated, and is scaled once
  kOrder = 8,       // through max and min: the factor is proved to be 0 or more
};

// The updates of one tensor inside one statement.
struct Reduction {
  std::string tensor;
  UpdateOp op = UpdateOp::add;
  StmtPath root;                          // the statement the loops close with
  std::vector<StmtPath> updates;          // equations, text order
  std::vector<const Stmt*> element;       // loops inside root that the element uses, outermost first
  std::vector<const Stmt*> reduced;       // the others
  std::vector<ExprPtr> tests;             // conjuncts around the updates on loops that are not reduced
};

// The updates of the tensor below `root`: every write of it there is an update by one operator, + - max or min, of one
// element form under the same guards (kHasFactor), and nothing else there reads it (kUnread).
Result<Reduction> find_reduction(const Program& program, const StmtPath& root, const std::string& tensor);
// kStarts, and of kOnce that every scaled element was updated; asked of the
// program after the rewrite, with the scaling equation at `scaling` in the statement behind the root.
Result<void> check_start(const Program& before, const Program& after, const Reduction& reduction, const StmtPath& scaling);
// kOnce: no two iterations of the loops that the element uses meet one element.
Result<void> check_once(const Program& program, const Reduction& reduction);

}  // namespace cairn
