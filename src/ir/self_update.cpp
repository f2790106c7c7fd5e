#include "ir/self_update.h"

#include "ir/printer.h"

namespace cairn {

namespace {
// Which chain an operator belongs to: 1 for + -, 2 for * /, 0 for none.
int chain_of(Op op) {
  switch (op) {
    case Op::add: case Op::sub: return 1;
    case Op::mul: case Op::div: return 2;
    default: return 0;
  }
}
bool inverts(Op op) { return op == Op::sub || op == Op::div; }

bool is_element(const Expr& e, const Stmt& equation) {
  if (e.op != Op::read || e.name != equation.tensor || e.args.size() != equation.subscripts.size()) return false;
  for (std::size_t i = 0; i < e.args.size(); ++i) {
    if (!same_expr(e.args[i], equation.subscripts[i])) return false;
  }
  return true;
}

int count_reads(const Expr& e, std::string_view tensor) {
  int n = e.op == Op::read && e.name == tensor ? 1 : 0;
  for (const ExprPtr& arg : e.args) n += count_reads(*arg, tensor);
  return n;
}

// Collects the chain's operands in text order; X with a plus sign goes to out.self.
void collect_operands(const ExprPtr& e, int chain, bool inverse, const Stmt& equation, SelfUpdate& out) {
  if (chain_of(e->op) == chain) {
    collect_operands(e->args[0], chain, inverse, equation, out);
    collect_operands(e->args[1], chain, inverse != inverts(e->op), equation, out);
    return;
  }
  if (!inverse && out.self == nullptr && is_element(*e, equation)) {
    out.self = e.get();
  } else {
    out.others.push_back({e, inverse});
  }
}

// Counts the nodes on the way to X whose right operand leads to it; *last_right is the outermost.
bool find_path(const Expr& e, int chain, bool inverse, const Stmt& equation, const Expr** last_right, int* rights) {
  if (chain_of(e.op) != chain) return !inverse && is_element(e, equation);
  if (find_path(*e.args[0], chain, inverse, equation, last_right, rights)) return true;
  if (!find_path(*e.args[1], chain, inverse != inverts(e.op), equation, last_right, rights)) return false;
  ++*rights;
  *last_right = &e;
  return true;
}
}  // namespace

std::optional<SelfUpdate> match_self_update(const Stmt& equation) {
  if (!equation.is_equation()) return std::nullopt;
  const Expr& rhs = *equation.rhs;
  SelfUpdate out;
  if (rhs.op == Op::max || rhs.op == Op::min) {
    out.op = rhs.op == Op::max ? UpdateOp::max : UpdateOp::min;
    for (const ExprPtr& arg : rhs.args) {
      if (out.self == nullptr && is_element(*arg, equation)) {
        out.self = arg.get();
      } else {
        out.others.push_back({arg, false});
      }
    }
  } else if (const int chain = chain_of(rhs.op); chain != 0) {
    out.op = chain == 1 ? UpdateOp::add : UpdateOp::mul;
    collect_operands(equation.rhs, chain, false, equation, out);
  }
  if (out.self == nullptr || count_reads(rhs, equation.tensor) != 1) return std::nullopt;
  return out;
}

const Expr* find_front_swap(const Stmt& equation) {
  const Expr& rhs = *equation.rhs;
  if (rhs.op == Op::max || rhs.op == Op::min) {
    const bool swap = is_element(*rhs.args[1], equation) && count_reads(rhs, equation.tensor) == 1;
    return swap ? &rhs : nullptr;
  }
  const int chain = chain_of(rhs.op);
  if (chain == 0) return nullptr;
  const Expr* front = &rhs;
  while (chain_of(front->op) == chain) front = front->args[0].get();
  if (is_element(*front, equation)) return nullptr;
  const Expr* node = nullptr;
  int rights = 0;
  if (!find_path(rhs, chain, false, equation, &node, &rights)) return nullptr;
  if (rights != 1 || inverts(node->op) || count_reads(rhs, equation.tensor) != 1) return nullptr;
  return node;
}

std::string_view update_op_name(UpdateOp op) {
  switch (op) {
    case UpdateOp::add: return "+";
    case UpdateOp::mul: return "*";
    case UpdateOp::max: return "max";
    case UpdateOp::min: return "min";
  }
  return "";
}

ExprPtr neutral_element(UpdateOp op, Dtype dtype) {
  if (op == UpdateOp::add || dtype == Dtype::boolean) return make_int(op == UpdateOp::mul || op == UpdateOp::min ? 1 : 0);
  if (op == UpdateOp::mul) return make_int(1);
  const bool lowest = op == UpdateOp::max;
  if (!is_integer(dtype)) return make_float(lowest ? -__builtin_inf() : __builtin_inf());
  switch (dtype) {
    case Dtype::i32: return make_int(lowest ? INT32_MIN : INT32_MAX);
    case Dtype::i16: return make_int(lowest ? INT16_MIN : INT16_MAX);
    case Dtype::i8: return make_int(lowest ? INT8_MIN : INT8_MAX);
    case Dtype::i4: return make_int(lowest ? -8 : 7);
    case Dtype::u32: return make_int(lowest ? 0 : std::int64_t{UINT32_MAX});
    case Dtype::u16: return make_int(lowest ? 0 : UINT16_MAX);
    case Dtype::u8: return make_int(lowest ? 0 : UINT8_MAX);
    case Dtype::u4: return make_int(lowest ? 0 : 15);
    case Dtype::u64: return make_int(lowest ? 0 : INT64_MAX);  // computed in i64: no value above takes part
    default: return make_int(lowest ? INT64_MIN : INT64_MAX);
  }
}

}  // namespace cairn
