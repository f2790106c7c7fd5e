// Integer values and conversions in C: wrapping arithmetic, floor division, saturation.
#include <fmt/core.h>

#include "base/check.h"
#include "lower/emitter.h"

namespace cairn {

namespace {
bool is_index_op(Op op) {
  switch (op) {
    case Op::int_literal: case Op::loop_var: case Op::neg: case Op::add: case Op::sub: case Op::mul: case Op::floor_div:
    case Op::mod: case Op::max: case Op::min: case Op::bit_xor: return true;
    default: return false;
  }
}

struct Limits {
  std::string lo, hi;
};
Limits integer_limits(Dtype dtype) {
  switch (dtype) {
    case Dtype::i32: return {"INT32_MIN", "INT32_MAX"};
    case Dtype::i16: return {"INT16_MIN", "INT16_MAX"};
    case Dtype::i8: return {"INT8_MIN", "INT8_MAX"};
    case Dtype::i4: return {"-8", "7"};
    case Dtype::u32: return {"0", "UINT32_MAX"};
    case Dtype::u16: return {"0", "UINT16_MAX"};
    case Dtype::u8: return {"0", "UINT8_MAX"};
    case Dtype::u4: return {"0", "15"};
    default: return {"INT64_MIN", "INT64_MAX"};
  }
}
}  // namespace

CValue CEmitter::emit_integer(const TypedExpr& e) {
  if (e.op == Op::int_literal) {
    if (e.integer == INT64_MIN) return {"INT64_MIN", kAtom, false, 8};
    return {fmt::format("{}", e.integer), e.integer < 0 ? kUnary : kAtom, false, 8};
  }
  // Proved not to overflow: plain index arithmetic, simplified.
  if (is_index_op(e.expr->op) && range_of(*e.expr)) {
    auto form = index_form(*e.expr);
    if (!form) return fail_vector();
    if (mode_ != LaneMode::vector || form->lane == 0) {
      CValue v = print_index(*form);
      if (v.prec == kAtom && v.text.find_first_not_of("0123456789") == std::string::npos) return v;
      return v;
    }
    const std::int64_t lane = form->lane;
    form->lane = 0;
    vector_type(Dtype::i64);
    need(fmt::format("iota {} l", lanes_));
    const std::string iota = fmt::format("cairn_iota_v{}l{}", lanes_, lane == 1 ? "" : fmt::format(" * {}", lane));
    if (form->terms.empty() && form->constant == 0) return {iota, lane == 1 ? kAtom : kMul, true, 8};
    return {fmt::format("{} + {}", iota, print_index(*form).at(kMul)), kAdd, true, 8};
  }
  const CValue a = emit_value(*e.args[0]);
  const CValue b = e.args.size() > 1 ? emit_value(*e.args[1]) : CValue{};
  if (a.vec || b.vec) {
    const std::string u = vector_type(Dtype::u64), s = vector_type(Dtype::i64);
    const auto wrap = [&](const char* op) {
      return CValue{fmt::format("({})(({}){} {} ({}){})", s, u, broadcast(a, e.type).at(kUnary), op, u,
                                broadcast(b, e.type).at(kUnary)), kUnary, true, 8};
    };
    switch (e.op) {
      case Op::add: return wrap("+");
      case Op::sub: return wrap("-");
      case Op::mul: return wrap("*");
      case Op::bit_xor: return wrap("^");
      case Op::neg: return {fmt::format("({})-({}){}", s, u, a.at(kUnary)), kUnary, true, 8};
      case Op::max:
      case Op::min:
        need(fmt::format("lanes {} {} l", op_name(e.op), lanes_));
        need(fmt::format("lanes select {} l", lanes_));
        return {fmt::format("cairn_{}_v{}l({}, {})", op_name(e.op), lanes_, broadcast(a, e.type).text,
                            broadcast(b, e.type).text), kAtom, true, 8};
      default: return fail_vector();
    }
  }
  const char* name = nullptr;
  std::string second = b.text;
  switch (e.op) {
    case Op::add: name = "add"; break;
    case Op::sub: name = "sub"; break;
    case Op::mul: name = "mul"; break;
    case Op::neg: name = "neg"; break;
    case Op::abs: name = "iabs"; break;
    case Op::sign: name = "isign"; break;
    case Op::max: name = "imax"; break;
    case Op::min: name = "imin"; break;
    case Op::pow: name = "ipow"; break;
    case Op::bit_xor: return {fmt::format("{} ^ {}", a.at(kUnary), b.at(kUnary)), kBitOr, false, 8};
    case Op::floor_div:
    case Op::mod: {
      name = e.op == Op::mod ? "imod" : "idiv";
      const auto range = range_of(*e.args[1]->expr);
      if (!range || (range->lo <= 0 && range->hi >= 0)) second = checked_divisor(b.text);
      break;
    }
    default: CAIRN_CHECK_MSG(false, "no integer form of " + std::string(op_name(e.op)));
  }
  const std::string helper(name);
  need(helper == "imod" ? "floor_mod" : helper == "idiv" ? "floor_div" : helper);
  if (e.args.size() == 1) return {fmt::format("cairn_{}({})", name, a.text), kAtom, false, 8};
  return {fmt::format("cairn_{}({}, {})", name, a.text, second), kAtom, false, 8};
}

CValue CEmitter::emit_convert(const TypedExpr& e) {
  const TypedExpr& from = *e.args[0];
  // A stored integer goes to a float without a detour over i64 (u64 counts as i64, so not that one).
  if (mode_ == LaneMode::vector && from.form == TypedExpr::Form::node && from.op == Op::read && is_integer(from.storage) &&
      from.storage != Dtype::u64 && (e.type == ComputeType::f32 || e.type == ComputeType::f64)) {
    const auto ref = element_ref(from.expr->name, from.expr->args, false);
    if (ref && ref->vec) {
      return {fmt::format("__builtin_convertvector({}, {})", ref->lvalue, vector_type(e.type)), kAtom, true, 4};
    }
  }
  const CValue x = emit_value(from);
  if (e.type == ComputeType::boolean) {
    if (!x.vec) return {fmt::format("{} != 0", x.at(kAdd)), kEqual, false, 4};
    return {fmt::format("{} != 0", x.at(kAdd)), kEqual, true, from.type == ComputeType::f32 ? 4 : 8};
  }
  if (!x.vec) {
    if (from.type == ComputeType::boolean) return {fmt::format("({})({})", compute_c_type(e.type), x.text), kUnary, false, 8};
    return {fmt::format("({}){}", compute_c_type(e.type), x.at(kUnary)), kUnary, false, 8};
  }
  if (from.type == ComputeType::boolean) {
    const CValue m = as_mask(x, e.type == ComputeType::f32 ? 4 : 8);
    if (e.type == ComputeType::i64) return {fmt::format("{} & 1", m.at(kUnary)), kBitAnd, true, 8};
    return {fmt::format("__builtin_convertvector({} & 1, {})", m.at(kUnary), vector_type(e.type)), kAtom, true, 8};
  }
  return {fmt::format("__builtin_convertvector({}, {})", x.text, vector_type(e.type)), kAtom, true, 8};
}

CValue CEmitter::emit_round(const TypedExpr& e) {
  const TypedExpr& from = *e.args[0];
  const CValue x = emit_value(from);
  const Dtype d = e.storage;
  if (x.vec) {
    const std::string wide = vector_type(e.type);
    if (d == Dtype::f32 || d == Dtype::f64) return {fmt::format("__builtin_convertvector({}, {})", x.text, wide), kAtom, true, 4};
    const bool narrows = d == Dtype::f16 || (from.type == ComputeType::i64 && is_integer(d) && d != Dtype::i4 && d != Dtype::u4);
    if (!narrows) return fail_vector();
    return {fmt::format("__builtin_convertvector(__builtin_convertvector({}, {}), {})", x.text, vector_type(d), wide), kAtom, true, 4};
  }
  if (is_float(d)) {
    if (d == Dtype::f32 || d == Dtype::f64) return {fmt::format("({}){}", c_type(d), x.at(kUnary)), kUnary, false, 4};
    if (d == Dtype::f16) return {"(float)(_Float16)" + x.at(kUnary), kUnary, false, 4};
    need("round_format");
    need(std::string(dtype_name(d)) + "_round");
    return {fmt::format("cairn_{}_round({})", dtype_name(d), x.text), kAtom, false, 4};
  }
  if (from.type == ComputeType::i64) {
    if (d == Dtype::u4) return {fmt::format("{} & 15", x.at(kUnary)), kBitAnd, false, 8};
    if (d == Dtype::i4) {
      need("i4_store");
      return {fmt::format("(int64_t)cairn_i4_store({})", x.text), kUnary, false, 8};
    }
    return {fmt::format("(int64_t)({}){}", c_type(d), x.at(kUnary)), kUnary, false, 8};
  }
  if (d == Dtype::u64) {
    need("to_u64");
    return {fmt::format("cairn_to_u64({})", x.text), kAtom, false, 8};
  }
  need("to_int");
  const Limits limits = integer_limits(d);
  return {fmt::format("cairn_to_int({}, {}, {})", x.text, limits.lo, limits.hi), kAtom, false, 8};
}

}  // namespace cairn
