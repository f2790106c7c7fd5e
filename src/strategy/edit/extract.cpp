#include "strategy/edit/extract.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "ir/canon.h"
#include "ir/self_update.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

bool is_boolean_op(Op op) {
  return is_comparison(op) || op == Op::isnan || op == Op::logical_and || op == Op::logical_or || op == Op::logical_not;
}

// Compute types of the nodes of a right side; a node shared between places of different types has none.
class TypeTable {
 public:
  TypeTable(const Program& program, const Stmt& equation) {
    const Result<TypedPtr> typed = elaborate_rhs(program, equation);
    if (typed) add(**typed);
  }
  const ComputeType* find(const Expr& e) const {
    const auto it = types_.find(&e);
    return it == types_.end() || it->second.second ? nullptr : &it->second.first;
  }

 private:
  void add(const TypedExpr& t) {
    if (t.form == TypedExpr::Form::node && t.expr != nullptr) {
      const auto [it, fresh] = types_.try_emplace(t.expr, t.type, false);
      it->second.second |= !fresh && it->second.first != t.type;
      if (!fresh && !it->second.second) return;
    }
    for (const TypedPtr& arg : t.args) add(*arg);
  }
  std::unordered_map<const Expr*, std::pair<ComputeType, bool>> types_;
};

// Visits the nodes outside subscripts in pre-order, with their conditions; fn may return a replacement.
class Walker {
 public:
  using Visit = std::function<ExprPtr(const ExprPtr&, std::size_t, const std::vector<Condition>&)>;
  explicit Walker(const Visit& visit) : visit_(visit) {}

  ExprPtr walk(const ExprPtr& e) {
    const std::size_t mine = ordinal_++;
    if (ExprPtr now = visit_(e, mine, conditions_)) {
      skip(*e);
      return now;
    }
    if (e->op == Op::read || e->args.empty()) return e;
    std::vector<ExprPtr> args;
    bool same = true;
    for (std::size_t k = 0; k < e->args.size(); ++k) {
      const bool guarded = k > 0 && (e->op == Op::select || e->op == Op::logical_and || e->op == Op::logical_or);
      if (guarded) conditions_.push_back({e->args[0], e->op == Op::select ? k == 1 : e->op == Op::logical_and});
      args.push_back(walk(e->args[k]));
      if (guarded) conditions_.pop_back();
      same &= args.back() == e->args[k];
    }
    if (same) return e;
    return e->op == Op::cast ? make_cast(e->dtype, std::move(args[0]), e->pos) : make_expr(e->op, std::move(args), e->pos);
  }

 private:
  void skip(const Expr& e) {
    if (e.op == Op::read) return;
    for (const ExprPtr& arg : e.args) {
      ++ordinal_;
      skip(*arg);
    }
  }
  const Visit& visit_;
  std::vector<Condition> conditions_;
  std::size_t ordinal_ = 0;
};

bool has_read(const Expr& e) {
  bool found = false;
  visit_expr(e, [&](const Expr& n) {
    found |= n.op == Op::read;
    return !found;
  });
  return found;
}

bool uses_var_in_function(const Expr& e) {
  bool var = false;
  visit_expr(e, [&](const Expr& n) {
    var |= n.op == Op::loop_var;
    return !var;
  });
  return var && !is_index_expr(e);
}

bool is_operation(const Expr& e) {
  return !e.args.empty() && e.op != Op::read && !is_boolean_op(e.op) && (has_read(e) || uses_var_in_function(e));
}

Dtype dtype_of(ComputeType type) {
  return type == ComputeType::f64 ? Dtype::f64 : type == ComputeType::i64 ? Dtype::i64 : Dtype::f32;
}

bool has_float_literal(const Expr& e) {
  bool found = false;
  visit_expr(e, [&](const Expr& n) {
    found |= n.op == Op::float_literal;
    return !found;
  });
  return found;
}

void add_name(const std::string& name, std::vector<std::string>* names) {
  if (std::find(names->begin(), names->end(), name) == names->end()) names->push_back(name);
}
bool has_name(const std::vector<std::string>& names, const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); }

bool is_split_kind(LoopKind kind) { return kind == LoopKind::P || kind == LoopKind::B; }

// Loops between the body around `before` and an equation.
std::vector<const Stmt*> loops_below(const Program& program, const StmtPath& before, const StmtPath& path) {
  std::vector<const Stmt*> out;
  for (std::size_t n = before.size(); n < path.size(); ++n) {
    const Stmt* stmt = stmt_at(program.body(), StmtPath(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(n)));
    if (stmt->is_loop()) out.push_back(stmt);
  }
  return out;
}

// g where kernels may part the temporary from a use, or at the top level, else l.
Scope scope_of(const Program& program, const Extraction& plan) {
  if (plan.before.size() == 1) return Scope::g;
  for (const Stmt* loop : loops_above(program.body(), plan.before)) {
    if (is_split_kind(loop->kind)) return Scope::l;
  }
  for (const PartUse& use : plan.uses) {
    for (const Stmt* loop : loops_below(program, plan.before, use.part.path)) {
      if (is_split_kind(loop->kind)) return Scope::g;
    }
  }
  return Scope::l;
}

ExprPtr select_of(const Condition& condition, ExprPtr value) {
  ExprPtr zero = make_int(0);
  if (condition.holds) return make_expr(Op::select, {condition.cond, std::move(value), std::move(zero)});
  return make_expr(Op::select, {condition.cond, std::move(zero), std::move(value)});
}

}  // namespace

bool in_matrix_unit(const Program& program, const StmtPath& path) {
  const std::vector<const Stmt*> above = loops_above(program.body(), path);
  return std::any_of(above.begin(), above.end(), [](const Stmt* loop) { return loop->kind == LoopKind::M; });
}

std::vector<Condition> guards_of(const Program& program, const StmtPath& before, const Part& part) {
  std::vector<Condition> out;
  for (std::size_t n = before.size(); n < part.path.size(); ++n) {
    const Stmt* stmt = stmt_at(program.body(), StmtPath(part.path.begin(), part.path.begin() + static_cast<std::ptrdiff_t>(n)));
    if (!stmt->is_test()) continue;
    for (ExprPtr& conjunct : split_conjunction(stmt->cond)) out.push_back({std::move(conjunct), true});
  }
  out.insert(out.end(), part.conditions.begin(), part.conditions.end());
  return out;
}

void add_operands(const Expr& expr, std::vector<std::string>* operands) {
  visit_expr(expr, [&](const Expr& e) {
    if (e.op == Op::read) add_name(e.name, operands);
    return true;
  });
}

void add_vars(const Expr& expr, std::vector<std::string>* vars) {
  visit_expr(expr, [&](const Expr& e) {
    if (e.op == Op::loop_var) add_name(e.name, vars);
    return true;
  });
}

std::vector<Part> list_parts(const Program& program, const StmtPath& equation) {
  std::vector<Part> out;
  const Stmt& stmt = *stmt_at(program.body(), equation);
  if (stmt.rhs->args.empty() || stmt.rhs->op == Op::read) return out;
  const TypeTable types(program, stmt);
  const Walker::Visit visit = [&](const ExprPtr& e, std::size_t ordinal, const std::vector<Condition>& conditions) -> ExprPtr {
    if (!is_operation(*e) || reads_tensor(*e, stmt.tensor)) return nullptr;
    const ComputeType* type = types.find(*e);
    if (type != nullptr && *type != ComputeType::boolean) out.push_back({equation, &stmt, ordinal, e, conditions, *type});
    return nullptr;
  };
  Walker(visit).walk(stmt.rhs);
  return out;
}

std::string part_text(const Part& part) { return print_expr(*part.expr); }

Result<Part> find_part(const Program& program, const StmtPath& at, const std::string& text, int condition) {
  CAIRN_TRY(const ExprPtr wanted, parse_expr(text));
  const Stmt& root = *stmt_at(program.body(), at);
  std::vector<StmtPath> equations;
  if (root.is_equation()) {
    equations.push_back(at);
  } else {
    for (const EquationRef& ref : collect_equations(root.body)) {
      StmtPath path = at;
      path.insert(path.end(), ref.path.begin(), ref.path.end());
      equations.push_back(std::move(path));
    }
  }
  const Stmt* seen = nullptr;
  for (const StmtPath& path : equations) {
    const Stmt& stmt = *stmt_at(program.body(), path);
    bool here = false;
    const Walker::Visit visit = [&](const ExprPtr& e, std::size_t, const std::vector<Condition>&) -> ExprPtr {
      here |= same_expr(e, wanted);
      return nullptr;
    };
    Walker(visit).walk(stmt.rhs);
    if (!here) continue;
    seen = &stmt;
    for (Part& part : list_parts(program, path)) {
      if (same_expr(part.expr, wanted)) return std::move(part);
    }
  }
  if (seen == nullptr) return no_site(program, root.pos, fmt::format("{} is no part of a right side here", text));
  if (reads_tensor(*wanted, seen->tensor)) {
    return refuse(program, seen->pos, condition, fmt::format("{} reads {}, which the equation writes", text, seen->tensor));
  }
  return refuse(program, seen->pos, condition, fmt::format("{} is no operation on values that a temporary could hold", text));
}

bool keeps_operands(const Program& program, const StmtPath& before, std::size_t last, const std::vector<std::string>& operands, const Stmt** writer) {
  StmtPath at = before;
  for (at.back() = before.back(); at.back() <= last; ++at.back()) {
    const Stmt& child = *stmt_at(program.body(), at);
    if (child.is_equation() && at.back() == last) continue;  // writes after it has read
    for (const std::string& name : operands) {
      if (!writes_below(child, name)) continue;
      if (writer != nullptr) *writer = &child;
      return false;
    }
  }
  return true;
}

Result<Extraction> plan_extraction(const Program& program, const StmtPath& before, const Part& leader, std::vector<PartUse> uses,
                                   bool invariant, const ExtractRules& rules) {
  Extraction plan;
  plan.before = before;
  plan.leader = leader;
  plan.uses = std::move(uses);
  const SourcePos pos = leader.equation->pos;
  const std::vector<const Stmt*> below = loops_below(program, before, leader.path);
  const auto varies = [&](const Expr& e) { return std::any_of(below.begin(), below.end(), [&](const Stmt* loop) { return uses_var(e, loop->var); }); };

  std::vector<std::string> vars, operands;
  add_vars(*leader.expr, &vars);
  add_operands(*leader.expr, &operands);
  const std::vector<Condition> guards = guards_of(program, before, leader);
  std::size_t from_tests = 0;   // selects that were T tests
  for (std::size_t k = 0; k < guards.size(); ++k) {
    const Condition& guard = guards[k];
    const bool is_test = k + leader.conditions.size() < guards.size();
    if (invariant && varies(*guard.cond)) {
      plan.dropped_guard = true;
      continue;
    }
    add_vars(*guard.cond, &vars);
    add_operands(*guard.cond, &operands);
    if (is_test && is_index_condition(*guard.cond)) {
      plan.tests.push_back(guard.cond);
    } else {
      plan.selects.push_back(guard);
      from_tests += is_test ? 1 : 0;
    }
  }
  const ComputeType target = compute_type(program.find(leader.equation->tensor)->dtype);
  for (std::size_t k = 0; k < plan.selects.size(); ++k) {
    const ComputeType before_type = k < from_tests || target == ComputeType::boolean ? ComputeType::f32 : target;
    const Expr& cond = *plan.selects[k].cond;
    if (before_type != leader.type && has_float_literal(cond)) {
      return refuse(program, pos, rules.types, fmt::format("the guard {} would be compared in another type beside {}", print_expr(cond), part_text(leader)));
    }
  }
  std::size_t last = before.back();
  for (const PartUse& use : plan.uses) last = std::max<std::size_t>(last, use.part.path[before.size() - 1]);
  const Stmt* writer = nullptr;
  if (!keeps_operands(program, before, last, operands, &writer)) {
    std::string name;
    for (const std::string& operand : operands) name = name.empty() && writes_below(*writer, operand) ? operand : name;
    return refuse(program, writer->pos, rules.rewritten, fmt::format("{}, an operand of {}, may be rewritten between", name, part_text(leader)));
  }
  for (const Stmt* loop : loops_above(program.body(), leader.path)) {
    const bool own = std::find(below.begin(), below.end(), loop) != below.end();
    const bool lane = loop->kind == LoopKind::V || loop->kind == LoopKind::M;
    if (!has_name(vars, loop->var) && (own || !lane)) continue;
    plan.index.push_back(loop->var);
    if (!own) continue;
    const LoopKind kind = is_split_kind(loop->kind) ? loop->kind : LoopKind::L;
    plan.loops.push_back(loop_like(*loop, kind, loop->extent, loop->var));
  }
  return plan;
}

Result<Step> build_extraction(const Program& program, const Target& target, const Extraction& plan, int condition_count) {
  Step step;
  Tensor made;
  made.name = fresh_tensor(program);
  made.dtype = dtype_of(plan.leader.type);
  made.scope = scope_of(program, plan);
  std::vector<ExprPtr> index;
  for (const std::string& var : plan.index) index.push_back(make_var(var));
  ExprPtr value = plan.leader.expr;
  for (std::size_t k = plan.selects.size(); k-- > 0;) value = select_of(plan.selects[k], std::move(value));
  Body nest = build_band(plan.loops, plan.tests, Body{make_equation(made.name, index, value)});

  Body body = program.body();
  std::vector<StmtPath> done;
  for (const PartUse& first : plan.uses) {
    if (std::find(done.begin(), done.end(), first.part.path) != done.end()) continue;
    done.push_back(first.part.path);
    const Stmt& equation = *first.part.equation;
    const Walker::Visit visit = [&](const ExprPtr& e, std::size_t ordinal, const std::vector<Condition>&) -> ExprPtr {
      for (const PartUse& use : plan.uses) {
        if (use.part.path != first.part.path || use.part.ordinal != ordinal) continue;
        std::vector<ExprPtr> at;
        for (const ExprPtr& var : index) at.push_back(substitute_vars(var, use.names));
        return make_read(made.name, std::move(at), e->pos);
      }
      return nullptr;
    };
    const StmtPtr now = make_equation(equation.tensor, equation.subscripts, Walker(visit).walk(equation.rhs), equation.pos);
    if (match_self_update(equation).has_value() != match_self_update(*now).has_value()) {
      return refuse(program, equation.pos, 1, fmt::format("the update of {} would no longer be one", equation.tensor));
    }
    body = replace_at(body, first.part.path, {now});
  }
  const StmtPtr follower = shared_at(body, plan.before);
  nest.push_back(follower);
  step.after = program;
  step.after.set_body(replace_at(body, plan.before, nest));
  step.after.set_tensor(made);
  step.created.push_back(made.name);
  step.same_instances = false;
  step.proved = conditions_up_to(condition_count);
  const Strategy& undo = *find_strategy("compute_inline");
  const Args args{{"tensor", made.name}};
  if (const Result<Step> back = undo.apply(step.after, target, args); back && canonical_hash(back->after) == canonical_hash(program)) {
    step.inverse = Action{std::string(undo.name), args};
  }
  return step;
}

}  // namespace cairn
