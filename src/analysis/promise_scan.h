// Recognises scans X_{i} = if_then_else(i>0, X_{i-1}, neutral) op e (internal to the promise checks).
#pragma once
#include <optional>
#include <vector>

#include "analysis/access.h"
#include "ir/self_update.h"

namespace cairn {

// The operator if the accesses of one tensor below `loop` are a scan over it: one equation writes X at
// subscripts with i plus a constant in one place and reads X one step before under a condition equivalent to
// "not the first iteration"; other reads name the element of their own iteration, after it is written.
std::optional<UpdateOp> scan_op(const Stmt& loop, const std::vector<const Access*>& accesses);

}  // namespace cairn
