// Loops, guards and tails: extents, dropped and weakened conditions, lost and overlapping tails.
#include "verify/mutate/sites.h"

namespace cairn::mutate {

namespace {
StmtPtr with_extent(const Stmt& loop, std::int64_t extent) { return make_loop(loop.kind, extent, loop.var, loop.body, loop.mark, loop.pos); }

void change_extent(const Program& program, Damages& out, std::int64_t by, std::string_view what) {
  damage_stmts(program, out, what, [by](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (s->is_loop() && s->extent + by > 0) proposals.push_back({with_extent(*s, s->extent + by)});
  });
}
void shorten(const Program& p, Damages& out) { change_extent(p, out, -1, "one iteration less"); }
void lengthen(const Program& p, Damages& out) { change_extent(p, out, 1, "one iteration more"); }
void halve(const Program& program, Damages& out) {
  damage_stmts(program, out, "half of the iterations", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (s->is_loop() && s->extent > 2) proposals.push_back({with_extent(*s, s->extent / 2)});
  });
}
// The extent of another loop of the program: a reduction of the wrong extent.
void take_other_extent(const Program& program, Damages& out) {
  std::vector<std::int64_t> extents;
  visit_stmts(program.body(), [&](const Stmt& s, const StmtContext&) {
    if (s.is_loop()) extents.push_back(s.extent);
  });
  damage_stmts(program, out, "another loop's extent", [&](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (!s->is_loop()) return;
    for (const std::int64_t n : extents) {
      if (n != s->extent) proposals.push_back({with_extent(*s, n)});
    }
  });
}
void drop_guard(const Program& program, Damages& out) {
  damage_stmts(program, out, "test dropped", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (s->is_test()) proposals.push_back(s->body);
  });
}
void drop_condition(const Program& program, Damages& out) {
  damage_exprs(program, out, [](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (site.place == Place::subscript || e->op != Op::select) return;
    proposals.push_back(e->args[1]);
    proposals.push_back(e->args[2]);
  });
}
void drop_conjunct(const Program& program, Damages& out) {
  damage_exprs(program, out, [](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (site.place != Place::condition || (e->op != Op::logical_and && e->op != Op::logical_or)) return;
    proposals.push_back(e->args[0]);
    proposals.push_back(e->args[1]);
  });
}
void invert_guard(const Program& program, Damages& out) {
  damage_stmts(program, out, "test inverted", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (s->is_test()) proposals.push_back({make_test(make_expr(Op::logical_not, {s->cond}), s->body, s->pos)});
  });
}
// Skips the first or last iteration of an enclosing loop for one statement.
void skip_edge(const Program& program, Damages& out, bool last, std::string_view what) {
  damage_stmts(program, out, what, [last](const StmtPtr& s, const StmtContext& context, std::vector<Body>& proposals) {
    if (!s->is_equation()) return;
    for (const Stmt* loop : loops_of(context)) {
      if (loop->extent < 2) continue;
      const ExprPtr v = make_var(loop->var);
      proposals.push_back({make_test(last ? make_expr(Op::lt, {v, make_int(loop->extent - 1)}) : make_expr(Op::lt, {make_int(0), v}), {s})});
    }
  });
}
void lose_tail(const Program& p, Damages& out) { skip_edge(p, out, true, "last iteration skipped"); }
void lose_head(const Program& p, Damages& out) { skip_edge(p, out, false, "first iteration skipped"); }
// T^{e<n}[S] as S with e cut to n-1: the tail's iterations repeat the last element.
void overlap_tail(const Program& program, Damages& out) {
  damage_stmts(program, out, "tail repeats the last element", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (!s->is_test() || (s->cond->op != Op::lt && s->cond->op != Op::le) || s->cond->args[1]->op != Op::int_literal) return;
    const ExprPtr inside = s->cond->args[0];
    const std::int64_t top = s->cond->args[1]->int_value - (s->cond->op == Op::lt ? 1 : 0);
    const ExprPtr cut = make_expr(Op::min, {inside, make_int(top)});
    const Body body = rewrite_exprs(s->body, [&](const ExprPtr& e) -> ExprPtr { return same_expr(e, inside) ? cut : nullptr; });
    proposals.push_back(body);
  });
}
// A tail as a shifted whole tile: o*b+i becomes min(o*b,n-b)+i, which updates some elements twice.
void shift_tail(const Program& program, Damages& out) {
  damage_stmts(program, out, "last tile shifted back over the one before", [](const StmtPtr& s, const StmtContext& context, std::vector<Body>& proposals) {
    if (!s->is_test() || s->cond->op != Op::lt || s->cond->args[1]->op != Op::int_literal) return;
    const ExprPtr inside = s->cond->args[0];
    if (inside->op != Op::add) return;
    for (const Stmt* loop : loops_of(context)) {
      if (inside->args[1]->op != Op::loop_var || inside->args[1]->name != loop->var) continue;
      const ExprPtr base = make_expr(Op::min, {inside->args[0], make_int(std::max<std::int64_t>(0, s->cond->args[1]->int_value - loop->extent))});
      const ExprPtr moved = make_expr(Op::add, {base, inside->args[1]});
      proposals.push_back(rewrite_exprs(s->body, [&](const ExprPtr& e) -> ExprPtr { return same_expr(e, inside) ? moved : nullptr; }));
    }
  });
}
void move_guard_in(const Program& program, Damages& out) {  // only the first statement keeps the guard
  damage_stmts(program, out, "only one statement keeps the test", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (!s->is_test() || s->body.size() < 2) return;
    for (std::size_t k = 0; k < s->body.size(); ++k) {
      Body body = s->body;
      body[k] = make_test(s->cond, {s->body[k]}, s->pos);
      proposals.push_back(std::move(body));
    }
  });
}
}  // namespace

void append_guard_damage(std::vector<DamageOperator>& table) {
  const auto value = DamageKind::value;
  table.push_back({"extent_short", value, "a loop makes one iteration less", shorten});
  table.push_back({"extent_long", value, "a loop makes one iteration more", lengthen});
  table.push_back({"extent_halved", value, "a loop makes half of its iterations", halve});
  table.push_back({"extent_of_another", value, "a loop has the extent of another loop", take_other_extent});
  table.push_back({"guard_dropped", value, "a test is missing", drop_guard});
  table.push_back({"guard_inverted", value, "a test is inverted", invert_guard});
  table.push_back({"guard_partial", value, "a test guards only one of its statements", move_guard_in});
  table.push_back({"condition_dropped", value, "one branch of if_then_else without the condition", drop_condition});
  table.push_back({"conjunct_dropped", value, "one side of & or | is missing", drop_conjunct});
  table.push_back({"tail_lost", value, "a statement skips the last iteration of a loop", lose_tail});
  table.push_back({"head_lost", value, "a statement skips the first iteration of a loop", lose_head});
  table.push_back({"tail_repeated", value, "a guarded tail repeats its last element instead", overlap_tail});
  table.push_back({"tail_shifted", value, "the last tile is shifted back over the one before", shift_tail});
}

}  // namespace cairn::mutate
