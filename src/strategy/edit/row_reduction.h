// Reductions of rows: X_S = X_S op e over one serial loop that starts where it stands.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/self_update.h"
#include "strategy/edit/equation_index.h"
#include "strategy/strategy.h"

namespace cairn {

// A reduction over one loop. Loops above an explicit start repeat it and belong to no row.
struct RowReduction {
  const EquationPlace* place = nullptr;
  UpdateOp op = UpdateOp::add;
  ExprPtr operand;                       // what is reduced
  const Stmt* axis = nullptr;            // the loop that reduces
  StmtPath axis_path;
  std::optional<StmtPath> start;         // of the equation that sets the neutral element, if one does
  std::vector<const Stmt*> inner;        // loops between the axis and the update
  std::vector<ExprPtr> outer_tests;      // conjuncts around the axis
  std::vector<ExprPtr> row_tests;        // conjuncts below the axis that do not depend on it
  std::vector<ExprPtr> step_tests;       // those that do
  const Stmt& update() const { return *place->stmt; }
  const std::string& tensor() const { return place->stmt->tensor; }
};

// Finds it at an update by `op` (with one plus-signed operand). Refuses with
// (1) the equation is no such self-update of a float tensor,
// (2) not exactly one loop reduces, or it is not serial (L or U), or something else below it names the tensor,
// (3) the tensor does not start there: it has another writer, a prior value, or is read before.
Result<RowReduction> find_row_reduction(const EquationIndex& index, const StmtPath& path, UpdateOp op);

// True if each iteration of the loops around the update, `shared` outermost ones and the axis left out, has its own
// element: the reduction may then run beside another's loops.
bool has_own_elements(const RowReduction& row, std::size_t shared);

// The statements that an online form puts before and after the axis loop: `equations` under the loops and row
// tests between the axis and the update.
Body wrap_row(const RowReduction& row, Body equations);
// A copy of the chain below (and with) the axis loop with the update's tests on the axis removed and its equation
// replaced; row tests stay. The axis must hold nothing but the update.
Body rebuild_axis(const RowReduction& row, Body equations);
// True if the axis loop holds nothing but the update, loops and tests.
bool is_pure_chain(const RowReduction& row);
// e under the tests that depend on the axis: if_then_else(tests,e,-inf).
ExprPtr guard_operand(const RowReduction& row, const ExprPtr& e, const ExprPtr& otherwise);

// The variables of the vector loops around the update: the subscripts of what each lane keeps for itself.
std::vector<ExprPtr> lane_subscripts(const RowReduction& row);
// For sites: a step below loops of other kinds than L and U must keep their promises; asks the verifier there.
// `other` is a tensor that the step writes besides the reduction's.
bool keeps_promises(const RowReduction& row, const std::string& other, const Program& after, const Target& target);

// A rewrite at one equation; with a target (for sites) it also asks whether loops around keep their promises.
using EquationRewrite = Result<Step> (*)(const EquationIndex& index, const StmtPath& path, const Target* promises);
// Sites and application of a strategy whose one argument is `equation`: those that the cheap filter lets through and the
// rewrite accepts.
std::vector<Args> list_equation_sites(const Program& program, const Target& target, bool (*may)(const EquationPlace&), EquationRewrite rewrite);
Result<Step> apply_at_equation(const Program& program, const Args& args, EquationRewrite rewrite);

// Subscripts of a history: those of the row and the axis as the last dimension.
class HistoryAxis {
 public:
  HistoryAxis(const RowReduction& row, std::vector<ExprPtr> subscripts) : row_(row), subscripts_(std::move(subscripts)) {}
  std::vector<ExprPtr> here() const { return at(make_var(row_.axis->var)); }
  std::vector<ExprPtr> last() const { return at(make_int(row_.axis->extent - 1)); }
  // if_then_else(d>0,tensor_{..,d-1},otherwise)
  ExprPtr previous(const std::string& tensor, const ExprPtr& otherwise) const;

 private:
  std::vector<ExprPtr> at(const ExprPtr& step) const;
  const RowReduction& row_;
  std::vector<ExprPtr> subscripts_;
};

// Edits at paths of one program, applied from the last path to the first: each sees the statements as they were.
class PathEdits {
 public:
  void replace(StmtPath path, Body statements) { edits_.push_back({std::move(path), std::move(statements), {}, {}, false}); }
  void remove(StmtPath path) { replace(std::move(path), {}); }
  // Puts statements in front of one that may go; something before it in its body must be left when its turn comes.
  void insert(StmtPath path, Body statements) { edits_.push_back({std::move(path), std::nullopt, std::move(statements), {}, true}); }
  // Keeps the statement, after its own inner edits, and puts others around it.
  void surround(StmtPath path, Body before, Body after) { edits_.push_back({std::move(path), std::nullopt, std::move(before), std::move(after), false}); }
  Body apply(const Body& body) const;

 private:
  struct Edit {
    StmtPath path;
    std::optional<Body> replacement;
    Body before, after;
    bool only_insert = false;
  };
  std::vector<Edit> edits_;
};

}  // namespace cairn
