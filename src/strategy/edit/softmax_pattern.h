// Maximum and sum of exponentials of the same rows: what the online forms of softmax start from.
#pragma once
#include <string>
#include <vector>

#include "strategy/edit/row_reduction.h"
#include "strategy/strategy.h"

namespace cairn {

// What the exponent subtracts: the maximum, or 0 where it is infinite (logsumexp).
enum class Shift : std::uint8_t { plain, finite };

// exp(x-m) as the equation at `use` sees it, temporaries looked through.
struct ExpTerm {
  ExprPtr x;
  ExprPtr maximum;                    // the read of the maximum
  Shift shift = Shift::plain;
  std::vector<std::string> through;   // temporaries looked through
  bool rounded = false;               // one of them is narrower than what is computed here
};
// The term, or nullopt. `target` is the dtype of the equation's left side.
std::optional<ExpTerm> match_exp_term(const EquationIndex& index, ExprPtr e, const StmtPath& use, Dtype target);
// Follows temporaries with one definition; notes them.
ExprPtr look_through(const EquationIndex& index, ExprPtr e, const StmtPath& use, Dtype target, std::vector<std::string>* through, bool* rounded);

// The two reductions of one softmax.
struct SoftmaxRows {
  RowReduction maximum, sum;
  ExpTerm term;                       // of the sum, in the sum's variables
  VarMatch to_maximum;                // the sum's loops in the maximum's
  std::vector<ExprPtr> sum_subscripts;   // of the sum's tensor, in the maximum's variables
};
// The softmax of the sum at `path`. Refuses by the conditions of find_row_reduction, and
// (4) the two do not run over equal instances, under equal tests, of the same x,
// (5) something that x or the results depend on is written or read between,
// (6) a type does not hold its values: the maximum rounds x, an exponential is stored narrower than the sum.
Result<SoftmaxRows> find_softmax_rows(const EquationIndex& index, const StmtPath& path);
// (6) for forms that keep the exponentials' precision: none is stored narrower than the sum.
Result<void> check_exponentials(const Program& program, const SoftmaxRows& rows);
// A cheap filter for sites: an update by + of one operand that is an exponential or a temporary.
bool may_sum_exponentials(const EquationPlace& place);
// Condition (4): `a`, renamed, stands under the tests of `b`, in any order.
bool same_tests(const RowReduction& a, const RowReduction& b, const VarMatch& a_to_b);
// Is x, as the equation at `use` sees it, once renamed, what the maximum is taken of? Temporaries are looked through.
bool is_operand_of(const EquationIndex& index, const ExprPtr& x, const StmtPath& use, const VarMatch& map, const RowReduction& maximum);
// Nothing beside the allowed paths reads the tensor after `from` and before `to`.
bool is_unread_between(const EquationIndex& index, std::string_view tensor, const StmtPath& from, const StmtPath& to,
                       const std::vector<StmtPath>& allowed);

// Builders of the running form; m and old are reads of the maximum after and before the step.
ExprPtr is_void(const ExprPtr& m);                                             // m==-inf
ExprPtr shifted(Shift shift, const ExprPtr& m);                                // m, or if_then_else(abs(m)==inf,0,m)
ExprPtr rescale_factor(Shift shift, const ExprPtr& old, const ExprPtr& m);     // what earlier terms are scaled by
ExprPtr running_term(Shift shift, const ExprPtr& x, const ExprPtr& m);         // exp(x-m), 0 while all are -inf
ExprPtr final_sum(Shift shift, const ExprPtr& m, const ExprPtr& sum);          // the sum that the original gives
// The edits of a form that computes both in one pass: `edits` put it in the maximum's place; the sum and both starts go. It
// declares `created` and proves the first `conditions`. Refuses where a loop around would break its promise to the target, if given.
Result<Step> join_softmax_rows(const Program& program, const SoftmaxRows& rows, PathEdits edits, const std::vector<Tensor>& created, int conditions,
                               const Target* promises);
// Dtypes that an online form may keep: (6).
Result<void> check_maximum_type(const Program& program, const RowReduction& maximum);

}  // namespace cairn
