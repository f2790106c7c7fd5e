// Are two neighbouring statements independent? By names first, then by dependence analysis.
#pragma once
#include <string>
#include <vector>

#include "ir/program.h"

namespace cairn {

// Tensors that both statements mention, at least one of them writing.
std::vector<std::string> shared_names(const Stmt& a, const Stmt& b);
// The conditions that a refusal names: common elements, and updates of the same elements.
struct IndependenceConditions {
  int touch = 2;
  int update = 3;
};
// Neither of two neighbouring statements writes an element that the other reads or writes. A temporary that each fills
// for itself before reading it does not count; a binding that the other statement uses does.
Result<void> check_independent(const Program& program, const StmtPath& first, const StmtPath& second, const IndependenceConditions& conditions = {});

}  // namespace cairn
