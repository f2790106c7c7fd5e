// Expressions: immutable, shared, with a structural hash. One node type for values and subscripts.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/types.h"

namespace cairn {

enum class Op : std::uint8_t {
  int_literal, float_literal,  // inf and nan are float literals
  loop_var,                    // a loop variable as a value or in a subscript
  read,                        // a tensor element; args are the subscripts
  neg, add, sub, mul, div, floor_div, mod, pow,
  lt, le, gt, ge, eq, ne,
  logical_and, logical_or, logical_not,  // & | !, evaluated left to right, only what is needed
  select,                      // if_then_else(c,a,b), lazy
  cast,                        // dtype name used as a function
  exp, log, sqrt, rsqrt, abs, erf, tanh, sin, cos, floor, ceil, round, sign, isnan,
  max, min, bit_xor,           // binary; max and min propagate NaN
};

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

// Byte offset of a node in the text it was parsed from.
using SourcePos = std::uint32_t;
inline constexpr SourcePos kNoPos = 0xffffffffu;

// A node. Build it only with the make_ functions: they keep `hash` right and fold the sign of literals.
struct Expr {
  Op op = Op::int_literal;
  Dtype dtype = Dtype::undef;   // cast: the target
  SourcePos pos = kNoPos;       // not part of equality or hash
  std::int64_t int_value = 0;   // int_literal
  double float_value = 0;       // float_literal
  std::string name;             // loop_var, read
  std::vector<ExprPtr> args;
  std::uint64_t hash = 0;       // structural: names and order count, positions do not
};

ExprPtr make_int(std::int64_t value, SourcePos pos = kNoPos);
ExprPtr make_float(double value, SourcePos pos = kNoPos);
ExprPtr make_var(std::string name, SourcePos pos = kNoPos);
ExprPtr make_read(std::string tensor, std::vector<ExprPtr> subscripts, SourcePos pos = kNoPos);
ExprPtr make_cast(Dtype dtype, ExprPtr value, SourcePos pos = kNoPos);
// Any other node; the number of args must fit the op (checked). neg of a literal becomes a literal.
ExprPtr make_expr(Op op, std::vector<ExprPtr> args, SourcePos pos = kNoPos);

// Structural equality (hash first): same ops, names, literals and order; NaN literals are equal.
bool same_expr(const Expr& a, const Expr& b);
inline bool same_expr(const ExprPtr& a, const ExprPtr& b) { return a == b || same_expr(*a, *b); }

// Arguments an op takes: 0 for leaves, -1 for read (any number).
int op_arity(Op op);
bool is_comparison(Op op);
// Function spelling ("exp", "max", "if_then_else"), or operator token ("+", "<=", "&").
std::string_view op_name(Op op);

// Convenience builders used by front ends and strategies.
inline ExprPtr operator_add(ExprPtr a, ExprPtr b) { return make_expr(Op::add, {std::move(a), std::move(b)}); }
inline ExprPtr operator_mul(ExprPtr a, ExprPtr b) { return make_expr(Op::mul, {std::move(a), std::move(b)}); }

// Bottom-up rewrite: fn sees each rebuilt node and returns a replacement or null to keep it.
ExprPtr rewrite_expr(const ExprPtr& root, const std::function<ExprPtr(const ExprPtr&)>& fn);
// Pre-order visit; fn returns false to skip a node's children.
void visit_expr(const Expr& root, const std::function<bool(const Expr&)>& fn);
// Replaces loop variables by expressions (simultaneously), everywhere including subscripts.
ExprPtr substitute_vars(const ExprPtr& root, const std::vector<std::pair<std::string, ExprPtr>>& map);
// True if the tensor (loop variable) occurs in root.
bool reads_tensor(const Expr& root, std::string_view tensor);
bool uses_var(const Expr& root, std::string_view var);

}  // namespace cairn
