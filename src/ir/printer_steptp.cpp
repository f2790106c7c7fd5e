// Writing the Step-TP profile (leir.md "The Step-TP profile"): bare body, every nest with a thread axis tx,
// functions that Step-TP lacks expanded into stable forms.
#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "ir/printer.h"
#include "ir/steptp_hints.h"
#include "ir/walk.h"

namespace cairn {

namespace {
constexpr std::int64_t kMaxThreads = 1024;
constexpr int kMaxCopies = 6;  // nested functions whose expansion repeats the argument

bool is_condition(const Expr& e) {
  return is_comparison(e.op) || e.op == Op::logical_and || e.op == Op::logical_or || e.op == Op::logical_not || e.op == Op::isnan;
}

// Whether every mention below of a tensor written below has `var` itself as its subscript number d, for some d
// of each tensor: then the loop carries no dependence. Sound, and enough for what translators emit.
class Independence {
 public:
  explicit Independence(const Stmt& loop) : var_(loop.var) { walk(loop.body); }
  bool holds() const {
    return std::all_of(tensors_.begin(), tensors_.end(), [](const auto& entry) {
      return !entry.second.written ||
             std::find(entry.second.plain.begin(), entry.second.plain.end(), true) != entry.second.plain.end();
    });
  }

 private:
  struct Mentions {
    bool written = false;
    bool seen = false;
    std::vector<bool> plain;  // by dimension: the variable alone in every mention so far
  };
  void mention(const std::string& name, const std::vector<ExprPtr>& subscripts, bool write) {
    Mentions& m = tensors_[name];
    m.written |= write;
    if (!m.seen) m.plain.assign(subscripts.size(), true);
    m.seen = true;
    m.plain.resize(std::min(m.plain.size(), subscripts.size()));
    for (std::size_t d = 0; d < m.plain.size(); ++d) {
      if (subscripts[d]->op != Op::loop_var || subscripts[d]->name != var_) m.plain[d] = false;
    }
  }
  void walk(const Expr& e) {
    if (e.op == Op::read) mention(e.name, e.args, false);
    for (const ExprPtr& arg : e.args) walk(*arg);
  }
  void walk(const Body& body) {
    for (const StmtPtr& stmt : body) {
      if (stmt->is_equation()) {
        mention(stmt->tensor, stmt->subscripts, true);
        for (const ExprPtr& subscript : stmt->subscripts) walk(*subscript);
        walk(*stmt->rhs);
      }
      if (stmt->is_test()) walk(*stmt->cond);
      walk(stmt->body);
    }
  }

  const std::string& var_;
  std::map<std::string, Mentions> tensors_;
};

bool has_axis(const Stmt& stmt, std::string_view axis) {
  if (stmt.is_loop() && stmt.kind == LoopKind::B && stmt.var == axis) return true;
  return std::any_of(stmt.body.begin(), stmt.body.end(), [axis](const StmtPtr& child) { return has_axis(*child, axis); });
}

bool binds(const Stmt& stmt, std::string_view var) {
  if (stmt.is_loop() && stmt.var == var) return true;
  return std::any_of(stmt.body.begin(), stmt.body.end(), [var](const StmtPtr& child) { return binds(*child, var); });
}

// Takes away what the Step-TP reading put in, tests for a first iteration, and gives V loops their kind back.
Body unread(const Body& body) {
  Body out;
  for (const StmtPtr& stmt : body) {
    if (stmt->is_equation()) {
      out.push_back(stmt);
      continue;
    }
    Body inner = unread(stmt->body);
    if (stmt->is_test() && stmt->axis_hint == kOnceHint) {
      out.insert(out.end(), inner.begin(), inner.end());
      continue;
    }
    auto copy = std::make_shared<Stmt>(*with_body(*stmt, std::move(inner)));
    if (copy->is_loop() && copy->axis_hint == kLanesHint) {
      if (copy->kind == LoopKind::P) copy->kind = LoopKind::V;
      copy->axis_hint.clear();
    }
    out.push_back(std::move(copy));
  }
  return out;
}

StmtPtr as_axis(const StmtPtr& loop, const std::string& axis) {
  StmtPtr named = loop->var == axis ? loop : rename_loop_var(loop, axis);
  auto bound = std::make_shared<Stmt>(*named);
  bound->kind = LoopKind::B;
  bound->axis_hint.clear();
  return bound;
}

// Restores hinted axes; then, without a tx, the outermost P that is not inside another, if there is one.
StmtPtr restore_hints(const StmtPtr& stmt) {
  if (stmt->is_equation()) return stmt;
  Body body;
  for (const StmtPtr& child : stmt->body) body.push_back(restore_hints(child));
  StmtPtr out = body == stmt->body ? stmt : with_body(*stmt, std::move(body));
  const bool hinted = stmt->is_loop() && !stmt->axis_hint.empty() && (stmt->kind == LoopKind::P || stmt->kind == LoopKind::B);
  return hinted && (stmt->var == stmt->axis_hint || !binds(*out, stmt->axis_hint)) ? as_axis(out, stmt->axis_hint) : out;
}

// Binds the outermost loop that `fits` to tx, or returns null. Only perfect nests are entered.
template <class Fits>
StmtPtr bind_outermost(const StmtPtr& stmt, const Fits& fits) {
  if (!stmt->is_loop()) return nullptr;
  if (fits(*stmt)) return as_axis(stmt, "tx");
  if (stmt->body.size() != 1) return nullptr;
  StmtPtr inner = bind_outermost(stmt->body[0], fits);
  return inner ? with_body(*stmt, Body{std::move(inner)}) : nullptr;
}

StmtPtr give_thread_axis(const StmtPtr& nest) {
  StmtPtr stmt = restore_hints(nest);
  if (has_axis(*stmt, "tx")) return stmt;
  const bool taken = binds(*stmt, "tx") && !(stmt->is_loop() && stmt->var == "tx");
  if (!taken) {
    if (StmtPtr bound = bind_outermost(stmt, [](const Stmt& s) { return s.kind == LoopKind::P; })) return bound;
    StmtPtr bound = bind_outermost(stmt, [](const Stmt& s) {
      return s.kind != LoopKind::B && s.kind != LoopKind::V && s.extent <= kMaxThreads && Independence(s).holds();
    });
    if (bound) return bound;
  }
  return make_loop(LoopKind::B, 1, "tx", Body{std::move(stmt)}, {}, nest->pos);
}

class StepTpWriter {
 public:
  explicit StepTpWriter(const Program& program) : program_(program) {}

  Result<std::string> write() {
    for (const Tensor& tensor : program_.tensors()) {
      if (tensor.role == Role::io) return refuse(tensor.pos, fmt::format("tensor {} is io", tensor.name));
      if (tensor.dtype == Dtype::tf32) return refuse(tensor.pos, fmt::format("tensor {} is tf32", tensor.name));
    }
    std::string out;
    Printer printer(out, &program_, Profile::leir);
    for (const StmtPtr& nest : unread(program_.body())) {
      CAIRN_TRY(StmtPtr plain, rewrite(nest));
      printer.print_statement(*give_thread_axis(plain));
      out += '\n';
    }
    return out;
  }

 private:
  Error refuse(SourcePos pos, std::string what) const {
    Error error = error_at(program_, pos, Code::illegal, fmt::format("{}; the steptp profile has no such thing", what));
    error.notes.push_back("print with --profile leir or short instead");
    return error;
  }

  Result<StmtPtr> rewrite(const StmtPtr& stmt) {
    if (stmt->is_equation()) {
      std::vector<ExprPtr> subscripts;
      for (const ExprPtr& subscript : stmt->subscripts) {
        CAIRN_TRY(ExprPtr expanded, value(subscript));
        subscripts.push_back(std::move(expanded));
      }
      CAIRN_TRY(ExprPtr rhs, value(stmt->rhs));
      return make_equation(stmt->tensor, std::move(subscripts), std::move(rhs), stmt->pos);
    }
    if (stmt->is_test()) return refuse(stmt->pos, "a test T^{condition}");
    if (stmt->kind == LoopKind::M) return refuse(stmt->pos, fmt::format("matrix-unit loop M over {}", stmt->var));
    if (stmt->mark.type != LoopMark::Type::none) return refuse(stmt->pos, fmt::format("the mark of loop {}", stmt->var));
    if (stmt->kind == LoopKind::B && (stmt->var == "wx" || stmt->var == "gx")) {
      return refuse(stmt->pos, fmt::format("axis {}", stmt->var));
    }
    Body body;
    for (const StmtPtr& child : stmt->body) {
      CAIRN_TRY(StmtPtr plain, rewrite(child));
      body.push_back(std::move(plain));
    }
    return with_body(*stmt, std::move(body));
  }

  // An expression whose value is used as a number.
  Result<ExprPtr> value(const ExprPtr& e) {
    CAIRN_TRY(ExprPtr plain, expand(e));
    if (!is_condition(*plain)) return plain;
    return make_expr(Op::select, {plain, make_int(1), make_int(0)}, e->pos);
  }

  Result<ExprPtr> expand(const ExprPtr& e) {
    const bool copies = e->op == Op::sign || e->op == Op::isnan;
    if (copies && copies_ == kMaxCopies) {
      return refuse(e->pos, fmt::format("more than {} nested sign and isnan, which would repeat their argument", kMaxCopies));
    }
    copies_ += copies ? 1 : 0;
    std::vector<ExprPtr> args;
    args.reserve(e->args.size());
    const bool keeps = is_condition(*e) && e->op != Op::isnan && !is_comparison(e->op);
    for (std::size_t i = 0; i < e->args.size(); ++i) {
      const bool condition = keeps || (e->op == Op::select && i == 0);
      CAIRN_TRY(ExprPtr arg, condition ? expand(e->args[i]) : value(e->args[i]));
      args.push_back(std::move(arg));
    }
    copies_ -= copies ? 1 : 0;
    const SourcePos pos = e->pos;
    switch (e->op) {
      case Op::int_literal: case Op::loop_var: return e;
      case Op::float_literal:
        if (e->float_value != e->float_value) return refuse(pos, "the number nan");
        return e;
      case Op::read: return make_read(e->name, std::move(args), pos);
      case Op::cast: return refuse(pos, fmt::format("conversion {}(..)", dtype_name(e->dtype)));
      case Op::floor: case Op::ceil: case Op::round: case Op::sin: case Op::cos: case Op::bit_xor:
        return refuse(pos, fmt::format("function {}", op_name(e->op)));
      case Op::rsqrt: return make_expr(Op::div, {make_int(1), make_expr(Op::sqrt, std::move(args))}, pos);
      case Op::tanh: {  // 1-2/(exp(2x)+1): exact limits at both ends
        ExprPtr twice = make_expr(Op::exp, {make_expr(Op::mul, {make_int(2), args[0]})});
        ExprPtr fraction = make_expr(Op::div, {make_int(2), operator_add(std::move(twice), make_int(1))});
        return make_expr(Op::sub, {make_int(1), std::move(fraction)}, pos);
      }
      case Op::sign: {
        ExprPtr negative = make_expr(Op::select, {make_expr(Op::lt, {args[0], make_int(0)}), make_int(-1), make_int(0)});
        return make_expr(Op::select, {make_expr(Op::gt, {args[0], make_int(0)}), make_int(1), std::move(negative)}, pos);
      }
      case Op::isnan: return make_expr(Op::ne, {args[0], args[0]}, pos);
      case Op::logical_not:
        return make_expr(Op::eq, {make_expr(Op::select, {args[0], make_int(0), make_int(1)}), make_int(1)}, pos);
      default: return make_expr(e->op, std::move(args), pos);
    }
  }

  const Program& program_;
  int copies_ = 0;
};
}  // namespace

Result<std::string> print_steptp(const Program& program) { return StepTpWriter(program).write(); }

}  // namespace cairn
