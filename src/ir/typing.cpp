#include "ir/typing.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "base/check.h"

namespace cairn {

namespace {
using Form = TypedExpr::Form;

std::string_view type_name(ComputeType type) {
  switch (type) {
    case ComputeType::i64: return "i64";
    case ComputeType::f32: return "f32";
    case ComputeType::f64: return "f64";
    case ComputeType::boolean: return "bool";
  }
  return "?";
}

bool is_float_type(ComputeType type) { return type == ComputeType::f32 || type == ComputeType::f64; }
// i64 < f32 < f64; bool counts as i64.
int rank_of(ComputeType type) { return type == ComputeType::f64 ? 2 : type == ComputeType::f32 ? 1 : 0; }
ComputeType wider(ComputeType a, ComputeType b) { return rank_of(a) >= rank_of(b) ? a : b; }

bool is_condition_op(Op op) {
  return is_comparison(op) || op == Op::isnan || op == Op::logical_and || op == Op::logical_or || op == Op::logical_not;
}
// Operations with an integer version in a target or comparison of integers.
bool has_integer_version(Op op) {
  switch (op) {
    case Op::neg: case Op::add: case Op::sub: case Op::mul: case Op::floor_div: case Op::mod: case Op::pow:
    case Op::abs: case Op::sign: case Op::max: case Op::min: case Op::bit_xor: return true;
    default: return false;
  }
}

class Elaborator {
 public:
  Elaborator(const Program& program, Dtype target)
      : program_(program), literal_(is_float(target) ? compute_type(target) : ComputeType::f64) {}

  // The expression computed in `want` (i64, f32 or f64), or as a condition if want is boolean.
  Result<TypedPtr> value(const Expr& e, ComputeType want);
  Result<TypedPtr> condition(const Expr& e);
  Result<TypedPtr> read(const Expr& e);

 private:
  // The widest float type among an expression's own leaves, and whether a float literal is among them.
  // Subscripts, conditions and comparisons do not count; a conversion is a leaf.
  struct Leaves {
    ComputeType widest = ComputeType::i64;
    bool literal = false;
  };
  void collect(const Expr& e, Leaves* leaves) const;
  ComputeType common_type(const Expr& a, const Expr* b) const;
  Result<TypedPtr> cast(const Expr& e);
  Result<TypedPtr> operation(const Expr& e, ComputeType want);
  Result<TypedPtr> comparison(const Expr& e);
  Result<TypedPtr> convert(TypedPtr from, ComputeType want, const Expr& at) const;
  Error refuse(const Expr& e, std::string message) const {
    return error_at(program_, e.pos, Code::verify, std::move(message));
  }
  static std::shared_ptr<TypedExpr> node(const Expr& e, ComputeType type, std::vector<TypedPtr> args) {
    auto t = std::make_shared<TypedExpr>();
    t->op = e.op;
    t->type = type;
    t->expr = &e;
    t->args = std::move(args);
    return t;
  }

  const Program& program_;
  ComputeType literal_;  // of float literals with no other leaf to follow
};

void Elaborator::collect(const Expr& e, Leaves* leaves) const {
  switch (e.op) {
    case Op::float_literal: leaves->literal = true; return;
    case Op::cast: leaves->widest = wider(leaves->widest, compute_type(e.dtype)); return;
    case Op::read: {
      const Tensor* t = program_.find(e.name);
      if (t != nullptr) leaves->widest = wider(leaves->widest, compute_type(t->dtype));
      return;
    }
    case Op::select:
      collect(*e.args[1], leaves);
      collect(*e.args[2], leaves);
      return;
    default: break;
  }
  if (is_condition_op(e.op)) return;
  for (const ExprPtr& arg : e.args) collect(*arg, leaves);
}

ComputeType Elaborator::common_type(const Expr& a, const Expr* b) const {
  Leaves leaves;
  collect(a, &leaves);
  if (b != nullptr) collect(*b, &leaves);
  return leaves.widest == ComputeType::i64 && leaves.literal ? literal_ : leaves.widest;
}

Result<TypedPtr> Elaborator::convert(TypedPtr from, ComputeType want, const Expr& at) const {
  if (from->type == want) return from;
  if (is_float_type(from->type) && want == ComputeType::i64) {
    return refuse(at, fmt::format("a float operand ({}) where an integer is computed; convert it, e.g. i64({}..)",
                                  type_name(from->type), at.op == Op::read ? at.name : std::string()));
  }
  auto t = std::make_shared<TypedExpr>();
  t->type = want;
  t->expr = &at;
  if (from->form == Form::node && from->op == Op::int_literal && is_float_type(want)) {
    t->op = Op::float_literal;
    const auto v = static_cast<double>(from->integer);
    t->number = want == ComputeType::f32 ? static_cast<double>(static_cast<float>(from->integer)) : v;
    return TypedPtr(t);
  }
  t->form = Form::convert;
  t->args.push_back(std::move(from));
  return TypedPtr(t);
}

Result<TypedPtr> Elaborator::read(const Expr& e) {
  const Tensor* tensor = program_.find(e.name);
  if (tensor == nullptr) return refuse(e, fmt::format("tensor {} is neither declared nor written", e.name));
  const Dtype d = tensor->dtype;
  if (!is_float(d) && !is_integer(d) && d != Dtype::boolean) {
    return refuse(e, fmt::format("tensor {} has dtype {}, which cannot be computed with", e.name, dtype_name(d)));
  }
  if (tensor->shape && tensor->shape->size() != e.args.size()) {
    return refuse(e, fmt::format("tensor {} has rank {}, found {} subscripts", e.name, tensor->shape->size(),
                                 e.args.size()));
  }
  std::vector<TypedPtr> subscripts;
  for (const ExprPtr& arg : e.args) {
    CAIRN_TRY(TypedPtr s, value(*arg, ComputeType::i64));
    subscripts.push_back(std::move(s));
  }
  auto t = node(e, compute_type(d), std::move(subscripts));
  t->storage = d;
  return TypedPtr(t);
}

// Computes the argument in the wider of its leaves' and the cast's own compute type, then puts it into the
// cast's dtype.
Result<TypedPtr> Elaborator::cast(const Expr& e) {
  const Dtype d = e.dtype;
  if (!is_float(d) && !is_integer(d) && d != Dtype::boolean) {
    return refuse(e, fmt::format("{} is not a dtype that values can be converted to", dtype_name(d)));
  }
  const Expr& arg = *e.args[0];
  const ComputeType own = compute_type(d);
  ComputeType leaves = common_type(arg, nullptr);
  // The literal of f64(0.1) is in the type of the conversion, not rounded to a narrower target's first.
  if (is_float_type(own)) leaves = wider(leaves, own);
  const Tensor* tensor = arg.op == Op::read ? program_.find(arg.name) : nullptr;
  const bool from_bool = is_condition_op(arg.op) || (tensor != nullptr && tensor->dtype == Dtype::boolean);
  CAIRN_TRY(TypedPtr inner, from_bool                                            ? condition(arg)
                            : is_float_type(leaves) && !is_integer_expr(program_, arg) ? value(arg, leaves)
                                                                                 : value(arg, ComputeType::i64));
  if (own == ComputeType::boolean || inner->type == ComputeType::boolean) {
    // A bool is 0 or 1 in every dtype.
    return convert(std::move(inner), own, arg);
  }
  if (inner->type == ComputeType::i64 && is_float_type(own)) {
    CAIRN_TRY(inner, convert(std::move(inner), own, arg));
  }
  if (inner->type == own && (d == Dtype::f32 || d == Dtype::f64 || d == Dtype::i64)) return inner;
  auto t = std::make_shared<TypedExpr>();
  t->form = Form::round;
  t->type = own;
  t->storage = d;
  t->expr = &e;
  t->args.push_back(std::move(inner));
  return TypedPtr(t);
}

Result<TypedPtr> Elaborator::comparison(const Expr& e) {
  const ComputeType type = common_type(*e.args[0], e.args[1].get());
  CAIRN_TRY(TypedPtr a, value(*e.args[0], type));
  CAIRN_TRY(TypedPtr b, value(*e.args[1], type));
  return TypedPtr(node(e, ComputeType::boolean, {std::move(a), std::move(b)}));
}

Result<TypedPtr> Elaborator::condition(const Expr& e) {
  if (is_comparison(e.op)) return comparison(e);
  switch (e.op) {
    case Op::logical_and: case Op::logical_or: case Op::logical_not: {
      std::vector<TypedPtr> args;
      for (const ExprPtr& arg : e.args) {
        CAIRN_TRY(TypedPtr a, condition(*arg));
        args.push_back(std::move(a));
      }
      return TypedPtr(node(e, ComputeType::boolean, std::move(args)));
    }
    case Op::isnan: {
      ComputeType type = common_type(*e.args[0], nullptr);
      if (type == ComputeType::i64) type = literal_;
      CAIRN_TRY(TypedPtr a, value(*e.args[0], type));
      return TypedPtr(node(e, ComputeType::boolean, {std::move(a)}));
    }
    case Op::select: {
      std::vector<TypedPtr> args;
      for (const ExprPtr& arg : e.args) {
        CAIRN_TRY(TypedPtr a, condition(*arg));
        args.push_back(std::move(a));
      }
      return TypedPtr(node(e, ComputeType::boolean, std::move(args)));
    }
    case Op::cast:
      if (e.dtype == Dtype::boolean) return cast(e);
      break;
    case Op::read: {
      CAIRN_TRY(TypedPtr t, read(e));
      if (t->type == ComputeType::boolean) return t;
      break;
    }
    default: break;
  }
  return refuse(e, "a condition is expected here, found a value; write a comparison (e != 0) or bool(e)");
}

Result<TypedPtr> Elaborator::operation(const Expr& e, ComputeType want) {
  const std::string_view name = op_name(e.op);
  if (want == ComputeType::i64 && !has_integer_version(e.op)) {
    return refuse(e, e.op == Op::div
                         ? std::string("/ of integers where an integer is computed; use // (floor) or convert, e.g. i64(..)")
                         : fmt::format("{} where an integer is computed; convert its value, e.g. i64({}(..))", name, name));
  }
  if (is_float_type(want) && e.op == Op::bit_xor) {
    return refuse(e, "xor needs integers, found a float operand");
  }
  std::vector<TypedPtr> args;
  if (e.op == Op::pow) {
    const Expr& exponent = *e.args[1];
    const bool square = (exponent.op == Op::int_literal && exponent.int_value == 2) ||
                        (exponent.op == Op::float_literal && exponent.float_value == 2.0);
    if (square && (is_float_type(want) || exponent.op == Op::int_literal)) {
      CAIRN_TRY(TypedPtr base, value(*e.args[0], want));
      auto t = node(e, want, {base, base});
      t->op = Op::mul;
      return TypedPtr(t);
    }
  }
  for (const ExprPtr& arg : e.args) {
    CAIRN_TRY(TypedPtr a, value(*arg, want));
    args.push_back(std::move(a));
  }
  return TypedPtr(node(e, want, std::move(args)));
}

Result<TypedPtr> Elaborator::value(const Expr& e, ComputeType want) {
  if (want == ComputeType::boolean) return condition(e);
  if (is_condition_op(e.op)) {
    CAIRN_TRY(TypedPtr c, condition(e));
    return convert(std::move(c), want, e);
  }
  switch (e.op) {
    case Op::int_literal: {
      auto t = node(e, ComputeType::i64, {});
      t->integer = e.int_value;
      return convert(std::move(t), want, e);
    }
    case Op::float_literal: {
      if (want == ComputeType::i64) {
        return refuse(e, fmt::format("float literal {} where an integer is computed; write an integer", e.float_value));
      }
      auto t = node(e, want, {});
      t->number =
          want == ComputeType::f32 ? static_cast<double>(static_cast<float>(e.float_value)) : e.float_value;
      return TypedPtr(t);
    }
    case Op::loop_var: return convert(node(e, ComputeType::i64, {}), want, e);
    case Op::read: {
      CAIRN_TRY(TypedPtr t, read(e));
      return convert(std::move(t), want, e);
    }
    case Op::cast: {
      CAIRN_TRY(TypedPtr t, cast(e));
      return convert(std::move(t), want, e);
    }
    default: break;
  }
  if (want != ComputeType::i64 && is_integer_expr(program_, e)) {
    CAIRN_TRY(TypedPtr t, value(e, ComputeType::i64));
    return convert(std::move(t), want, e);
  }
  if (e.op == Op::select) {
    CAIRN_TRY(TypedPtr c, condition(*e.args[0]));
    CAIRN_TRY(TypedPtr a, value(*e.args[1], want));
    CAIRN_TRY(TypedPtr b, value(*e.args[2], want));
    return TypedPtr(node(e, want, {std::move(c), std::move(a), std::move(b)}));
  }
  return operation(e, want);
}
}  // namespace

bool is_integer_expr(const Program& program, const Expr& e) {
  switch (e.op) {
    case Op::int_literal: case Op::loop_var: return true;
    case Op::cast: return is_integer(e.dtype);
    case Op::read: {
      const Tensor* t = program.find(e.name);
      return t != nullptr && is_integer(t->dtype);
    }
    case Op::neg: case Op::add: case Op::sub: case Op::mul: case Op::floor_div: case Op::mod: case Op::max:
    case Op::min: case Op::bit_xor: break;
    case Op::pow:
      if (e.args[1]->op == Op::int_literal && e.args[1]->int_value < 0) return false;
      break;
    case Op::select: return is_integer_expr(program, *e.args[1]) && is_integer_expr(program, *e.args[2]);
    default: return false;
  }
  for (const ExprPtr& arg : e.args) {
    if (!is_integer_expr(program, *arg)) return false;
  }
  return true;
}

Result<TypedPtr> elaborate_rhs(const Program& program, const Stmt& equation) {
  CAIRN_CHECK(equation.is_equation());
  const Tensor* target = program.find(equation.tensor);
  if (target == nullptr) {
    return error_at(program, equation.pos, Code::verify, fmt::format("tensor {} is not known", equation.tensor));
  }
  const Dtype d = target->dtype;
  if (!is_float(d) && !is_integer(d) && d != Dtype::boolean) {
    return error_at(program, equation.pos, Code::verify,
                    fmt::format("tensor {} has dtype {}, which cannot be computed in", equation.tensor, dtype_name(d)));
  }
  return Elaborator(program, d).value(*equation.rhs, compute_type(d));
}

Result<TypedPtr> elaborate_index(const Program& program, const ExprPtr& subscript) {
  return Elaborator(program, Dtype::f32).value(*subscript, ComputeType::i64);
}

Result<TypedPtr> elaborate_condition(const Program& program, const ExprPtr& cond, Dtype target) {
  return Elaborator(program, target).condition(*cond);
}

}  // namespace cairn
