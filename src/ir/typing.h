// Types of expressions (leir.md "Types"): every node gets the type it is computed in. The interpreter and
// the C lowering both follow this elaboration, so that they cannot differ.
#pragma once
#include <memory>
#include <vector>

#include "ir/program.h"

namespace cairn {

// A typed copy of an expression: each node computed in `type`; conversions between types are explicit
// (`convert` nodes), so that a back end needs no typing rules of its own.
struct TypedExpr;
using TypedPtr = std::shared_ptr<const TypedExpr>;
struct TypedExpr {
  enum class Form : std::uint8_t {
    node,     // expr->op applied to args, all computed in `type` (comparisons: args share a type, result boolean)
    convert,  // args[0] converted to `type` (integer -> float, float -> float, bool -> 0/1, any -> bool by != 0)
    round,    // args[0] rounded to dtype `storage` and back to `type` (a cast f16(e))
  };
  Form form = Form::node;
  ComputeType type = ComputeType::f32;
  Dtype storage = Dtype::undef;   // read: the tensor's dtype; round: the cast's target
  const Expr* expr = nullptr;     // the source node (kept alive by the program)
  std::vector<TypedPtr> args;     // read: the subscripts, computed in i64
};

// Elaborates the right side of an equation for its target's dtype; the result has compute_type(target).
// Refuses (Code::verify, located) float operands of an integer target, / or exp of integers in an integer
// target, non-conditions for a bool target, unsupported dtypes.
Result<TypedPtr> elaborate_rhs(const Program& program, const Stmt& equation);
// Elaborates a subscript (i64) or a condition (boolean).
Result<TypedPtr> elaborate_index(const Program& program, const ExprPtr& subscript);
Result<TypedPtr> elaborate_condition(const Program& program, const ExprPtr& cond, Dtype target = Dtype::f32);

// True if the expression is of integer type by the bottom-up rule (loop variables, integer literals and
// tensors, and + - * // % min max xor ** if_then_else of these, conversions to integers).
bool is_integer_expr(const Program& program, const Expr& expr);

}  // namespace cairn
