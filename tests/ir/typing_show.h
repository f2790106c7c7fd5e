// Typed expressions as text, for tests: (op:type args), (to:type x), (round:dtype x).
#pragma once
#include <fmt/core.h>

#include <string>

#include "ir/typing.h"

namespace cairn::testing {

inline std::string show_typed(const TypedExpr& t) {
  static constexpr const char* kTypes[] = {"i64", "f32", "f64", "bool"};
  const std::string type = kTypes[static_cast<std::size_t>(t.type)];
  std::string args;
  for (const TypedPtr& a : t.args) args += " " + show_typed(*a);
  if (t.form == TypedExpr::Form::convert) return fmt::format("(to:{}{})", type, args);
  if (t.form == TypedExpr::Form::round) return fmt::format("(round:{}{})", dtype_name(t.storage), args);
  switch (t.op) {
    case Op::int_literal: return fmt::format("{}", t.integer);
    case Op::float_literal: return fmt::format("{}:{}", t.number, type);
    case Op::loop_var: return t.expr->name;
    case Op::read: return fmt::format("({}:{}{})", t.expr->name, type, args);
    default: return fmt::format("({}:{}{})", op_name(t.op), type, args);
  }
}

}  // namespace cairn::testing
