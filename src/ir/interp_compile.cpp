#include "ir/interp_compile.h"

#include <fmt/core.h>

#include <bit>
#include <limits>
#include <utility>

#include "base/check.h"
#include "ir/self_update.h"

namespace cairn::interp {

namespace {
// A loop without loops inside keeps the offsets of its accesses incrementally.
bool is_leaf(const Body& body) {
  for (const StmtPtr& s : body) {
    if (s->is_loop() || (s->is_test() && !is_leaf(s->body))) return false;
  }
  return true;
}
std::int64_t count_equations(const Body& body) {
  std::int64_t n = 0;
  for (const StmtPtr& s : body) n += s->is_equation() ? 1 : count_equations(s->body);
  return n;
}
double neutral_of(UpdateOp op) {
  switch (op) {
    case UpdateOp::add: return 0;
    case UpdateOp::mul: return 1;
    case UpdateOp::max: return -std::numeric_limits<double>::infinity();
    case UpdateOp::min: return std::numeric_limits<double>::infinity();
  }
  return 0;
}
Result<std::int64_t> integer_neutral(UpdateOp op, Dtype dtype) {
  const ExprPtr e = neutral_element(op, dtype);
  CAIRN_CHECK(e->op == Op::int_literal);
  return e->int_value;
}
}  // namespace

Result<Bytecode> compile(const Program& program, const CompileOptions& options) {
  return Compiler(program, options).compile();
}

Result<Bytecode> Compiler::compile() {
  code_.program = &program_;
  CAIRN_CHECKED(add_buffers());
  CAIRN_CHECKED(body(program_.body()));
  emit(Bc::halt, 0, 0, 0);
  return std::move(code_);
}

Result<void> Compiler::add_buffers() {
  CAIRN_TRY(const auto shapes, infer_shapes(program_));
  std::int64_t bytes = 0;
  for (const Tensor& t : program_.tensors()) {
    const auto shape = shapes.find(t.name);
    if (shape == shapes.end()) continue;  // mentioned nowhere
    Buffer b;
    b.tensor = &t;
    b.dtype = t.dtype;
    b.kind = !is_float(t.dtype) ? Kind::i64 : is_f64(compute_type(t.dtype)) ? Kind::f64 : Kind::f32;
    b.shape = shape->second;
    b.given = t.role == Role::in || t.role == Role::param || t.role == Role::constant || t.role == Role::io;
    const std::optional<std::int64_t> size = element_count(b.shape);
    if (!size || *size < 0 || __builtin_add_overflow(bytes, *size * (b.kind == Kind::f32 ? 5 : 9), &bytes) ||
        bytes > options_.max_bytes) {
      return error_at(program_, t.pos, Code::timeout,
                      fmt::format("tensor {} takes the values past the interpreter's {} bytes", t.name, options_.max_bytes));
    }
    b.size = *size;
    buffer_of_.emplace(t.name, static_cast<std::uint32_t>(code_.buffers.size()));
    code_.buffers.push_back(std::move(b));
  }
  return {};
}

RegIndex Compiler::constant(Reg reg) {
  const auto [it, fresh] = constants_.emplace(reg.i64, 0);
  if (fresh) {
    it->second = temp();
    code_.registers[it->second] = reg;
  }
  return it->second;
}

Result<void> Compiler::body(const Body& statements) {
  for (const StmtPtr& s : statements) {
    if (!wanted({s})) continue;
    switch (s->type) {
      case Stmt::Type::loop: CAIRN_CHECKED(loop(*s)); break;
      case Stmt::Type::test: CAIRN_CHECKED(test(*s)); break;
      case Stmt::Type::equation: CAIRN_CHECKED(equation(*s)); break;
    }
  }
  return {};
}

Result<void> Compiler::loop(const Stmt& stmt) {
  if (var_of_.contains(stmt.var)) {
    return error_at(program_, stmt.pos, Code::verify, fmt::format("loop variable {} is used by an outer loop", stmt.var));
  }
  const auto index = static_cast<std::uint32_t>(code_.loops.size());
  code_.loops.emplace_back();
  LoopCode l;
  l.var = static_cast<RegIndex>(code_.registers.size());
  code_.registers.push_back({});
  l.extent = stmt.extent;
  l.leaf = is_leaf(stmt.body);
  l.equations = std::max<std::int64_t>(1, count_equations(stmt.body));
  l.stmt = &stmt;
  var_of_.emplace(stmt.var, l.var);
  ranges_[stmt.var] = Interval{0, std::max<std::int64_t>(0, stmt.extent - 1)};
  prune(stmt, &l);
  std::vector<std::uint32_t> mine;
  std::vector<std::uint32_t>* const outer = std::exchange(group_, l.leaf ? &mine : nullptr);
  const std::size_t begin = emit(Bc::loop_begin, 0, index, 0);
  parallel_above_ += stmt.kind == LoopKind::P;
  CAIRN_CHECKED(body(stmt.body));
  parallel_above_ -= stmt.kind == LoopKind::P;
  emit(Bc::loop_end, 0, index, static_cast<std::uint32_t>(begin + 1));
  land(begin);
  group_ = outer;
  for (const std::uint32_t access : mine) {
    std::int64_t step = 0;
    for (const auto& [reg, coefficient] : code_.accesses[access].terms) {
      if (reg == l.var) step += coefficient;
    }
    l.accesses.push_back({access, step});
  }
  var_of_.erase(stmt.var);
  ranges_.erase(stmt.var);
  code_.loops[index] = std::move(l);
  return {};
}

Result<void> Compiler::test(const Stmt& stmt) {
  CAIRN_TRY(TypedPtr cond, elaborate_condition(program_, stmt.cond));
  code_.keep.push_back(cond);
  equation_ = nullptr;
  self_ = nullptr;
  std::vector<std::uint32_t> mine;
  const bool own_group = group_ == nullptr;
  std::size_t place_at = 0;
  if (own_group) {
    place_at = emit(Bc::place, 0, 0, 0);
    group_ = &mine;
  }
  CAIRN_TRY(const RegIndex reg, value(*cond));
  if (own_group) {
    code_.insns[place_at].a = static_cast<std::uint32_t>(code_.groups.size());
    code_.groups.push_back(std::move(mine));
    group_ = nullptr;
  }
  const std::size_t skip = emit(Bc::jump_if_not, 0, reg, 0);
  CAIRN_CHECKED(body(stmt.body));
  land(skip);
  return {};
}

Result<void> Compiler::equation(const Stmt& stmt) {
  const auto found = buffer_of_.find(stmt.tensor);
  if (found == buffer_of_.end()) {
    return error_at(program_, stmt.pos, Code::verify, fmt::format("tensor {} has no shape", stmt.tensor));
  }
  const Tensor& tensor = *code_.buffers[found->second].tensor;
  if (tensor.role == Role::in || tensor.role == Role::param || tensor.role == Role::constant) {
    return error_at(program_, stmt.pos, Code::verify,
                    fmt::format("{} {} is written; declare it io, or write another tensor", role_name(tensor.role), tensor.name));
  }
  CAIRN_TRY(TypedPtr rhs, elaborate_rhs(program_, stmt));
  code_.keep.push_back(rhs);
  std::vector<TypedPtr> subscripts;
  for (const ExprPtr& s : stmt.subscripts) {
    CAIRN_TRY(TypedPtr t, elaborate_index(program_, s));
    subscripts.push_back(t);
    code_.keep.push_back(std::move(t));
  }
  equation_ = &stmt;
  std::vector<std::uint32_t> mine;
  const bool own_group = group_ == nullptr;
  std::size_t place_at = 0;
  if (own_group) {
    place_at = emit(Bc::place, 0, 0, 0);
    group_ = &mine;
  }
  self_ = nullptr;
  CAIRN_TRY(target_, place(stmt.tensor, subscripts, nullptr));
  const std::size_t unwanted = filter(stmt.tensor);
  if (const std::optional<SelfUpdate> update = match_self_update(stmt); update && is_float(tensor.dtype)) {
    self_ = update->self;
    const double neutral = neutral_of(update->op);
    if (code_.buffers[found->second].kind == Kind::f64) neutral_.f64 = neutral;
    else neutral_.f32 = static_cast<float>(neutral);
  } else if (update && is_integer(tensor.dtype)) {
    self_ = update->self;
    CAIRN_TRY(neutral_.i64, integer_neutral(update->op, tensor.dtype));
  }
  code_.accesses[target_.access].neutral = neutral_;
  CAIRN_TRY(RegIndex reg, value(*rhs));
  const Dtype d = tensor.dtype;
  if (is_float(d) && d != Dtype::f64 && d != Dtype::f32 && !(options_.wide && !options_.random)) {
    const RegIndex rounded = temp();
    emit(options_.random ? Bc::random_round : Bc::round_f32, rounded, reg, static_cast<std::uint32_t>(d));
    reg = rounded;
  } else if (is_integer(d) && d != Dtype::i64 && d != Dtype::u64) {
    const RegIndex wrapped = temp();
    emit(Bc::wrap_i64, wrapped, reg, static_cast<std::uint32_t>(d));
    reg = wrapped;
  }
  const int kind = static_cast<int>(code_.buffers[found->second].kind);
  const Bc store = target_.computed ? Bc::store_at_f32 : Bc::store_f32;
  emit(static_cast<Bc>(static_cast<int>(store) + kind), reg, target_.access, target_.offset);
  if (unwanted != 0) land(unwanted);
  if (own_group) {
    code_.insns[place_at].a = static_cast<std::uint32_t>(code_.groups.size());
    code_.groups.push_back(std::move(mine));
    group_ = nullptr;
  }
  return {};
}

bool Compiler::affine(const TypedExpr& t, std::int64_t scale, AccessCode* access) const {
  if (t.form != TypedExpr::Form::node) return false;
  std::int64_t product = 0;
  switch (t.op) {
    case Op::int_literal:
      return !__builtin_mul_overflow(t.integer, scale, &product) &&
             !__builtin_add_overflow(access->base, product, &access->base);
    case Op::loop_var: {
      const auto it = var_of_.find(t.expr->name);
      if (it == var_of_.end()) return false;
      for (auto& [reg, coefficient] : access->terms) {
        if (reg == it->second) return !__builtin_add_overflow(coefficient, scale, &coefficient);
      }
      access->terms.emplace_back(it->second, scale);
      return true;
    }
    case Op::add: return affine(*t.args[0], scale, access) && affine(*t.args[1], scale, access);
    case Op::sub:
      return scale != INT64_MIN && affine(*t.args[0], scale, access) && affine(*t.args[1], -scale, access);
    case Op::neg: return scale != INT64_MIN && affine(*t.args[0], -scale, access);
    case Op::mul:
      for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
        const TypedExpr& factor = *t.args[i];
        if (factor.form != TypedExpr::Form::node || factor.op != Op::int_literal) continue;
        return !__builtin_mul_overflow(factor.integer, scale, &product) && affine(*t.args[1 - i], product, access);
      }
      return false;
    default: return false;
  }
}

Result<Compiler::Place> Compiler::place(const std::string& tensor, const std::vector<TypedPtr>& subscripts,
                                        const Expr* expr) {
  const SourcePos pos = expr != nullptr ? expr->pos : equation_->pos;
  const auto found = buffer_of_.find(tensor);
  if (found == buffer_of_.end()) {
    return error_at(program_, pos, Code::verify, fmt::format("tensor {} is read but never written or declared", tensor));
  }
  const Buffer& buffer = code_.buffers[found->second];
  if (buffer.shape.size() != subscripts.size()) {
    return error_at(program_, pos, Code::verify, fmt::format("tensor {} has rank {}, found {} subscripts", tensor,
                                                             buffer.shape.size(), subscripts.size()));
  }
  Place p;
  p.access = static_cast<std::uint32_t>(code_.accesses.size());
  AccessCode access;
  access.buffer = found->second;
  access.expr = expr;
  access.equation = equation_;
  bool direct = true;
  std::int64_t stride = 1;
  for (std::size_t d = subscripts.size(); d-- > 0 && direct;) {
    const std::optional<Interval> range = interval_of(*subscripts[d]->expr, ranges_);
    direct = range && range->lo >= 0 && range->hi < buffer.shape[d] && affine(*subscripts[d], stride, &access);
    stride *= buffer.shape[d];
  }
  code_.accesses.push_back(access);
  if (direct) {
    group_->push_back(p.access);
    return p;
  }
  code_.accesses.back().base = 0;
  code_.accesses.back().terms.clear();
  p.computed = true;
  p.offset = temp();
  stride = 1;
  std::vector<std::int64_t> strides(subscripts.size());
  for (std::size_t d = subscripts.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= buffer.shape[d];
  }
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    CAIRN_TRY(const RegIndex reg, value(*subscripts[d]));
    emit(d == 0 ? Bc::offset_first : Bc::offset_next, p.offset, reg, static_cast<std::uint32_t>(code_.checks.size()), expr);
    code_.checks.push_back({p.access, static_cast<std::uint32_t>(d), code_.buffers[found->second].shape[d], strides[d]});
    }
  return p;
}

}  // namespace cairn::interp
