// Recognises self-updates X = X op e (leir.md "Self-update and implicit start").
#pragma once
#include <optional>
#include <string_view>

#include "ir/program.h"

namespace cairn {

enum class UpdateOp : std::uint8_t { add, mul, max, min };  // - counts as add, / as mul

struct SelfUpdate {
  UpdateOp op = UpdateOp::add;
  const Expr* self = nullptr;  // the read of X inside the right side
  // For op add: the other terms with their signs; mul: other factors, inverted if divided by; max, min: the
  // other argument. In text order.
  struct Operand {
    ExprPtr expr;
    bool inverse = false;  // subtracted (add) or divided by (mul)
  };
  std::vector<Operand> others;
};

// The self-update an equation is, or nullopt: X is on the right exactly once with the same subscripts, as a
// plus-signed operand of the outermost + - chain, a numerator factor of the outermost * / chain, or an
// argument of the outermost max or min; nothing else on the right reads tensor X.
std::optional<SelfUpdate> match_self_update(const Stmt& equation);
std::string_view update_op_name(UpdateOp op);  // "+", "*", "max", "min"
// Neutral element as an expression of a dtype: 0, 1, -inf, +inf; the dtype's extremes for integers.
ExprPtr neutral_element(UpdateOp op, Dtype dtype);

}  // namespace cairn
