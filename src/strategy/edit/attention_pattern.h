// Sums of values weighted by a softmax: what flash attention starts from.
#pragma once
#include <string>
#include <vector>

#include "strategy/edit/softmax_pattern.h"

namespace cairn {

// Y_{rows,values} = Y + exp(x-m)/s * v, with the maximum m and the sum s of the same rows.
struct WeightedRows {
  struct Factor {
    ExprPtr expr;                       // in the product's variables
    bool inverse = false;
  };
  SoftmaxRows softmax;
  RowReduction product;
  VarMatch to_maximum;                  // the product's rows and axis in the maximum's loops; value loops have no image
  std::vector<const Stmt*> values;      // the product's other loops, outermost first
  std::vector<ExprPtr> value_tests;     // conjuncts of the product that the maximum does not have
  std::vector<Factor> factors;          // v
  ExpTerm term;                         // of the product
  bool zero_if_void = false;            // a row of -inf weighs 0 instead of NaN
  StmtPath body, root;                  // the body all three stand in; the product's statement there
  std::vector<StmtPath> removed;        // equations that the online form replaces
  bool keep_maximum = false, keep_sum = false;   // others read them afterwards
  bool rounded = false;                 // what goes was stored narrower than it is computed
};
// The weighted sum at `path`. Refuses by the conditions of find_softmax_rows (1 to 6), the product counted in, and
// (7) the weights, or the exponentials behind them, are read elsewhere.
Result<WeightedRows> find_weighted_rows(const EquationIndex& index, const StmtPath& path);
// A cheap filter for sites: an update by + of a product or quotient.
bool may_weigh(const EquationPlace& place);
// True if everything that reads the tensor is in `removed`.
bool is_read_only_by(const EquationIndex& index, std::string_view tensor, const std::vector<StmtPath>& removed);

}  // namespace cairn
