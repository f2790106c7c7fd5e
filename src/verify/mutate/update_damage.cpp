// Reductions: lost accumulation, starts, prior values, resets, rescales.
#include "ir/subscripts.h"
#include "verify/mutate/sites.h"

namespace cairn::mutate {

namespace {
bool is_literal(const Expr& e) { return e.op == Op::int_literal || e.op == Op::float_literal; }
// An explicit start: X=number (or a copy of nothing that X is).
bool is_start(const Program& program, const Stmt& s) {
  if (!s.is_equation() || !is_literal(*s.rhs)) return false;
  bool updated = false;
  visit_stmts(program.body(), [&](const Stmt& other, const StmtContext&) {
    updated = updated || (other.is_equation() && other.tensor == s.tensor && reads_tensor(*other.rhs, s.tensor));
  });
  return updated;
}
template <class Fn>
void each_update(const Program& program, Damages& out, std::string_view what, const Fn& fn) {
  damage_stmts(program, out, what, [&](const StmtPtr& s, const StmtContext& context, std::vector<Body>& proposals) {
    if (!s->is_equation()) return;
    if (const std::optional<SelfUpdate> update = match_self_update(*s)) fn(s, *update, context, proposals);
  });
}
ExprPtr own_read(const Stmt& s) { return make_read(s.tensor, s.subscripts); }
Op operator_of(UpdateOp op) {
  switch (op) {
    case UpdateOp::add: return Op::add;
    case UpdateOp::mul: return Op::mul;
    case UpdateOp::max: return Op::max;
    case UpdateOp::min: return Op::min;
  }
  return Op::add;
}
ExprPtr others_of(const SelfUpdate& update) {  // X = X op (what this gives)
  ExprPtr sum;
  for (const SelfUpdate::Operand& o : update.others) {
    ExprPtr e = o.expr;
    if (o.inverse) e = update.op == UpdateOp::add ? make_expr(Op::neg, {e}) : make_expr(Op::div, {make_int(1), e});
    sum = sum ? make_expr(operator_of(update.op), {sum, e}) : e;
  }
  return sum;
}

void lose_accumulation(const Program& program, Damages& out) {
  each_update(program, out, "the old value is lost", [](const StmtPtr& s, const SelfUpdate& u, const StmtContext&, std::vector<Body>& proposals) {
    if (const ExprPtr e = others_of(u)) proposals.push_back({make_equation(s->tensor, s->subscripts, e, s->pos)});
  });
}
void change_operator(const Program& program, Damages& out) {
  each_update(program, out, "another operator", [](const StmtPtr& s, const SelfUpdate& u, const StmtContext&, std::vector<Body>& proposals) {
    const ExprPtr e = others_of(u);
    if (!e) return;
    for (const Op op : {Op::add, Op::sub, Op::mul, Op::max, Op::min}) {
      if (op == operator_of(u.op)) continue;
      proposals.push_back({make_equation(s->tensor, s->subscripts, make_expr(op, {own_read(*s), e}), s->pos)});
    }
  });
}
void enter_twice(const Program& program, Damages& out) {  // X = X + X + e, X = X*X*e
  each_update(program, out, "the old value enters twice", [](const StmtPtr& s, const SelfUpdate& u, const StmtContext&, std::vector<Body>& proposals) {
    if (u.op != UpdateOp::add && u.op != UpdateOp::mul) return;
    proposals.push_back({make_equation(s->tensor, s->subscripts, make_expr(operator_of(u.op), {s->rhs, own_read(*s)}), s->pos)});
  });
}
// Before the nest of an update: X = X op X, so that what was there counts twice.
void double_prior(const Program& program, Damages& out) {
  for (std::size_t k = 1; k < program.body().size(); ++k) {
    visit_stmts({program.body()[k]}, [&](const Stmt& s, const StmtContext& context) {
      if (!s.is_equation()) return;
      const std::optional<SelfUpdate> update = match_self_update(s);
      if (!update) return;
      const ExprPtr twice = make_expr(operator_of(update->op), {own_read(s), own_read(s)});
      std::vector<LoopHeader> loops;
      for (const Stmt* loop : loops_of(context)) {
        const bool used = subscripts_use(s.subscripts, loop->var);
        if (used) loops.push_back({LoopKind::L, loop->extent, loop->var, {}});
      }
      Body body = program.body();
      const Body nest = wrap_loops(loops, {make_equation(s.tensor, s.subscripts, twice)});
      body.insert(body.begin() + static_cast<std::ptrdiff_t>(k), nest.begin(), nest.end());
      add_damage(program, out, "before nest " + std::to_string(k) + ": the prior value of " + s.tensor + " enters twice", std::move(body));
    });
  }
}
void drop_start(const Program& program, Damages& out) {
  damage_stmts(program, out, "start dropped", [&](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (is_start(program, *s)) proposals.push_back({});
  });
}
// The start runs again inside the loop that follows it.
void reset_inside(const Program& program, Damages& out) {
  damage_stmts(program, out, "reset inside the reduction", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (!s->is_loop() || s->extent < 2) return;
    for (std::size_t k = 0; k < s->body.size(); ++k) {
      const std::optional<SelfUpdate> update = s->body[k]->is_equation() ? match_self_update(*s->body[k]) : std::nullopt;
      if (!update) continue;
      const StmtPtr& u = s->body[k];
      Body body = s->body;
      const ExprPtr neutral = update->op == UpdateOp::add ? make_int(0) : update->op == UpdateOp::mul ? make_int(1) : nullptr;
      if (!neutral) continue;
      body.insert(body.begin() + static_cast<std::ptrdiff_t>(k), make_equation(u->tensor, u->subscripts, neutral));
      proposals.push_back({with_body(*s, body)});
    }
  });
}
// An implicit start is written again between two nests that update the tensor.
void restart_between(const Program& program, Damages& out) {
  for (std::size_t k = 1; k < program.body().size(); ++k) {
    const Stmt* update = nullptr;
    std::vector<const Stmt*> around;
    visit_stmts({program.body()[k]}, [&](const Stmt& s, const StmtContext& context) {
      if (update == nullptr && s.is_equation() && match_self_update(s)) update = &s, around = loops_of(context);
    });
    if (update == nullptr) continue;
    std::vector<LoopHeader> loops;
    for (const Stmt* loop : around) {
      const bool used = subscripts_use(update->subscripts, loop->var);
      if (used) loops.push_back({LoopKind::L, loop->extent, loop->var, {}});
    }
    for (const std::size_t at : {k, k + 1}) {
      Body body = program.body();
      const Body nest = wrap_loops(loops, {make_equation(update->tensor, update->subscripts, make_int(0))});
      body.insert(body.begin() + static_cast<std::ptrdiff_t>(at), nest.begin(), nest.end());
      add_damage(program, out, (at == k ? "before nest " : "after nest ") + std::to_string(k) + ": " + update->tensor + " starts again", std::move(body));
    }
  }
}
// The rescale X=X*c of an online recurrence: dropped, doubled, or inverted.
void break_rescale(const Program& program, Damages& out) {
  each_update(program, out, "rescale broken", [](const StmtPtr& s, const SelfUpdate& u, const StmtContext&, std::vector<Body>& proposals) {
    if (u.op != UpdateOp::mul) return;
    proposals.push_back({});
    proposals.push_back({s, s});
    if (const ExprPtr e = others_of(u)) proposals.push_back({make_equation(s->tensor, s->subscripts, make_expr(Op::div, {own_read(*s), e}), s->pos)});
  });
}
// O*s+p, an ordinary read of itself: without the factor, or without the old value.
void break_recurrence(const Program& program, Damages& out) {
  damage_stmts(program, out, "recurrence broken", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (!s->is_equation() || match_self_update(*s) || !reads_tensor(*s->rhs, s->tensor)) return;
    visit_expr(*s->rhs, [&](const Expr& e) {
      if (e.op != Op::mul) return true;
      for (std::size_t i = 0; i < 2; ++i) {
        if (!reads_tensor(*e.args[i], s->tensor)) continue;
        const ExprPtr kept = e.args[i];
        const ExprPtr rhs = rewrite_expr(s->rhs, [&](const ExprPtr& x) -> ExprPtr { return same_expr(*x, e) ? kept : nullptr; });
        proposals.push_back({make_equation(s->tensor, s->subscripts, rhs, s->pos)});
      }
      return true;
    });
  });
}
// An old value read where the new one is meant, and the other way round: statements that keep a copy (J=N before N=max).
void lose_old_copy(const Program& program, Damages& out) {
  damage_stmts(program, out, "reads the tensor itself instead of its copy", [&](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (!s->is_equation() || s->rhs->op == Op::read) return;
    visit_stmts(program.body(), [&](const Stmt& copy, const StmtContext&) {
      if (!copy.is_equation() || copy.rhs->op != Op::read || !reads_tensor(*s->rhs, copy.tensor)) return;
      const ExprPtr rhs = rewrite_expr(s->rhs, [&](const ExprPtr& e) -> ExprPtr {
        if (e->op != Op::read || e->name != copy.tensor || e->args.size() != copy.rhs->args.size()) return nullptr;
        return make_read(copy.rhs->name, e->args, e->pos);
      });
      proposals.push_back({make_equation(s->tensor, s->subscripts, rhs, s->pos)});
    });
  });
}
}  // namespace

void append_update_damage(std::vector<DamageOperator>& table) {
  const auto value = DamageKind::value;
  table.push_back({"accumulation_lost", value, "X=e for X=X+e", lose_accumulation});
  table.push_back({"update_operator", value, "a reduction by another operator", change_operator});
  table.push_back({"self_entered_twice", value, "X=X+X+e for X=X+e", enter_twice});
  table.push_back({"prior_doubled", value, "the value from before a reduction counts twice", double_prior});
  table.push_back({"start_dropped", value, "an explicit start is missing: the last round's sum goes on", drop_start});
  table.push_back({"reset_inside", value, "an accumulator is reset in every iteration of its reduction", reset_inside});
  table.push_back({"started_again", value, "a tensor starts again before or after a nest that continues it", restart_between});
  table.push_back({"rescale_broken", value, "the rescale of an online recurrence is missing, doubled or inverted", break_rescale});
  table.push_back({"recurrence_broken", value, "O for O*s in O=O*s+p", break_recurrence});
  table.push_back({"old_copy_lost", value, "the new value where the kept old one is meant", lose_old_copy});
}

}  // namespace cairn::mutate
