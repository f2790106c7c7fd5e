// The promises P, V, B (leir.md "Promises"): what a loop's kind asserts, decided by dependence analysis.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/dependence.h"
#include "analysis/flow.h"
#include "analysis/target.h"

namespace cairn {

// How a tensor that the loop carries is allowed: a reduction or a scan by one operator.
struct CarriedChain {
  std::string tensor;
  UpdateOp op = UpdateOp::add;
  bool scan = false;
  bool exact = false;        // max, min, integers: reassociation changes nothing
};
struct PromiseVerdict {
  bool ok = true;
  std::vector<CarriedChain> chains;   // what the kind would reassociate
  Error reason;                       // why not, located
};
// Would the loop keep the promise of `kind` (P, V or B)? Independent of the kind it has now. Temporaries of
// scope s and l are private to an iteration of P and of block axes (l also of thread axes) where every read
// sees a write of its own iteration; the lanes of V share them.
PromiseVerdict check_promise(const Program& program, const StmtPath& loop, LoopKind kind, const Target& target);
// The same with facts that are already there.
PromiseVerdict check_promise(FlowAnalysis& flow, const Program& program, const StmtPath& loop, LoopKind kind);

// Storage: is `scope` legal for the tensor, with the loops' kinds as they stand?
Result<void> check_storage(const Program& program, const std::string& tensor, Scope scope, const Target& target);

}  // namespace cairn
