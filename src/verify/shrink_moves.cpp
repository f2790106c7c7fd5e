// The steps of the shrinker, large cuts first.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ir/interval.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "verify/shrink.h"

namespace cairn {

namespace {
using Offer = std::function<bool(ShrinkCase)>;

bool given(Role role) { return role == Role::in || role == Role::param || role == Role::constant || role == Role::io; }

// Without the equations whose values no output comes from, the loops they leave empty, and the inputs nobody reads.
Program drop_dead(Program program) {
  std::set<std::string> live;
  for (const Tensor& t : program.tensors()) {
    if (t.role == Role::out || t.role == Role::io) live.insert(t.name);
  }
  const auto read_names = [](const Expr& e, std::set<std::string>* names) {
    visit_expr(e, [&](const Expr& x) {
      if (x.op == Op::read) names->insert(x.name);
      return true;
    });
  };
  for (std::size_t size = 0; size != live.size();) {
    size = live.size();
    visit_stmts(program.body(), [&](const Stmt& s, const StmtContext& context) {
      if (!s.is_equation() || live.count(s.tensor) == 0) return;
      read_names(*s.rhs, &live);
      for (const ExprPtr& e : s.subscripts) read_names(*e, &live);
      for (const Stmt* around : context.enclosing) {
        if (around->is_test()) read_names(*around->cond, &live);
      }
    });
  }
  program.set_body(rewrite_stmts(program.body(), [&](const StmtPtr& s) -> std::optional<Body> {
    if (s->is_equation() ? live.count(s->tensor) == 0 : s->body.empty()) return Body{};
    return std::nullopt;
  }));
  std::vector<std::string> gone;
  for (const Tensor& t : program.tensors()) {
    if (t.role == Role::tmp && live.count(t.name) == 0) gone.push_back(t.name);
  }
  for (const std::string& name : gone) program.remove_tensor(name);
  return program;
}

ShrinkCase cleaned(ShrinkCase c) {
  for (Program& p : c.programs) p = drop_dead(std::move(p));
  std::set<std::string> used;
  for (const Program& p : c.programs) {
    rewrite_exprs(p.body(), [&used](const ExprPtr& e) -> ExprPtr {
      if (e->op == Op::read) used.insert(e->name);
      return nullptr;
    });
  }
  for (Program& p : c.programs) {
    std::vector<std::string> gone;
    for (const Tensor& t : p.tensors()) {
      if (given(t.role) && t.role != Role::io && used.count(t.name) == 0) gone.push_back(t.name);
    }
    for (const std::string& name : gone) {
      p.remove_tensor(name);
      c.inputs.erase(name);
    }
  }
  return c;
}

bool drop_outputs(const ShrinkCase& c, const Offer& offer) {
  std::vector<std::string> outs;
  for (const Tensor& t : c.programs[0].tensors()) {
    if (t.role == Role::out) outs.push_back(t.name);
  }
  if (outs.size() < 2) return false;
  for (const std::string& name : outs) {
    ShrinkCase smaller = c;
    for (Program& p : smaller.programs) {
      const Tensor* t = p.find(name);
      if (t == nullptr) continue;
      Tensor moved = *t;
      moved.role = Role::tmp;
      p.set_tensor(std::move(moved));
    }
    if (offer(cleaned(std::move(smaller)))) return true;
  }
  return false;
}

// A temporary that all programs have becomes an input with the values that the first program gives it.
bool cut_temporaries(const ShrinkCase& c, const Offer& offer) {
  std::optional<ValueMap> values;
  std::vector<std::string> names;
  for (const Tensor& t : c.programs[0].tensors()) {
    if (t.role == Role::tmp) names.push_back(t.name);
  }
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    Tensor cut = *c.programs[0].find(*name);
    const bool shared = std::all_of(c.programs.begin(), c.programs.end(), [&](const Program& p) {
      const Tensor* t = p.find(*name);
      return t != nullptr && t->role == Role::tmp && t->dtype == cut.dtype;
    });
    if (!shared) continue;
    if (!c.inputs.empty() && !values) {
      InterpOptions options;
      options.keep_temporaries = true;
      options.max_instances = 2'000'000;
      Result<ValueMap> run = interpret(c.programs[0], c.inputs, options);
      if (!run) return false;
      values = *std::move(run);
    }
    ShrinkCase smaller = c;
    if (values) {
      const auto value = values->find(*name);
      if (value == values->end()) continue;
      cut.shape = value->second.shape;
      smaller.inputs[*name] = value->second;
    } else {
      const auto shapes = infer_shapes(c.programs[0]);
      if (!shapes || shapes->count(*name) == 0) continue;
      cut.shape = shapes->at(*name);
    }
    cut.role = Role::in;
    cut.scope = Scope::g;
    cut.declared = true;
    for (Program& p : smaller.programs) {
      p.set_tensor(cut);
      p.set_body(rewrite_stmts(p.body(), [&](const StmtPtr& s) -> std::optional<Body> {
        if (s->is_equation() ? s->tensor == *name : s->body.empty()) return Body{};
        return std::nullopt;
      }));
    }
    if (offer(cleaned(std::move(smaller)))) return true;
  }
  return false;
}

// Statements of the first program with those that read alike in the others.
bool drop_statements(const ShrinkCase& c, const Offer& offer) {
  std::vector<StmtPath> paths;
  visit_stmts(c.programs[0].body(), [&](const Stmt&, const StmtContext& context) { paths.push_back(context.path); });
  std::stable_sort(paths.begin(), paths.end(), [](const StmtPath& a, const StmtPath& b) { return a.size() < b.size(); });
  for (auto path = paths.begin(); path != paths.end(); ++path) {
    const Stmt* gone = stmt_at(c.programs[0].body(), *path);
    ShrinkCase smaller = c;
    smaller.programs[0].set_body(replace_at(c.programs[0].body(), *path, {}));
    bool everywhere = true;
    for (std::size_t k = 1; k < c.programs.size() && everywhere; ++k) {
      std::optional<StmtPath> found;
      visit_stmts(c.programs[k].body(), [&](const Stmt& s, const StmtContext& context) {
        if (!found && same_stmt(s, *gone)) found = context.path;
      });
      everywhere = found.has_value();
      if (found) smaller.programs[k].set_body(replace_at(c.programs[k].body(), *found, {}));
    }
    if (everywhere && offer(cleaned(std::move(smaller)))) return true;
  }
  return false;
}

// Shapes as large as the subscripts need, at most as before; values are cut to them.
void fit_shapes(ShrinkCase* c) {
  std::map<std::string, Shape, std::less<>> needed;
  for (const Program& p : c->programs) {
    visit_stmts(p.body(), [&](const Stmt& s, const StmtContext& context) {
      VarRanges ranges;
      for (const Stmt* around : context.enclosing) {
        if (around->is_loop()) ranges[around->var] = Interval{0, around->extent - 1};
      }
      const auto mention = [&](const std::string& name, const std::vector<ExprPtr>& subscripts) {
        const Tensor* t = p.find(name);
        if (t == nullptr || !t->shape || t->shape->size() != subscripts.size()) return;
        Shape& shape = needed.try_emplace(name, Shape(subscripts.size(), 1)).first->second;
        for (std::size_t d = 0; d < subscripts.size(); ++d) {
          const std::optional<Interval> range = interval_of(*subscripts[d], ranges);
          shape[d] = std::max(shape[d], range ? std::min((*t->shape)[d], range->hi + 1) : (*t->shape)[d]);
        }
      };
      const auto reads = [&](const Expr& e) {
        visit_expr(e, [&](const Expr& x) {
          if (x.op == Op::read) mention(x.name, x.args);
          return true;
        });
      };
      if (s.is_test()) reads(*s.cond);
      if (!s.is_equation()) return;
      mention(s.tensor, s.subscripts);
      reads(*s.rhs);
      for (const ExprPtr& e : s.subscripts) reads(*e);
    });
  }
  for (Program& p : c->programs) {
    for (Tensor t : std::vector<Tensor>(p.tensors())) {
      const auto shape = needed.find(t.name);
      if (shape == needed.end() || !t.shape || *t.shape == shape->second) continue;
      t.shape = shape->second;
      p.set_tensor(std::move(t));
    }
  }
  for (auto& [name, v] : c->inputs) {
    const auto shape = needed.find(name);
    if (shape == needed.end() || shape->second == v.shape || shape->second.size() != v.shape.size()) continue;
    Value cut = Value::zeros(v.dtype, shape->second);
    Box box;
    for (const std::int64_t extent : shape->second) box.push_back({{0, extent - 1}});
    std::size_t at = 0;
    visit_box(v.shape, box, [&](std::int64_t offset) {
      const auto from = static_cast<std::size_t>(offset);
      if (v.floats.empty()) cut.ints[at++] = v.ints[from];
      else cut.floats[at++] = v.floats[from];
    });
    v = std::move(cut);
  }
}

bool shrink_extents(const ShrinkCase& c, const Offer& offer) {
  std::set<std::int64_t, std::greater<>> extents;
  for (const Program& p : c.programs) {
    visit_stmts(p.body(), [&](const Stmt& s, const StmtContext&) {
      if (s.is_loop() && s.extent > 1) extents.insert(s.extent);
    });
  }
  const auto with = [&](const std::map<std::int64_t, std::int64_t>& change) {
    ShrinkCase smaller = c;
    for (Program& p : smaller.programs) {
      p.set_body(rewrite_stmts(p.body(), [&](const StmtPtr& s) -> std::optional<Body> {
        const auto to = s->is_loop() ? change.find(s->extent) : change.end();
        if (to == change.end()) return std::nullopt;
        auto loop = std::make_shared<Stmt>(*s);
        loop->extent = to->second;
        if (loop->mark.type == LoopMark::Type::count && loop->mark.count > loop->extent) loop->mark = {};
        return Body{std::move(loop)};
      }));
    }
    fit_shapes(&smaller);
    return smaller;
  };
  for (const std::int64_t e : extents) {
    for (const std::int64_t to : {std::int64_t{1}, std::int64_t{2}, e / 4, e / 2, e - 1}) {
      if (to >= 1 && to < e && offer(with({{e, to}}))) return true;
    }
    // A loop and its parts shrink together: 16 with the 4 of 4x4.
    for (const std::int64_t other : extents) {
      if (other >= e || e % other != 0) continue;
      for (const std::int64_t by : {other, std::int64_t{2}}) {
        if (by > 1 && e % by == 0 && other % by == 0 && offer(with({{e, e / by}, {other, other / by}}))) return true;
      }
      if (offer(with({{e, (e / other) * 1}, {other, 1}}))) return true;
    }
  }
  return false;
}

bool unwrap_loops(const ShrinkCase& c, const Offer& offer) {
  ShrinkCase smaller = c;
  bool any = false;
  for (Program& p : smaller.programs) {
    p.set_body(rewrite_stmts(p.body(), [&](const StmtPtr& s) -> std::optional<Body> {
      if (!s->is_loop() || s->extent != 1) return std::nullopt;
      any = true;
      return substitute_vars(s->body, {{s->var, make_int(0)}});
    }));
  }
  return any && offer(std::move(smaller));
}

// Promises are dropped: kinds, marks and scopes.
bool drop_promises(const ShrinkCase& c, const Offer& offer) {
  ShrinkCase smaller = c;
  for (Program& p : smaller.programs) {
    p.set_body(rewrite_stmts(p.body(), [](const StmtPtr& s) -> std::optional<Body> {
      if (!s->is_loop() || (s->kind == LoopKind::L && s->mark.type == LoopMark::Type::none)) return std::nullopt;
      return Body{make_loop(LoopKind::L, s->extent, s->var, s->body, {}, s->pos)};
    }));
    for (Tensor t : std::vector<Tensor>(p.tensors())) {
      t.scope = Scope::g;
      p.set_tensor(std::move(t));
    }
  }
  return offer(std::move(smaller));
}

// A node of the right sides that all programs have, by its text, becomes one of its parts in all of them.
bool simplify_expressions(const ShrinkCase& c, const Offer& offer) {
  std::map<std::string, std::size_t> seen;   // text -> programs that have it
  std::map<std::string, ExprPtr> nodes;
  for (const Program& p : c.programs) {
    std::set<std::string> here;
    visit_stmts(p.body(), [&](const Stmt& s, const StmtContext&) {
      if (!s.is_equation()) return;
      rewrite_expr(s.rhs, [&](const ExprPtr& e) -> ExprPtr {
        if (!e->args.empty() && e->op != Op::read && here.insert(print_expr(*e)).second) nodes.emplace(print_expr(*e), e);
        return nullptr;
      });
    });
    for (const std::string& text : here) ++seen[text];
  }
  std::vector<std::string> order;
  for (const auto& [text, count] : seen) {
    if (count == c.programs.size()) order.push_back(text);
  }
  std::stable_sort(order.begin(), order.end(), [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  for (const std::string& text : order) {
    const ExprPtr& node = nodes.at(text);
    for (const ExprPtr& part : node->args) {
      ShrinkCase smaller = c;
      for (Program& p : smaller.programs) {
        p.set_body(rewrite_stmts(p.body(), [&](const StmtPtr& s) -> std::optional<Body> {
          if (!s->is_equation()) return std::nullopt;
          const ExprPtr rhs = rewrite_expr(s->rhs, [&](const ExprPtr& e) -> ExprPtr { return same_expr(e, node) ? part : nullptr; });
          if (rhs == s->rhs) return std::nullopt;
          return Body{make_equation(s->tensor, s->subscripts, rhs, s->pos)};
        }));
      }
      if (offer(cleaned(std::move(smaller)))) return true;
    }
  }
  return false;
}

bool simplify_inputs(const ShrinkCase& c, const Offer& offer) {
  const auto change = [&](const std::string& name, std::size_t from, std::size_t to, const std::function<double(double)>& f) {
    ShrinkCase smaller = c;
    Value& v = smaller.inputs.at(name);
    bool any = false;
    for (std::size_t i = from; i < to; ++i) {
      if (v.floats.empty()) {
        const auto x = static_cast<std::int64_t>(f(static_cast<double>(v.ints[i])));
        any |= x != v.ints[i];
        v.ints[i] = x;
      } else {
        const double x = f(v.floats[i]);
        any |= !(x == v.floats[i]);
        v.floats[i] = x;
      }
    }
    return any && offer(std::move(smaller));
  };
  const auto zero = [](double) { return 0.0; };
  const auto one = [](double x) { return x == 0 ? 0.0 : 1.0; };
  const auto near = [](double x) { return std::isfinite(x) ? std::clamp(std::nearbyint(x), -4.0, 4.0) : x; };
  for (const auto& [name, v] : c.inputs) {
    const std::size_t n = std::max(v.floats.size(), v.ints.size());
    for (const auto& f : {std::function<double(double)>(zero), std::function<double(double)>(one), std::function<double(double)>(near)}) {
      if (change(name, 0, n, f)) return true;
    }
    for (std::size_t width = n / 2; width >= 1; width /= 2) {
      for (std::size_t from = 0; from < n; from += width) {
        const std::size_t to = std::min(n, from + width);
        if (change(name, from, to, zero) || change(name, from, to, one) || change(name, from, to, near)) return true;
      }
    }
  }
  return false;
}
}  // namespace

bool offer_smaller(const ShrinkCase& c, const Offer& offer) {
  if (offer(cleaned(c))) return true;
  return drop_outputs(c, offer) || cut_temporaries(c, offer) || drop_statements(c, offer) || shrink_extents(c, offer) ||
         unwrap_loops(c, offer) || drop_promises(c, offer) || simplify_expressions(c, offer) || simplify_inputs(c, offer);
}

}  // namespace cairn
