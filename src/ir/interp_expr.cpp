#include <fmt/core.h>

#include "base/check.h"
#include "ir/interp_compile.h"

namespace cairn::interp {

namespace {
bool is_condition(const TypedExpr& t) { return t.type == ComputeType::boolean; }
std::uint32_t as_operand(Dtype d) { return static_cast<std::uint32_t>(d); }
}  // namespace

void Compiler::perturb(ComputeType type, RegIndex reg, bool inexact) {
  if (!options_.random) return;
  if (type == ComputeType::f32) emit(Bc::random_round, reg, reg, as_operand(Dtype::f32));
  else if (inexact) emit(Bc::random_nudge, reg, reg, 0);
}

Result<RegIndex> Compiler::value(const TypedExpr& t) {
  switch (t.form) {
    case TypedExpr::Form::node: return node(t);
    case TypedExpr::Form::convert: return convert(t);
    case TypedExpr::Form::round: return round(t);
  }
  return RegIndex{0};
}

Result<RegIndex> Compiler::node(const TypedExpr& t) {
  Reg reg{};
  switch (t.op) {
    case Op::int_literal: reg.i64 = t.integer; return constant(reg);
    case Op::float_literal:
      if (options_.wide && !options_.random) {  // the decimal value itself
        reg.f64 = t.expr->op == Op::float_literal ? t.expr->float_value : static_cast<double>(t.expr->int_value);
      } else if (is_f64(t.type)) {
        reg.f64 = t.number;
      } else {
        reg.f32 = static_cast<float>(t.number);
      }
      return constant(reg);
    case Op::loop_var: {
      const auto it = var_of_.find(t.expr->name);
      if (it == var_of_.end()) {
        return error_at(program_, t.expr->pos, Code::verify,
                        fmt::format("{} is no loop variable here; no enclosing loop binds it", t.expr->name));
      }
      return it->second;
    }
    case Op::read: return read(t);
    case Op::logical_and: case Op::logical_or: case Op::logical_not: case Op::select: return logical(t);
    default: return t.args.size() == 2 ? binary(t) : unary(t);
  }
}

Result<RegIndex> Compiler::read(const TypedExpr& t) {
  const bool is_self = t.expr == self_;
  Place p = target_;
  if (!is_self) {
    CAIRN_TRY(p, place(t.expr->name, t.args, t.expr));
  }
  const RegIndex reg = temp();
  const Bc base = is_self ? (p.computed ? Bc::self_at_f32 : Bc::self_f32) : (p.computed ? Bc::load_at_f32 : Bc::load_f32);
  const int kind = static_cast<int>(code_.buffers[code_.accesses[p.access].buffer].kind);
  emit(static_cast<Bc>(static_cast<int>(base) + kind), reg, p.access, p.offset, t.expr);
  return reg;
}

// Lazy operations become jumps around their operands.
Result<RegIndex> Compiler::logical(const TypedExpr& t) {
  CAIRN_TRY(const RegIndex first, value(*t.args[0]));
  const RegIndex reg = temp();
  if (t.op == Op::logical_not) {
    emit(Bc::not_i64, reg, first, 0);
    return reg;
  }
  if (t.op != Op::select) {
    emit(Bc::move, reg, first, 0);
    const std::size_t skip = emit(t.op == Op::logical_and ? Bc::jump_if_not : Bc::jump_if, 0, first, 0);
    CAIRN_TRY(const RegIndex second, value(*t.args[1]));
    emit(Bc::move, reg, second, 0);
    land(skip);
    return reg;
  }
  const std::size_t to_else = emit(Bc::jump_if_not, 0, first, 0);
  CAIRN_TRY(const RegIndex yes, value(*t.args[1]));
  emit(Bc::move, reg, yes, 0);
  const std::size_t to_end = emit(Bc::jump, 0, 0, 0);
  land(to_else);
  CAIRN_TRY(const RegIndex no, value(*t.args[2]));
  emit(Bc::move, reg, no, 0);
  land(to_end);
  return reg;
}

Result<RegIndex> Compiler::binary(const TypedExpr& t) {
  CAIRN_TRY(RegIndex a, value(*t.args[0]));
  RegIndex b = a;
  if (t.args[0] != t.args[1]) {
    CAIRN_TRY(b, value(*t.args[1]));
  }
  const RegIndex reg = temp();
  const ComputeType operands = t.args[0]->type;
  if (is_comparison(t.op)) {
    if (t.op == Op::gt || t.op == Op::ge) std::swap(a, b);
    const bool eq = t.op == Op::eq, ne = t.op == Op::ne, strict = t.op == Op::lt || t.op == Op::gt;
    if (operands == ComputeType::i64 || operands == ComputeType::boolean) {
      emit(eq ? Bc::eq_i64 : ne ? Bc::ne_i64 : strict ? Bc::lt_i64 : Bc::le_i64, reg, a, b);
    } else {
      emit(wide_of(eq ? Bc::eq_f32 : ne ? Bc::ne_f32 : strict ? Bc::lt_f32 : Bc::le_f32, is_f64(operands)), reg, a, b);
    }
    return reg;
  }
  if (t.type == ComputeType::i64) {
    Bc op = Bc::halt;
    switch (t.op) {
      case Op::add: op = Bc::add_i64; break;
      case Op::sub: op = Bc::sub_i64; break;
      case Op::mul: op = Bc::mul_i64; break;
      case Op::floor_div: op = Bc::floor_div_i64; break;
      case Op::mod: op = Bc::mod_i64; break;
      case Op::pow: op = Bc::pow_i64; break;
      case Op::max: op = Bc::max_i64; break;
      case Op::min: op = Bc::min_i64; break;
      case Op::bit_xor: op = Bc::xor_i64; break;
      default: CAIRN_CHECK_MSG(false, "integer operation");
    }
    emit(op, reg, a, b, t.expr);
    return reg;
  }
  Bc op = Bc::halt;
  Bc random = Bc::halt;
  bool inexact = false;
  switch (t.op) {
    case Op::add: op = Bc::add_f32; random = Bc::random_add; break;
    case Op::sub: op = Bc::sub_f32; random = Bc::random_sub; break;
    case Op::mul: op = Bc::mul_f32; random = Bc::random_mul; break;
    case Op::div: op = Bc::div_f32; random = Bc::random_div; break;
    case Op::pow: op = Bc::pow_f32; inexact = true; break;
    case Op::max: op = Bc::max_f32; break;
    case Op::min: op = Bc::min_f32; break;
    case Op::floor_div: op = Bc::floor_div_f32; break;
    case Op::mod: op = Bc::mod_f32; break;
    default: CAIRN_CHECK_MSG(false, "float operation");
  }
  if (options_.random && t.type == ComputeType::f64 && random != Bc::halt) {
    emit(random, reg, a, b);
    return reg;
  }
  emit(wide_of(op, is_f64(t.type)), reg, a, b);
  if (t.op != Op::max && t.op != Op::min) perturb(t.type, reg, inexact);
  return reg;
}

Result<RegIndex> Compiler::unary(const TypedExpr& t) {
  CAIRN_TRY(const RegIndex a, value(*t.args[0]));
  const RegIndex reg = temp();
  const bool f64 = is_f64(t.args[0]->type);
  if (t.op == Op::isnan) {
    emit(wide_of(Bc::isnan_f32, f64), reg, a, 0);
    return reg;
  }
  if (t.type == ComputeType::i64) {
    CAIRN_CHECK(t.op == Op::neg || t.op == Op::abs || t.op == Op::sign);
    emit(t.op == Op::neg ? Bc::neg_i64 : t.op == Op::abs ? Bc::abs_i64 : Bc::sign_i64, reg, a, 0);
    return reg;
  }
  switch (t.op) {
    case Op::neg: emit(wide_of(Bc::neg_f32, f64), reg, a, 0); return reg;
    case Op::abs: emit(wide_of(Bc::abs_f32, f64), reg, a, 0); return reg;
    case Op::floor: case Op::ceil: case Op::round: case Op::sign:
      emit(wide_of(Bc::call_f32, f64), reg, a, static_cast<std::uint32_t>(t.op));
      return reg;
    default:
      emit(wide_of(Bc::call_f32, f64), reg, a, static_cast<std::uint32_t>(t.op));
      perturb(t.type, reg, true);
      return reg;
  }
}

Result<RegIndex> Compiler::convert(const TypedExpr& t) {
  CAIRN_TRY(const RegIndex a, value(*t.args[0]));
  const ComputeType from = t.args[0]->type;
  if (t.type == ComputeType::boolean) {
    const RegIndex reg = temp();
    if (from == ComputeType::i64) {
      Reg zero{};
      emit(Bc::ne_i64, reg, a, constant(zero));
    } else {
      emit(wide_of(Bc::f32_to_bool, is_f64(from)), reg, a, 0);
    }
    return reg;
  }
  if (t.type == ComputeType::i64) {
    CAIRN_CHECK(is_condition(*t.args[0]));
    return a;  // bools are kept as 0 and 1
  }
  const RegIndex reg = temp();
  if (from == ComputeType::i64 || from == ComputeType::boolean) {
    emit(is_f64(t.type) ? Bc::i64_to_f64 : Bc::i64_to_f32, reg, a, 0);
    perturb(t.type, reg, false);
    return reg;
  }
  if (options_.wide) {
    if (t.type == ComputeType::f64 || !options_.random) return a;
    emit(Bc::random_round, reg, a, as_operand(Dtype::f32));
    return reg;
  }
  emit(t.type == ComputeType::f64 ? Bc::f32_to_f64 : Bc::f64_to_f32, reg, a, 0);
  return reg;
}

Result<RegIndex> Compiler::round(const TypedExpr& t) {
  CAIRN_TRY(RegIndex a, value(*t.args[0]));
  const ComputeType from = t.args[0]->type;
  const RegIndex reg = temp();
  if (t.type == ComputeType::i64) {
    if (from == ComputeType::i64) emit(Bc::wrap_i64, reg, a, as_operand(t.storage));
    else emit(wide_of(Bc::to_int_f32, is_f64(from)), reg, a, as_operand(t.storage));
    return reg;
  }
  if (options_.wide && !options_.random) return a;  // a rounding has no place among the reals
  if (options_.random) {
    emit(Bc::random_round, reg, a, as_operand(t.storage));
    return reg;
  }
  emit(wide_of(Bc::round_f32, from == ComputeType::f64), reg, a, as_operand(t.storage));
  if (from == ComputeType::f64 && t.type == ComputeType::f32) {
    const RegIndex narrow = temp();
    emit(Bc::f64_to_f32, narrow, reg, 0);
    return narrow;
  }
  return reg;
}

}  // namespace cairn::interp
