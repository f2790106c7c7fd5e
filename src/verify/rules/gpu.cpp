// Rules 15 axes, 20 matrix, 21 pipeline, 23 resident, 25 limits: what a GPU asks of B and M loops.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/kernels.h"
#include "ir/interval.h"
#include "ir/self_update.h"
#include "ir/subscripts.h"
#include "ir/walk.h"
#include "verify/rules/rules.h"

namespace cairn {

namespace {
bool is_thread_loop(const Stmt& s) { return s.is_loop() && is_thread_axis(s); }

void walk(const Body& body, std::vector<const Stmt*>& path, const std::function<void(const Stmt&, const std::vector<const Stmt*>&)>& fn) {
  for (const StmtPtr& s : body) {
    fn(*s, path);
    path.push_back(s.get());
    walk(s->body, path, fn);
    path.pop_back();
  }
}

// Kernels: outermost statements with a B loop, below host loops and tests.
void for_each_kernel(const Body& body, const std::function<void(const Stmt&, bool resident)>& fn, bool resident = false) {
  for (const StmtPtr& s : body) {
    if (s->is_loop() && s->kind == LoopKind::B) {
      fn(*s, resident);
    } else if (s->is_loop() && s->mark.type == LoopMark::Type::grid) {
      fn(*s, true);
    } else {
      for_each_kernel(s->body, fn, resident);
    }
  }
}

bool contains_axis(const Stmt& s, bool block) {
  if (s.is_loop() && s.kind == LoopKind::B && is_block_axis(s) == block) return true;
  return std::any_of(s.body.begin(), s.body.end(), [&](const StmtPtr& c) { return contains_axis(*c, block); });
}

void mentions(const Stmt& s, std::set<std::string>* tensors) {
  const auto expr = [&](const Expr& e) {
    visit_expr(e, [&](const Expr& x) {
      if (x.op == Op::read) tensors->insert(x.name);
      return true;
    });
  };
  if (s.is_equation()) {
    tensors->insert(s.tensor);
    expr(*s.rhs);
  }
  for (const StmtPtr& c : s.body) mentions(*c, tensors);
}

// s tensors written from g tensors by the leading statements of a pipelined loop: its copy stage.
void copy_stage(const Program& program, const Stmt& loop, std::set<std::string>* staged) {
  const auto collect = [&](auto&& self, const Stmt& s, std::vector<const Stmt*>* equations) -> void {
    if (s.is_equation()) equations->push_back(&s);
    for (const StmtPtr& c : s.body) self(self, *c, equations);
  };
  const Body* body = &loop.body;
  while (body->size() == 1 && (*body)[0]->is_test()) body = &(*body)[0]->body;
  for (const StmtPtr& s : *body) {
    std::vector<const Stmt*> equations;
    collect(collect, *s, &equations);
    std::set<std::string> here;
    for (const Stmt* e : equations) {
      const Tensor* t = program.find(e->tensor);
      if (t == nullptr || t->scope == Scope::g) return;
      if (t->scope == Scope::l) continue;   // a register on the way
      bool reads_shared = false;   // what the stage itself wrote is no other source
      visit_expr(*e->rhs, [&](const Expr& x) {
        const Tensor* r = x.op == Op::read ? program.find(x.name) : nullptr;
        reads_shared |= r != nullptr && r->scope == Scope::s && here.count(x.name) == 0 && staged->count(x.name) == 0;
        return true;
      });
      if (reads_shared) return;
      here.insert(e->tensor);
    }
    if (here.empty()) return;
    staged->insert(here.begin(), here.end());
  }
}
}  // namespace

void check_axes(VerifyFacts& facts, VerifyReport& report) {
  for (const StmtPath& kernel : find_kernels(facts.program().body())) {
    check_axis_nesting(*stmt_at(facts.program().body(), kernel),
                       [&](const Stmt& s, std::string message) { refuse(facts, report, 15, s.pos, std::move(message)); });
  }
}

void check_matrix(VerifyFacts& facts, VerifyReport& report) {
  visit_stmts(facts.program().body(), [&](const Stmt& s, const StmtContext& context) {
    if (!s.is_loop() || s.kind != LoopKind::M) return;
    PromiseVerdict v = check_promise(facts.flow(), facts.program(), context.path, LoopKind::M);
    if (!v.ok) refuse(report, 20, std::move(v.reason));
  });
  std::vector<const Stmt*> path;
  walk(facts.program().body(), path, [&](const Stmt& s, const std::vector<const Stmt*>& outer) {
    if (s.is_loop() && s.kind == LoopKind::M) {
      const auto is_lanes = [](const Stmt* o) { return o->is_loop() && o->kind == LoopKind::B && (o->var == "wx" || o->var == "gx"); };
      const bool warp = std::any_of(outer.begin(), outer.end(), is_lanes);
      if (!warp) refuse(facts, report, 20, s.pos, fmt::format("M loop {} stands under no wx or gx, expected the lanes of a warp around it", s.var));
    }
    if (s.is_loop() && s.kind != LoopKind::M && std::any_of(outer.begin(), outer.end(), [](const Stmt* o) { return o->is_loop() && o->kind == LoopKind::M; })) {
      refuse(facts, report, 20, s.pos, fmt::format("loop {} stands inside an M loop, expected M loops innermost", s.var));
    }
    if (!s.is_equation()) return;
    std::vector<const Stmt*> units;
    for (const Stmt* o : outer) {
      if (o->is_loop() && o->kind == LoopKind::M) units.push_back(o);
    }
    if (units.size() < 3) return;
    if (units.size() > 3) {
      refuse(facts, report, 20, s.pos, fmt::format("{} M loops around an equation, expected at most three: m, n, o", units.size()));
      return;
    }
    const std::string &m = units[0]->var, &n = units[1]->var, &o = units[2]->var;
    const auto update = match_self_update(s);
    const bool adds_one = update && update->op == UpdateOp::add && update->others.size() == 1 && !update->others[0].inverse;
    const Expr* product = adds_one ? update->others[0].expr.get() : nullptr;
    const auto by = [](const Expr& e, const std::string& a, const std::string& b, const std::string& not_c) {
      return e.op == Op::read && uses_var(e, a) && uses_var(e, b) && !uses_var(e, not_c);
    };
    const bool shape = product != nullptr && product->op == Op::mul &&
                       ((by(*product->args[0], m, o, n) && by(*product->args[1], o, n, m)) ||
                        (by(*product->args[1], m, o, n) && by(*product->args[0], o, n, m))) &&
                       by(*update->self, m, n, o);
    if (!shape) {
      refuse(facts, report, 20, s.pos,
             fmt::format("equation under three M loops is not of the form X=X+A*C with X by {},{}, A by {},{} and C by {},{}", m, n, m, o, o, n));
      return;
    }
    Dtype dtype = Dtype::undef;
    for (const ExprPtr& operand : product->args) {
      const Tensor* t = facts.program().find(operand->name);
      const Dtype d = t != nullptr ? t->dtype : Dtype::undef;
      const bool unit = d == Dtype::f16 || d == Dtype::bf16 || d == Dtype::tf32 || dtype_bytes(d) == 1;
      if (!unit || (dtype != Dtype::undef && d != dtype)) {
        refuse(facts, report, 20, operand->pos,
               fmt::format("operand {} has dtype {}, expected both operands f16, bf16, tf32 or 8-bit", operand->name, dtype_name(d)));
        return;
      }
      dtype = d;
    }
    const std::int64_t depth = dtype_bytes(dtype) == 1 ? 16 : dtype_bytes(dtype) == 2 ? 8 : 4;
    if (units[0]->extent % 16 != 0 || units[1]->extent % 8 != 0 || units[2]->extent % depth != 0) {
      refuse(facts, report, 20, s.pos, fmt::format("matrix extents {}x{}x{}, expected multiples of 16x8x{} for {}", units[0]->extent, units[1]->extent,
                                                   units[2]->extent, depth, dtype_name(dtype)));
    }
  });
}

void check_pipeline(VerifyFacts& facts, VerifyReport& report) {
  visit_stmts(facts.program().body(), [&](const Stmt& s, const StmtContext&) {
    if (!s.is_loop() || s.kind != LoopKind::L || s.mark.type != LoopMark::Type::count) return;
    std::set<std::string> staged;
    copy_stage(facts.program(), s, &staged);
    if (!staged.empty()) return;
    refuse(facts, report, 21, s.pos, fmt::format("pipelined loop {} does not lead with a copy stage", s.var),
           "its first statements must write s tensors from g tensors; without them leave the mark out");
  });
}

void check_resident(VerifyFacts& facts, VerifyReport& report) {
  std::vector<const Stmt*> path;
  walk(facts.program().body(), path, [&](const Stmt& s, const std::vector<const Stmt*>& outer) {
    if (!s.is_loop() || s.mark.type != LoopMark::Type::grid) return;
    const auto is_grid = [](const Stmt* o) { return o->is_loop() && (o->kind == LoopKind::B || o->mark.type == LoopMark::Type::grid); };
    const auto inside = std::find_if(outer.begin(), outer.end(), is_grid);
    if (inside != outer.end()) {
      refuse(facts, report, 23, s.pos, fmt::format("resident loop {} stands inside loop {}, expected it around the block axes", s.var, (*inside)->var));
    } else if (!contains_axis(s, true)) {
      refuse(facts, report, 23, s.pos, fmt::format("resident loop {} has no block axis inside, expected bx by or bz", s.var), "leave the mark g out");
    }
  });
}

void check_limits(VerifyFacts& facts, VerifyReport& report) {
  const Target& target = facts.target();
  const auto& shapes = facts.flow().shapes();
  for_each_kernel(facts.program().body(), [&](const Stmt& kernel, bool) {
    check_axis_limits(kernel, target, [&](const Stmt& at, std::string message, std::string note) {
      refuse(facts, report, 25, at.pos, std::move(message), std::move(note));
    });
    const std::int64_t threads = count_threads(axis_extents(kernel));
    std::map<std::string, std::int64_t> stages;
    std::vector<const Stmt*> path;
    const auto note = [&](const Stmt& s) {
      if (!s.is_loop() || s.mark.type != LoopMark::Type::count || s.kind != LoopKind::L) return;
      std::set<std::string> staged;
      copy_stage(facts.program(), s, &staged);
      for (const std::string& t : staged) stages[t] = std::max(stages[t], s.mark.count);
    };
    note(kernel);
    walk(kernel.body, path, [&](const Stmt& s, const std::vector<const Stmt*>&) { note(s); });
    std::set<std::string> used;
    mentions(kernel, &used);
    std::int64_t bytes = 0;
    const auto add = [&bytes](std::int64_t count, std::int64_t each) {
      if (__builtin_mul_overflow(count, each, &count) || __builtin_add_overflow(bytes, count, &bytes)) bytes = INT64_MAX;
    };
    // A reduction over thread axes that the target does not name goes through a word a warp.
    std::set<std::string> reduced;
    std::vector<const Stmt*> around;
    walk({std::make_shared<Stmt>(kernel)}, around, [&](const Stmt& s, const std::vector<const Stmt*>& outer) {
      if (!s.is_equation() || !match_self_update(s)) return;
      const bool across = std::any_of(outer.begin(), outer.end(), [&](const Stmt* o) {
        return is_thread_loop(*o) && o->extent > 1 && !subscripts_use(s.subscripts, o->var);
      });
      const Tensor* t = facts.program().find(s.tensor);
      if (across && t != nullptr && threads > 32 && reduced.insert(s.tensor).second) add((threads + 31) / 32, std::max<std::int64_t>(dtype_bytes(t->dtype), 4));
    });
    for (const std::string& name : used) {
      const Tensor* t = facts.program().find(name);
      const auto shape = shapes.find(name);
      if (t == nullptr || t->role != Role::tmp || t->scope != Scope::s || shape == shapes.end()) continue;
      add(element_count(shape->second).value_or(0), dtype_bytes(t->dtype) * (stages.count(name) > 0 ? stages[name] : 1));
    }
    if (bytes > target.max_shared_bytes) {
      refuse(facts, report, 25, kernel.pos,
             fmt::format("s tensors of this kernel take {} bytes, stages and scratch counted, expected at most {}", bytes, target.max_shared_bytes));
    }
  });
}

}  // namespace cairn
