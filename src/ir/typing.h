// Types of expressions (leir.md "Types"): every node gets the type it is computed in. The interpreter and
// the C lowering both follow this elaboration, so that they cannot differ.
#pragma once
#include <memory>
#include <vector>

#include "ir/program.h"

namespace cairn {

// A typed copy of an expression: each node computed in `type`; conversions between types are explicit, so
// that a back end needs no typing rules of its own. What a node may be, by form:
//   node     `op` applied to args:
//              int_literal (i64, `integer`), float_literal (f32 f64, `number` as rounded to `type`; integer
//              literals used as floats arrive here too), loop_var (i64), read (type = compute type of
//              `storage`; args are the subscripts, in i64);
//              comparisons (boolean; both args share a type), isnan (boolean; a float arg),
//              & | ! (boolean; evaluated lazily, left to right), select (args: boolean, type, type; lazy);
//              i64: neg add sub mul floor_div mod pow abs sign max min bit_xor (wrap at 64 bits);
//              f32, f64: the same without bit_xor, and div exp log sqrt rsqrt erf tanh sin cos floor ceil round.
//            x**2 arrives as mul with both args the same pointer: evaluate it once where that matters.
//   convert  args[0] converted to `type`: boolean -> 0 or 1, i64 -> float, f32 <-> f64, any -> boolean (!= 0).
//   round    args[0] put into dtype `storage` and taken back in `type` = compute_type(storage):
//            a float (of either width) rounded to nearest even; a float to an integer truncates, saturates to
//            the dtype, NaN gives 0; an i64 wraps to the dtype's width.
struct TypedExpr;
using TypedPtr = std::shared_ptr<const TypedExpr>;
struct TypedExpr {
  enum class Form : std::uint8_t { node, convert, round };
  Form form = Form::node;
  ComputeType type = ComputeType::f32;
  Op op = Op::int_literal;        // node
  Dtype storage = Dtype::undef;   // read: the tensor's dtype; round: the cast's target
  double number = 0;              // float_literal; the decimal value before rounding is in expr
  std::int64_t integer = 0;       // int_literal
  const Expr* expr = nullptr;     // the source node, for places and names (kept alive by the program)
  std::vector<TypedPtr> args;
};

// Elaborates the right side of an equation for its target's dtype; the result has compute_type(target).
// Refuses (Code::verify, located) float operands of an integer target, / or exp of integers in an integer
// target, non-conditions for a bool target, unsupported dtypes, unknown tensors, wrong numbers of subscripts
// (where the shape is known).
Result<TypedPtr> elaborate_rhs(const Program& program, const Stmt& equation);
// Elaborates a subscript (i64) or a condition (boolean). `target` is what a comparison of nothing but float
// literals and integers is made in (f64 if it is an integer).
Result<TypedPtr> elaborate_index(const Program& program, const ExprPtr& subscript);
Result<TypedPtr> elaborate_condition(const Program& program, const ExprPtr& cond, Dtype target = Dtype::f32);

// True if the expression is of integer type by the bottom-up rule (loop variables, integer literals and
// tensors, and + - * // % min max xor ** if_then_else of these, conversions to integers; not a power with a
// negative literal exponent).
bool is_integer_expr(const Program& program, const Expr& expr);

}  // namespace cairn
