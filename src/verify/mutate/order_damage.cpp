// Order and number of executions: swapped, moved, dropped, repeated statements; loops interchanged, fused, split.
#include "verify/mutate/sites.h"

namespace cairn::mutate {

namespace {
// What two statements share decides which dependence a swap breaks.
bool writes_tensor(const Stmt& s, const std::string& tensor) {
  if (s.is_equation()) return s.tensor == tensor;
  for (const StmtPtr& c : s.body) {
    if (writes_tensor(*c, tensor)) return true;
  }
  return false;
}
bool reads_of(const Stmt& s, const std::string& tensor) {
  if (s.is_test() && reads_tensor(*s.cond, tensor)) return true;
  if (s.is_equation()) {
    for (const ExprPtr& e : s.subscripts) {
      if (reads_tensor(*e, tensor)) return true;
    }
    return reads_tensor(*s.rhs, tensor);
  }
  for (const StmtPtr& c : s.body) {
    if (reads_of(*c, tensor)) return true;
  }
  return false;
}
enum class Hazard { read_after_write, write_after_read, write_after_write };
bool has_hazard(const Program& program, const Stmt& first, const Stmt& second, Hazard hazard) {
  for (const Tensor& t : program.tensors()) {
    const bool w1 = writes_tensor(first, t.name), w2 = writes_tensor(second, t.name);
    if (hazard == Hazard::read_after_write && w1 && reads_of(second, t.name)) return true;
    if (hazard == Hazard::write_after_read && reads_of(first, t.name) && w2) return true;
    if (hazard == Hazard::write_after_write && w1 && w2) return true;
  }
  return false;
}

template <class Fn>
void each_body(const Program& program, const Fn& fn) {
  fn(program.body(), StmtPath(), "program");
  visit_stmts(program.body(), [&](const Stmt& s, const StmtContext& context) {
    if (!s.is_equation()) fn(s.body, context.path, place_text(program, s, context.path));
  });
}
Body with_inner(const Program& program, const StmtPath& path, Body inner) {
  return path.empty() ? inner : replace_at(program.body(), path, {with_body(*pointer_at(program, path), std::move(inner))});
}

void swap_by(const Program& program, Damages& out, Hazard hazard, const char* what) {
  each_body(program, [&](const Body& body, const StmtPath& path, const std::string& place) {
    for (std::size_t a = 0; a < body.size(); ++a) {
      for (std::size_t b = a + 1; b < body.size() && b < a + 4; ++b) {
        if (!has_hazard(program, *body[a], *body[b], hazard)) continue;
        Body inner = body;
        std::swap(inner[a], inner[b]);
        add_damage(program, out, place + ": statements " + std::to_string(a) + " and " + std::to_string(b) + " swapped, " + what,
                   with_inner(program, path, std::move(inner)));
      }
    }
  });
}
void swap_flow(const Program& p, Damages& out) { swap_by(p, out, Hazard::read_after_write, "read after write"); }
void swap_anti(const Program& p, Damages& out) { swap_by(p, out, Hazard::write_after_read, "write after read"); }
void swap_output(const Program& p, Damages& out) { swap_by(p, out, Hazard::write_after_write, "write after write"); }

void hoist(const Program& program, Damages& out) {
  damage_stmts(program, out, "first statement before the loop", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (s->is_equation() || s->body.size() < 2) return;
    const Body rest(s->body.begin() + 1, s->body.end());
    if (s->is_loop()) {
      proposals.push_back({substitute_vars({s->body[0]}, {{s->var, make_int(0)}})[0], with_body(*s, rest)});
      proposals.push_back({substitute_vars({s->body[0]}, {{s->var, make_int(s->extent - 1)}})[0], with_body(*s, rest)});
    } else {
      proposals.push_back({s->body[0], with_body(*s, rest)});
    }
  });
}
void sink_out(const Program& program, Damages& out) {
  damage_stmts(program, out, "last statement after the loop", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (s->is_equation() || s->body.size() < 2) return;
    const Body rest(s->body.begin(), s->body.end() - 1);
    const Body last{s->body.back()};
    if (s->is_loop()) proposals.push_back({with_body(*s, rest), substitute_vars(last, {{s->var, make_int(s->extent - 1)}})[0]});
    else proposals.push_back({with_body(*s, rest), last[0]});
  });
}
// A statement beside a loop moves into it: it then runs in every iteration.
void sink_into(const Program& program, Damages& out) {
  each_body(program, [&](const Body& body, const StmtPath& path, const std::string& place) {
    for (std::size_t k = 0; k + 1 < body.size(); ++k) {
      const auto try_pair = [&](std::size_t moved, std::size_t loop, bool front) {
        if (!body[loop]->is_loop() || body[loop]->extent < 2) return;
        Body inner = body[loop]->body;
        inner.insert(front ? inner.begin() : inner.end(), body[moved]);
        Body changed = body;
        changed[loop] = with_body(*body[loop], std::move(inner));
        changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(moved));
        add_damage(program, out, place + ": statement " + std::to_string(moved) + " moved into the loop beside it",
                   with_inner(program, path, std::move(changed)));
      };
      try_pair(k, k + 1, true);
      try_pair(k + 1, k, false);
    }
  });
}
void drop_write(const Program& program, Damages& out) {
  damage_stmts(program, out, "write dropped", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (s->is_equation() && !match_self_update(*s)) proposals.push_back({});
  });
}
void drop_update(const Program& program, Damages& out) {
  damage_stmts(program, out, "update dropped", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (s->is_equation() && match_self_update(*s)) proposals.push_back({});
  });
}
void drop_nest(const Program& program, Damages& out) {
  damage_stmts(program, out, "whole statement dropped", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (!s->is_equation()) proposals.push_back({});
  });
}
void double_update(const Program& program, Damages& out) {
  damage_stmts(program, out, "executed twice", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    proposals.push_back({s, s});
  });
}
void repeat_loop(const Program& program, Damages& out) {
  const std::string var = fresh_var(program);
  damage_stmts(program, out, "inside a loop of 2", [&](const StmtPtr& s, const StmtContext& context, std::vector<Body>& proposals) {
    if (s->is_loop() && s->kind == LoopKind::L && loops_of(context).empty()) proposals.push_back({make_loop(LoopKind::L, 2, var, {s})});
  });
}
void interchange(const Program& program, Damages& out) {
  damage_stmts(program, out, "interchanged with the loop inside", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (!s->is_loop() || s->body.size() != 1 || !s->body[0]->is_loop()) return;
    const StmtPtr& in = s->body[0];
    proposals.push_back({make_loop(in->kind, in->extent, in->var, {make_loop(s->kind, s->extent, s->var, in->body, s->mark, s->pos)}, in->mark, in->pos)});
  });
}
void fission(const Program& program, Damages& out) {
  damage_stmts(program, out, "split in two loops", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (!s->is_loop()) return;
    for (std::size_t k = 1; k < s->body.size(); ++k) {
      const auto at = s->body.begin() + static_cast<std::ptrdiff_t>(k);
      proposals.push_back({with_body(*s, Body(s->body.begin(), at)), with_body(*s, Body(at, s->body.end()))});
    }
  });
}
void fuse(const Program& program, Damages& out) {
  each_body(program, [&](const Body& body, const StmtPath& path, const std::string& place) {
    for (std::size_t k = 0; k + 1 < body.size(); ++k) {
      const StmtPtr &a = body[k], &b = body[k + 1];
      if (!a->is_loop() || !b->is_loop() || a->extent != b->extent || a->kind != b->kind) continue;
      Body inner = a->body;
      const StmtPtr renamed = rename_loop_var(b, a->var);
      inner.insert(inner.end(), renamed->body.begin(), renamed->body.end());
      Body changed = body;
      changed[k] = with_body(*a, std::move(inner));
      changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(k) + 1);
      add_damage(program, out, place + ": loops " + std::to_string(k) + " and the next fused", with_inner(program, path, std::move(changed)));
    }
  });
}
void reverse(const Program& program, Damages& out) {
  damage_stmts(program, out, "runs backwards", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (!s->is_loop() || s->extent < 2) return;
    const ExprPtr back = make_expr(Op::sub, {make_int(s->extent - 1), make_var(s->var)});
    proposals.push_back({with_body(*s, substitute_vars(s->body, {{s->var, back}}))});
  });
}
}  // namespace

void append_order_damage(std::vector<DamageOperator>& table) {
  const auto value = DamageKind::value;
  table.push_back({"swapped_flow", value, "a statement that reads stands before the one that writes", swap_flow});
  table.push_back({"swapped_anti", value, "a statement that writes stands before the one that reads the old value", swap_anti});
  table.push_back({"swapped_output", value, "two writes of one tensor change places", swap_output});
  table.push_back({"hoisted", value, "the first statement of a loop runs once before it", hoist});
  table.push_back({"sunk", value, "the last statement of a loop runs once after it", sink_out});
  table.push_back({"moved_into_loop", value, "a statement beside a loop runs in every iteration", sink_into});
  table.push_back({"write_dropped", value, "a write is taken for dead", drop_write});
  table.push_back({"update_dropped", value, "an update (the rescale of an online softmax, a bias) is missing", drop_update});
  table.push_back({"nest_dropped", value, "a whole nest or guarded block is missing", drop_nest});
  table.push_back({"executed_twice", value, "a statement is there twice", double_update});
  table.push_back({"repeated_nest", value, "a nest runs twice", repeat_loop});
  table.push_back({"loops_interchanged", value, "two loops change places", interchange});
  table.push_back({"loop_distributed", value, "a loop is split over its statements", fission});
  table.push_back({"loops_fused", value, "two loops of one extent become one", fuse});
  table.push_back({"loop_reversed", value, "a loop runs backwards", reverse});
}

}  // namespace cairn::mutate
