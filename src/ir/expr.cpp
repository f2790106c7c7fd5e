#include "ir/expr.h"

#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/hash.h"

namespace cairn {

namespace {
struct OpRow {
  std::string_view name;
  int arity;
};
// In the order of Op.
constexpr std::array<OpRow, 40> kOps{{
    {"int", 0},  {"float", 0}, {"var", 0}, {"read", -1},
    {"-", 1},    {"+", 2},     {"-", 2},   {"*", 2},    {"/", 2},    {"//", 2},  {"%", 2},   {"**", 2},
    {"<", 2},    {"<=", 2},    {">", 2},   {">=", 2},   {"==", 2},   {"!=", 2},
    {"&", 2},    {"|", 2},     {"!", 1},   {"if_then_else", 3},      {"cast", 1},
    {"exp", 1},  {"log", 1},   {"sqrt", 1}, {"rsqrt", 1}, {"abs", 1}, {"erf", 1}, {"tanh", 1}, {"sin", 1},
    {"cos", 1},  {"floor", 1}, {"ceil", 1}, {"round", 1}, {"sign", 1}, {"isnan", 1},
    {"max", 2},  {"min", 2},   {"xor", 2},
}};
static_assert(static_cast<std::size_t>(Op::bit_xor) == 39);

std::uint64_t node_hash(const Expr& e) {
  std::uint64_t h = mix64(static_cast<std::uint64_t>(e.op) + 1);
  switch (e.op) {
    case Op::int_literal: h = combine64(h, static_cast<std::uint64_t>(e.int_value)); break;
    case Op::float_literal:
      h = combine64(h, std::isnan(e.float_value) ? 0x7ff8ULL << 48 : std::bit_cast<std::uint64_t>(e.float_value));
      break;
    case Op::loop_var:
    case Op::read: h = combine64(h, hash64(e.name)); break;
    case Op::cast: h = combine64(h, static_cast<std::uint64_t>(e.dtype)); break;
    default: break;
  }
  for (const ExprPtr& arg : e.args) h = combine64(h, arg->hash);
  return h;
}

ExprPtr finish(Expr&& e) {
  e.hash = node_hash(e);
  return std::make_shared<const Expr>(std::move(e));
}
}  // namespace

int op_arity(Op op) { return kOps[static_cast<std::size_t>(op)].arity; }
std::string_view op_name(Op op) { return kOps[static_cast<std::size_t>(op)].name; }
bool is_comparison(Op op) { return op >= Op::lt && op <= Op::ne; }

ExprPtr make_int(std::int64_t value, SourcePos pos) {
  Expr e;
  e.op = Op::int_literal;
  e.int_value = value;
  e.pos = pos;
  return finish(std::move(e));
}

ExprPtr make_float(double value, SourcePos pos) {
  Expr e;
  e.op = Op::float_literal;
  e.float_value = value;
  e.pos = pos;
  return finish(std::move(e));
}

ExprPtr make_var(std::string name, SourcePos pos) {
  Expr e;
  e.op = Op::loop_var;
  e.name = std::move(name);
  e.pos = pos;
  return finish(std::move(e));
}

ExprPtr make_read(std::string tensor, std::vector<ExprPtr> subscripts, SourcePos pos) {
  Expr e;
  e.op = Op::read;
  e.name = std::move(tensor);
  e.args = std::move(subscripts);
  e.pos = pos;
  return finish(std::move(e));
}

ExprPtr make_cast(Dtype dtype, ExprPtr value, SourcePos pos) {
  Expr e;
  e.op = Op::cast;
  e.dtype = dtype;
  e.args.push_back(std::move(value));
  e.pos = pos;
  return finish(std::move(e));
}

ExprPtr make_expr(Op op, std::vector<ExprPtr> args, SourcePos pos) {
  CAIRN_CHECK(op_arity(op) == static_cast<int>(args.size()) && op != Op::cast);
  if (op == Op::neg) {
    const Expr& a = *args[0];
    if (a.op == Op::int_literal && a.int_value != INT64_MIN) return make_int(-a.int_value, pos);
    if (a.op == Op::float_literal && !std::isnan(a.float_value)) return make_float(-a.float_value, pos);
  }
  Expr e;
  e.op = op;
  e.args = std::move(args);
  e.pos = pos;
  return finish(std::move(e));
}

bool same_expr(const Expr& a, const Expr& b) {
  if (&a == &b) return true;
  if (a.hash != b.hash || a.op != b.op || a.args.size() != b.args.size() || a.name != b.name) return false;
  if (a.op == Op::int_literal && a.int_value != b.int_value) return false;
  if (a.op == Op::cast && a.dtype != b.dtype) return false;
  if (a.op == Op::float_literal) {
    const bool nan = std::isnan(a.float_value) && std::isnan(b.float_value);
    if (!nan && std::bit_cast<std::uint64_t>(a.float_value) != std::bit_cast<std::uint64_t>(b.float_value)) return false;
  }
  for (std::size_t i = 0; i < a.args.size(); ++i) {
    if (!same_expr(*a.args[i], *b.args[i])) return false;
  }
  return true;
}

ExprPtr rewrite_expr(const ExprPtr& root, const std::function<ExprPtr(const ExprPtr&)>& fn) {
  ExprPtr node = root;
  if (!root->args.empty()) {
    std::vector<ExprPtr> args;
    args.reserve(root->args.size());
    bool changed = false;
    for (const ExprPtr& arg : root->args) {
      args.push_back(rewrite_expr(arg, fn));
      changed |= args.back() != arg;
    }
    if (changed) {
      switch (root->op) {
        case Op::read: node = make_read(root->name, std::move(args), root->pos); break;
        case Op::cast: node = make_cast(root->dtype, std::move(args[0]), root->pos); break;
        default: node = make_expr(root->op, std::move(args), root->pos); break;
      }
    }
  }
  ExprPtr replaced = fn(node);
  return replaced ? replaced : node;
}

void visit_expr(const Expr& root, const std::function<bool(const Expr&)>& fn) {
  if (!fn(root)) return;
  for (const ExprPtr& arg : root.args) visit_expr(*arg, fn);
}

ExprPtr substitute_vars(const ExprPtr& root, const std::vector<std::pair<std::string, ExprPtr>>& map) {
  return rewrite_expr(root, [&map](const ExprPtr& e) -> ExprPtr {
    if (e->op != Op::loop_var) return nullptr;
    for (const auto& [name, value] : map) {
      if (name == e->name) return value;
    }
    return nullptr;
  });
}

bool reads_tensor(const Expr& root, std::string_view tensor) {
  if (root.op == Op::read && root.name == tensor) return true;
  for (const ExprPtr& arg : root.args) {
    if (reads_tensor(*arg, tensor)) return true;
  }
  return false;
}

bool uses_var(const Expr& root, std::string_view var) {
  if (root.op == Op::loop_var && root.name == var) return true;
  for (const ExprPtr& arg : root.args) {
    if (uses_var(*arg, var)) return true;
  }
  return false;
}

}  // namespace cairn
