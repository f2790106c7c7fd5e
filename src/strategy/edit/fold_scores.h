// Computing scores where they are used: temporaries that only one online pass reads become scalars of its step.
#pragma once
#include <string>
#include <vector>

#include "strategy/edit/attention_pattern.h"

namespace cairn {

// The statements that compute x in one step of the maximum's loop, and the value that stands for it afterwards.
struct FoldedScores {
  Body statements;
  ExprPtr value;
  std::vector<Tensor> scalars;          // created, in the order of the statements
  std::vector<std::string> vars;        // created loop variables
  std::vector<StmtPath> removed;        // definitions that go
};
// Folds element-wise temporaries and sums over one loop (a product of matrices) that nothing but `removed` reads;
// each keeps its dtype, so that its values stay the same bits. `value` is x itself if nothing folds.
FoldedScores fold_scores(const EquationIndex& index, const RowReduction& maximum, const StmtPath& use, std::vector<StmtPath> removed,
                         std::vector<std::string> taken_tensors, std::vector<std::string> taken_vars);

}  // namespace cairn
