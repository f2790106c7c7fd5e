// Promises that are not kept: kinds on loops that carry dependences, scopes too narrow, axes and names used twice.
#include <set>

#include "analysis/kernels.h"
#include "verify/mutate/sites.h"

namespace cairn::mutate {

namespace {
StmtPtr with_kind(const Stmt& loop, LoopKind kind, std::string var = {}, LoopMark mark = {}) {
  StmtPtr s = make_loop(kind, loop.extent, loop.var, loop.body, mark, loop.pos);
  return var.empty() ? s : rename_loop_var(s, var);
}
void set_kind(const Program& program, Damages& out, LoopKind kind, std::string_view what) {
  damage_stmts(program, out, what, [kind](const StmtPtr& s, const StmtContext& context, std::vector<Body>& proposals) {
    if (!s->is_loop() || s->kind == kind || s->extent < 2 || s->kind == LoopKind::B) return;
    for (const Stmt* loop : loops_of(context)) {
      if (loop->kind == LoopKind::V) return;
    }
    proposals.push_back({with_kind(*s, kind)});
  });
}
void parallel_loop(const Program& p, Damages& out) { set_kind(p, out, LoopKind::P, "made parallel"); }
void vector_loop(const Program& p, Damages& out) { set_kind(p, out, LoopKind::V, "made a vector loop"); }
bool has_axis(const Stmt& s, std::string_view axis) {
  if (s.is_loop() && s.kind == LoopKind::B && s.var == axis) return true;
  for (const StmtPtr& c : s.body) {
    if (has_axis(*c, axis)) return true;
  }
  return false;
}
void bound_loop(const Program& program, Damages& out) {
  damage_stmts(program, out, "bound to an axis", [](const StmtPtr& s, const StmtContext& context, std::vector<Body>& proposals) {
    if (!s->is_loop() || s->kind != LoopKind::L || s->extent < 2 || s->mark.type != LoopMark::Type::none) return;
    for (const char* axis : {"tx", "ty", "tz", "bx", "bz"}) {
      bool taken = has_axis(*s, axis);
      for (const Stmt* loop : loops_of(context)) taken = taken || loop->var == axis;
      if (!taken) proposals.push_back({with_kind(*s, LoopKind::B, axis)});
    }
  });
}
void narrow_scope(const Program& program, Damages& out) {
  for (const Tensor& t : program.tensors()) {
    if (t.role != Role::tmp) continue;
    for (const Scope scope : {Scope::s, Scope::l}) {
      if (scope <= t.scope) continue;
      Program damaged = program;
      Tensor narrow = t;
      narrow.scope = scope;
      damaged.set_tensor(narrow);
      out.push_back({{}, t.name + ": scope " + std::string(scope_name(t.scope)) + " -> " + std::string(scope_name(scope)), std::move(damaged)});
    }
  }
}
// The axis of an enclosing loop once more.
void repeat_axis(const Program& program, Damages& out) {
  damage_stmts(program, out, "bound to an enclosing axis", [](const StmtPtr& s, const StmtContext& context, std::vector<Body>& proposals) {
    if (!s->is_loop()) return;
    for (const Stmt* loop : loops_of(context)) {
      if (loop->kind == LoopKind::B) proposals.push_back({with_kind(*s, LoopKind::B, loop->var)});
    }
  });
}
void repeat_variable(const Program& program, Damages& out) {
  damage_stmts(program, out, "named as an enclosing loop", [](const StmtPtr& s, const StmtContext& context, std::vector<Body>& proposals) {
    if (!s->is_loop() || s->kind == LoopKind::B) return;
    for (const Stmt* loop : loops_of(context)) {
      if (loop->kind != LoopKind::B) proposals.push_back({rename_loop_var(s, loop->var)});
    }
  });
}
void bind_wrong_name(const Program& program, Damages& out) {
  damage_stmts(program, out, "bound under a name that is no axis", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    // A loop outside B loops may be named after an axis: bound, it breaks no rule of form.
    const bool plain = s->is_loop() && s->kind == LoopKind::L && s->mark.type == LoopMark::Type::none;
    if (plain && !is_axis_name(s->var)) proposals.push_back({with_kind(*s, LoopKind::B)});
  });
}
void vector_outside(const Program& program, Damages& out) {  // V around an L loop, V of 3 lanes
  damage_stmts(program, out, "a vector loop of odd length", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (s->is_loop() && s->kind == LoopKind::L && s->extent > 2 && (s->extent & (s->extent - 1)) != 0) proposals.push_back({with_kind(*s, LoopKind::V)});
  });
}
void block_inside_thread(const Program& program, Damages& out) {
  damage_stmts(program, out, "a block axis inside a thread axis", [](const StmtPtr& s, const StmtContext& context, std::vector<Body>& proposals) {
    if (!s->is_loop() || s->kind != LoopKind::L) return;
    for (const Stmt* loop : loops_of(context)) {
      if (loop->kind == LoopKind::B && loop->var[0] == 't') proposals.push_back({with_kind(*s, LoopKind::B, "bz")});
    }
  });
}
void mark_wrongly(const Program& program, Damages& out) {
  damage_stmts(program, out, "a mark that means nothing here", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (!s->is_loop()) return;
    if (s->kind == LoopKind::L) proposals.push_back({with_kind(*s, LoopKind::U, {}, {LoopMark::Type::count, s->extent + 1})});
    if (s->kind == LoopKind::P) proposals.push_back({with_kind(*s, LoopKind::P, {}, {LoopMark::Type::count, 2})});
    if (s->kind == LoopKind::L) proposals.push_back({with_kind(*s, LoopKind::L, {}, {LoopMark::Type::count, 1})});
  });
}
void write_input(const Program& program, Damages& out) {
  damage_stmts(program, out, "writes an input", [&](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (!s->is_equation()) return;
    visit_expr(*s->rhs, [&](const Expr& e) {
      if (e.op != Op::read) return true;
      const Tensor* t = program.find(e.name);
      if (t != nullptr && t->role == Role::in) proposals.push_back({s, make_equation(e.name, e.args, make_read(e.name, e.args))});
      return true;
    });
  });
}
}  // namespace

void append_promise_damage(std::vector<DamageOperator>& table) {
  table.push_back({"parallel_recurrence", DamageKind::promise, "a loop is promised parallel", parallel_loop});
  table.push_back({"vector_recurrence", DamageKind::promise, "a loop is promised a vector loop", vector_loop});
  table.push_back({"axis_recurrence", DamageKind::promise, "a loop is bound to a block or thread axis", bound_loop});
  table.push_back({"scope_narrowed", DamageKind::promise, "a temporary is promised to stay in a block, iteration or thread", narrow_scope});
  table.push_back({"axis_used_twice", DamageKind::form, "an axis nests in itself", repeat_axis});
  table.push_back({"variable_used_twice", DamageKind::form, "a loop variable is reused inside its loop", repeat_variable});
  table.push_back({"axis_misnamed", DamageKind::form, "a bound loop is not named after an axis", bind_wrong_name});
  table.push_back({"vector_odd", DamageKind::form, "a vector loop whose length is no power of two", vector_outside});
  table.push_back({"block_inside_thread", DamageKind::form, "a block axis inside a thread axis", block_inside_thread});
  table.push_back({"mark_misplaced", DamageKind::form, "a mark that means nothing on its loop", mark_wrongly});
  table.push_back({"input_written", DamageKind::form, "an equation writes an input", write_input});
}

}  // namespace cairn::mutate
