// Taking subexpressions of right sides out into temporaries: what expression_splitting,
// common_subexpression_elimination and hoist_invariant share.
#pragma once
#include <string>
#include <vector>

#include "analysis/access.h"
#include "ir/typing.h"
#include "strategy/edit/band.h"
#include "strategy/strategy.h"

namespace cairn {

// An operation in a right side, outside subscripts, with what leads to it.
struct Part {
  StmtPath path;                        // of the equation
  const Stmt* equation = nullptr;
  std::size_t ordinal = 0;              // pre-order number among the nodes of the right side outside subscripts
  ExprPtr expr;
  std::vector<Condition> conditions;    // of if_then_else & | around it in the right side, outermost first
  ComputeType type = ComputeType::f32;  // it is computed in
};
// The operations of an equation's right side that a temporary can hold, pre-order: no leaves, no conditions, nothing
// made of loop variables and literals alone, nothing that reads the tensor the equation writes.
std::vector<Part> list_parts(const Program& program, const StmtPath& equation);
// The part of the equation, or of any equation below a loop, whose text is `text`. Refuses with `condition` what is
// there but no such part, and with no_site what is not there.
Result<Part> find_part(const Program& program, const StmtPath& at, const std::string& text, int condition);
// The text that find_part reads.
std::string part_text(const Part& part);

// Numbers of the strategy's legality conditions.
struct ExtractRules {
  int rewritten = 0;   // operands keep their values between the new place and every use
  int guards = 0;      // guards hold, or go along
  int types = 0;       // a condition that goes along keeps its type
};

// A use: a part, and the names that the loops of the leader have there.
struct PartUse {
  Part part;
  Substitution names;
};

struct Extraction {
  StmtPath before;                   // the statement the new one stands before
  Part leader;                       // its expression, loops and guards are computed
  std::vector<PartUse> uses;         // the leader among them
  std::vector<std::string> index;    // loops of the leader that subscript the temporary, outermost first
  std::vector<StmtPtr> loops;        // of its own nest
  std::vector<ExprPtr> tests;        // of its own nest, on loop variables
  std::vector<Condition> selects;    // other conditions, outermost first
  bool dropped_guard = false;        // a guard stays behind: the part must be total
};

// Plans to compute `leader` before a statement that is, or stands beside, an ancestor of every use. With `invariant`
// guards on loops below the place stay behind, else every guard goes along and its loops subscript the temporary.
Result<Extraction> plan_extraction(const Program& program, const StmtPath& before, const Part& leader, std::vector<PartUse> uses,
                                   bool invariant, const ExtractRules& rules);
// True if no execution of the children [first, last] of the body around `before` may write a tensor that the part or
// its guards read, before the last use; `*writer` is an equation that does.
bool keeps_operands(const Program& program, const StmtPath& before, std::size_t last, const std::vector<std::string>& operands, const Stmt** writer);
// The guards of a part between the body around `before` and it: conjuncts of T tests, then its conditions.
std::vector<Condition> guards_of(const Program& program, const StmtPath& before, const Part& part);
// True if a loop of the matrix unit is around the statement.
bool in_matrix_unit(const Program& program, const StmtPath& path);
// Tensors read by an expression, subscripts included.
void add_operands(const Expr& expr, std::vector<std::string>* operands);
// Loop variables of an expression.
void add_vars(const Expr& expr, std::vector<std::string>* vars);

// The program after: the temporary's nest stands before the statement, the uses read it. Step::created is the name of
// the temporary; the inverse is compute_inline where that gives the old hash.
Result<Step> build_extraction(const Program& program, const Target& target, const Extraction& plan, int condition_count);

}  // namespace cairn
