// Typed expressions in C, scalar or over vector lanes.
#include <cmath>

#include <fmt/core.h>

#include "base/check.h"
#include "lower/emitter.h"

namespace cairn {

std::string c_float_literal(double value, ComputeType type) {
  const bool single = type == ComputeType::f32;
  if (std::isnan(value)) return single ? "__builtin_nanf(\"\")" : "__builtin_nan(\"\")";
  if (std::isinf(value)) return fmt::format("{}__builtin_inf{}()", value < 0 ? "-" : "", single ? "f" : "");
  std::string text = single ? fmt::format("{:.9g}", value) : fmt::format("{:.17g}", value);
  const std::string shorter = single ? fmt::format("{:.6g}", value) : fmt::format("{:.15g}", value);
  if (single ? std::strtof(shorter.c_str(), nullptr) == static_cast<float>(value)
             : std::strtod(shorter.c_str(), nullptr) == value) {
    text = shorter;
  }
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return single ? text + "f" : text;
}

CValue CEmitter::binary(const char* op, const CValue& a, const CValue& b, int prec) {
  return {fmt::format("{} {} {}", a.at(prec), op, b.at(prec - 1)), prec, a.vec || b.vec,
          a.vec ? a.mask_bytes : b.mask_bytes};
}

CValue CEmitter::broadcast(const CValue& value, ComputeType type) {
  if (value.vec) return value;
  // x - 0 is x for every x, -0 and NaN included.
  return {fmt::format("{} - ({}){{}}", value.at(kMul), vector_type(type)), kAdd, true, 4};
}

CValue CEmitter::as_mask(const CValue& value, int bytes) {
  const std::string type = vector_type(bytes == 8 ? Dtype::i64 : Dtype::i32);
  if (!value.vec) return {fmt::format("({}){{}} - (int{}_t)({})", type, bytes * 8, value.text), kAdd, true, bytes};
  if (value.mask_bytes == bytes) return value;
  return {fmt::format("__builtin_convertvector({}, {})", value.text, type), kAtom, true, bytes};
}

CValue CEmitter::emit_value(const TypedExpr& e) {
  if (mode_ != LaneMode::vector || vector_failed_) return emit_form(e);
  const std::size_t before = out_.size();
  CValue value = emit_form(e);
  if (!vector_failed_) return value;
  // What lanes cannot do at once is done one lane after the other, in front of the statement; unless the
  // program would not evaluate it, or a version for each case of its condition is better.
  if (e.type == ComputeType::boolean || (lazy_ && !is_total(e)) || is_undecided(e)) return value;
  out_.resize(before);
  vector_failed_ = false;
  return gather_lanes(e);
}

bool CEmitter::is_undecided(const TypedExpr& e) {
  for (const Expr* cond : undecided_selections(e)) {
    const TypedPtr typed = typed_condition(*cond, Dtype::f32);
    if (!all_lanes(*typed, true).empty() && !all_lanes(*typed, false).empty()) return true;
  }
  return false;
}

CValue CEmitter::gather_lanes(const TypedExpr& e) {
  const std::string name = fresh_name("t");
  const std::size_t before = out_.size();
  const auto dumps = std::move(lane_dumps_);
  lane_dumps_.clear();
  const auto assumed = std::move(assumed_);
  assumed_.clear();
  const std::string lane = std::move(lane_var_);
  lane_var_ = fresh_name("lane");
  atom_ranges_[lane_var_] = {0, lanes_ - 1};
  mode_ = LaneMode::lane;
  const CValue value = emit_value(e);
  mode_ = LaneMode::vector;
  line(fmt::format("{} {}[{}] __attribute__((aligned(64)));", compute_c_type(e.type), name, lanes_));
  line(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3};", lane_var_, lanes_, name, value.text));
  lane_var_ = lane;
  assumed_ = assumed;
  const bool registers = !lane_dumps_.empty();
  lane_dumps_ = dumps;
  if (registers) {
    out_.resize(before);
    return fail_vector();
  }
  return {fmt::format("*(const {}_u *){}", vector_type(e.type), name), kUnary, true, 8};
}

CValue CEmitter::emit_form(const TypedExpr& e) {
  switch (e.form) {
    case TypedExpr::Form::convert: return emit_convert(e);
    case TypedExpr::Form::round: return emit_round(e);
    case TypedExpr::Form::node: return emit_node(e);
  }
  return fail_vector();
}

CValue CEmitter::emit_node(const TypedExpr& e) {
  switch (e.op) {
    case Op::float_literal: {
      const std::string text = c_float_literal(e.number, e.type);
      return {text, text[0] == '-' ? kUnary : kAtom, false, 4};
    }
    case Op::read: return emit_read(e);
    case Op::lt: case Op::le: case Op::gt: case Op::ge: case Op::eq: case Op::ne: return emit_compare(e);
    case Op::logical_and: case Op::logical_or: case Op::logical_not: return emit_logic(e);
    case Op::select: return emit_select(e);
    case Op::isnan: {
      const CValue x = emit_value(*e.args[0]);
      if (!x.vec) return {fmt::format("__builtin_isnan({})", x.text), kAtom, false, 4};
      return {fmt::format("{} != {}", x.at(kAdd), x.at(kAdd)), kEqual, true, e.args[0]->type == ComputeType::f64 ? 8 : 4};
    }
    default: break;
  }
  if (e.type == ComputeType::i64) return emit_integer(e);
  switch (e.op) {
    case Op::neg: {
      const CValue x = emit_value(*e.args[0]);
      return {"-" + x.at(kAtom), kUnary, x.vec, 4};
    }
    case Op::add: return binary("+", emit_value(*e.args[0]), emit_value(*e.args[1]), kAdd);
    case Op::sub: return binary("-", emit_value(*e.args[0]), emit_value(*e.args[1]), kAdd);
    case Op::mul:
      if (e.args[0] == e.args[1] && !e.args[0]->args.empty() && e.args[0]->op != Op::read) return emit_call(e);
      return binary("*", emit_value(*e.args[0]), emit_value(*e.args[1]), kMul);
    case Op::div: return binary("/", emit_value(*e.args[0]), emit_value(*e.args[1]), kMul);
    default: return emit_call(e);
  }
}

CValue CEmitter::emit_read(const TypedExpr& e) {
  const auto ref = element_ref(e.expr->name, e.expr->args, false);
  if (!ref) return fail_vector();
  return load_value(*ref, e.storage);
}

// Functions: the compiler's built-ins where these are correctly rounded, else Cairn's own.
CValue CEmitter::emit_call(const TypedExpr& e) {
  const bool single = e.type == ComputeType::f32;
  const char* builtin = nullptr;
  std::string own;
  switch (e.op) {
    case Op::sqrt: builtin = "sqrt"; break;
    case Op::floor: builtin = "floor"; break;
    case Op::ceil: builtin = "ceil"; break;
    case Op::round: builtin = "rint"; break;
    case Op::abs: builtin = "fabs"; break;
    case Op::mul: own = "sq"; break;
    case Op::rsqrt: own = "rsqrt"; break;
    case Op::max: own = "max"; break;
    case Op::min: own = "min"; break;
    case Op::sign: own = "sign"; break;
    case Op::floor_div: own = "fdiv"; break;
    case Op::mod: own = "fmod"; break;
    default: break;
  }
  const bool in_mathlib = builtin == nullptr && own.empty();
  std::vector<CValue> args;
  bool vec = false;
  for (const TypedPtr& arg : e.args) {
    args.push_back(emit_value(*arg));
    vec |= args.back().vec;
    if (e.op == Op::mul) break;
  }
  std::string name;
  if (vec) {
    name = vector_function(e.op, single, builtin != nullptr ? builtin : in_mathlib ? std::string(op_name(e.op)) : own);
    if (name.empty()) return fail_vector();
  } else if (builtin != nullptr) {
    name = fmt::format("__builtin_{}{}", builtin, single ? "f" : "");
  } else if (in_mathlib) {
    need("mathlib");
    name = fmt::format("cairn_{}{}", e.op == Op::pow ? "pow" : op_name(e.op), single ? "f" : "");
  } else {
    need(own + (single ? "f" : ""));
    name = fmt::format("cairn_{}{}", own, single ? "f" : "");
  }
  std::string text = name + "(";
  for (std::size_t i = 0; i < args.size(); ++i) {
    text += (i > 0 ? ", " : "") + (vec ? broadcast(args[i], e.type).text : args[i].text);
  }
  return {text + ")", kAtom, vec, 4};
}

CValue CEmitter::emit_logic(const TypedExpr& e) {
  if (e.op == Op::logical_not) {
    const CValue x = emit_value(*e.args[0]);
    if (x.vec) return {"~" + x.at(kAtom), kUnary, true, x.mask_bytes};
    return {"!" + x.at(kAtom), kUnary, false, 4};
  }
  const bool conjunction = e.op == Op::logical_and;
  const CValue a = emit_value(*e.args[0]);
  const CValue b = emit_lazily(*e.args[1]);
  if (a.vec || b.vec) {
    if (!is_total(*e.args[1])) return fail_vector();
    const int bytes = a.vec ? a.mask_bytes : b.mask_bytes;
    return binary(conjunction ? "&" : "|", as_mask(a, bytes), as_mask(b, bytes), conjunction ? kBitAnd : kBitOr);
  }
  const int prec = conjunction ? kAnd : kOr;
  return {fmt::format("{} {} {}", a.at(conjunction ? kAnd : kBitOr), conjunction ? "&&" : "||", b.at(kBitOr)), prec, false, 4};
}

CValue CEmitter::emit_compare(const TypedExpr& e) {
  const char* op = e.op == Op::lt ? "<" : e.op == Op::le ? "<=" : e.op == Op::gt ? ">" : e.op == Op::ge ? ">=" : e.op == Op::eq ? "==" : "!=";
  const int prec = e.op == Op::eq || e.op == Op::ne ? kEqual : kRelation;
  const ComputeType type = e.args[0]->type;
  if (mode_ == LaneMode::vector && type == ComputeType::i64 && range_of(*e.args[0]->expr) && range_of(*e.args[1]->expr)) {
    const auto a = index_form(*e.args[0]->expr);
    const auto b = index_form(*e.args[1]->expr);
    if (!a || !b) return fail_vector();
    IndexForm diff = *a;
    diff.add(*b, -1);
    if (diff.lane != 0) {
      const auto range = form_range(diff);
      const bool narrow = range && range->lo > INT32_MIN && range->hi < INT32_MAX;
      const std::int64_t lane = diff.lane;
      diff.lane = 0;
      vector_type(narrow ? Dtype::i32 : Dtype::i64);
      const std::string iota = fmt::format("cairn_iota_v{}{}", lanes_, narrow ? "i" : "l");
      need(fmt::format("iota {} {}", lanes_, narrow ? "i" : "l"));
      const CValue rest = print_index(diff);
      return {fmt::format("{}{} + {} {} 0", iota, lane == 1 ? "" : fmt::format(" * {}", lane),
                          narrow ? fmt::format("(int32_t)({})", rest.text) : rest.at(kMul), op), prec, true, narrow ? 4 : 8};
    }
  }
  const CValue a = emit_value(*e.args[0]);
  const CValue b = emit_value(*e.args[1]);
  if (a.vec || b.vec) {
    return {fmt::format("{} {} {}", broadcast(a, type).at(kAdd), op, broadcast(b, type).at(kAdd)), prec, true,
            type == ComputeType::f32 ? 4 : 8};
  }
  return {fmt::format("{} {} {}", a.at(kAdd), op, b.at(kAdd)), prec, false, 4};
}

CValue CEmitter::emit_select(const TypedExpr& e) {
  const auto assumed = assumed_.find(e.args[0]->expr);
  if (assumed != assumed_.end()) return emit_value(*e.args[assumed->second ? 1 : 2]);
  const CValue c = emit_value(*e.args[0]);
  const CValue a = emit_lazily(*e.args[1]);
  const CValue b = emit_lazily(*e.args[2]);
  if (!c.vec && !a.vec && !b.vec) {
    return {fmt::format("{} ? {} : {}", c.at(kOr), a.at(kOr), b.at(kOr)), kCond, false, 4};
  }
  if (e.type == ComputeType::boolean) {
    if (!is_total(*e.args[1]) || !is_total(*e.args[2])) return fail_vector();
    const int bytes = a.vec ? a.mask_bytes : b.vec ? b.mask_bytes : c.mask_bytes;
    const CValue m = as_mask(c, bytes);
    return {fmt::format("({} & {}) | (~{} & {})", m.at(kUnary), as_mask(a, bytes).at(kUnary), m.at(kUnary),
                        as_mask(b, bytes).at(kUnary)), kBitOr, true, bytes};
  }
  if (!c.vec) {
    // The casts make one type of loads (unaligned variants) and values.
    const std::string type = vector_type(e.type);
    return {fmt::format("{} ? ({}){} : ({}){}", c.at(kOr), type, broadcast(a, e.type).at(kUnary), type,
                        broadcast(b, e.type).at(kUnary)), kCond, true, 4};
  }
  if (!is_total(*e.args[1]) || !is_total(*e.args[2])) return fail_vector();
  const int bytes = e.type == ComputeType::f32 ? 4 : 8;
  const std::string stem = e.type == ComputeType::f32 ? "f" : e.type == ComputeType::f64 ? "d" : "l";
  vector_type(bytes == 8 ? Dtype::i64 : Dtype::i32);
  vector_type(e.type);
  need(fmt::format("lanes select {} {}", lanes_, stem));
  return {fmt::format("cairn_select_v{}{}({}, {}, {})", lanes_, stem, as_mask(c, bytes).text, broadcast(a, e.type).text,
                      broadcast(b, e.type).text), kAtom, true, 4};
}

CValue CEmitter::emit_lazily(const TypedExpr& e) {
  const bool saved = lazy_;
  lazy_ = true;
  CValue value = emit_value(e);
  lazy_ = saved;
  return value;
}

// May the expression be evaluated where the program would not: no access out of bounds, no division by zero?
bool CEmitter::is_total(const TypedExpr& e) const {
  if (e.form == TypedExpr::Form::node) {
    if (e.op == Op::read && find_place_is_memory(e.expr->name) && !in_bounds(e.expr->name, e.expr->args)) return false;
    if ((e.op == Op::floor_div || e.op == Op::mod) && e.type == ComputeType::i64) {
      const auto divisor = range_of(*e.args[1]->expr);
      if (!divisor || (divisor->lo <= 0 && divisor->hi >= 0)) return false;
    }
  }
  for (const TypedPtr& arg : e.args) {
    if (!is_total(*arg)) return false;
  }
  return true;
}

}  // namespace cairn
