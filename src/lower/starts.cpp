// Implicit starts: where an element that a self-update meets unwritten gets the neutral element.
// Setting elements that the program overwrites before reading is harmless, so only speed depends on the
// proofs here; the fallback sets a whole tensor on entry.
#include <algorithm>

#include "ir/subscripts.h"
#include "ir/walk.h"
#include "lower/plan.h"

namespace cairn {

namespace {
struct Writer {
  const PlacedEquation* at = nullptr;
  std::optional<SelfUpdate> update;
};

bool reads_any_tensor(const Expr& e) {
  bool found = false;
  visit_expr(e, [&found](const Expr& node) { return !(found = found || node.op == Op::read); });
  return found;
}

bool provably_inside(const std::vector<ExprPtr>& subscripts, const Shape& shape, const VarRanges& ranges) {
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    const auto range = interval_of(*subscripts[d], ranges);
    if (!range || range->lo < 0 || range->hi >= shape[d]) return false;
  }
  return true;
}

// Index in `enclosing` of the outermost loop that the target does not depend on; its size if there is none.
std::size_t outermost_reduction(const PlacedEquation& eq) {
  for (std::size_t i = 0; i < eq.enclosing.size(); ++i) {
    const Stmt& s = *eq.enclosing[i];
    if (s.is_loop() && !subscripts_use(eq.equation->subscripts, s.var)) return i;
  }
  return eq.enclosing.size();
}

// Do the other writers touch, in the loops shared with `eq` outside `cut`, only elements of the same iteration?
bool writers_agree(const std::vector<Writer>& writers, const PlacedEquation& eq, std::size_t cut) {
  for (const Writer& w : writers) {
    if (w.at == &eq) continue;
    if (w.at->path[0] < eq.path[0]) return false;
    std::size_t common = 0;
    while (common < cut && common < w.at->enclosing.size() && w.at->path[common] == eq.path[common]) ++common;
    for (std::size_t i = 0; i < common; ++i) {
      if (!eq.enclosing[i]->is_loop()) continue;
      const std::string& var = eq.enclosing[i]->var;
      for (std::size_t d = 0; d < eq.equation->subscripts.size(); ++d) {
        if (uses_var(*eq.equation->subscripts[d], var) &&
            !same_expr(eq.equation->subscripts[d], w.at->equation->subscripts[d])) {
          return false;
        }
      }
    }
  }
  return true;
}

// The nest that starts the elements of `eq`, to stand before enclosing[cut] (before eq if cut is the size).
std::optional<Body> local_start(const PlacedEquation& eq, std::size_t cut, const ExprPtr& neutral, const Shape& shape,
                                std::map<const Stmt*, const Stmt*>* origin) {
  std::map<std::string, std::int64_t> spatial;
  VarRanges ranges;
  for (const Stmt* s : eq.enclosing) {
    if (!s->is_loop()) continue;
    ranges[s->var] = {0, s->extent - 1};
    if (subscripts_use(eq.equation->subscripts, s->var)) spatial[s->var] = s->extent;
  }
  for (const ExprPtr& s : eq.equation->subscripts) {
    if (reads_any_tensor(*s)) return std::nullopt;
  }
  if (!is_injective(eq.equation->subscripts, spatial)) return std::nullopt;
  Body body{make_equation(eq.equation->tensor, eq.equation->subscripts, neutral, eq.equation->pos)};
  bool dropped_test = false;
  for (std::size_t i = eq.enclosing.size(); i-- > cut;) {
    const Stmt& s = *eq.enclosing[i];
    if (s.is_loop()) {
      if (!spatial.contains(s.var)) continue;
      const LoopKind kind = s.kind == LoopKind::U || s.kind == LoopKind::V ? s.kind : LoopKind::L;
      body = Body{make_loop(kind, s.extent, s.var, std::move(body), kind == LoopKind::U ? s.mark : LoopMark{})};
      if (kind == LoopKind::V) (*origin)[body[0].get()] = &s;
      continue;
    }
    bool movable = !reads_any_tensor(*s.cond);
    for (std::size_t j = cut; j < i; ++j) {
      const Stmt& outer = *eq.enclosing[j];
      if (outer.is_loop() && !spatial.contains(outer.var) && uses_var(*s.cond, outer.var)) movable = false;
    }
    if (movable) {
      body = Body{make_test(s.cond, std::move(body))};
    } else {
      dropped_test = true;
    }
  }
  if (dropped_test && !provably_inside(eq.equation->subscripts, shape, ranges)) return std::nullopt;
  return body;
}
std::map<std::string, std::vector<Writer>> collect_writers(const std::vector<PlacedEquation>& equations) {
  std::map<std::string, std::vector<Writer>> writers;
  for (const PlacedEquation& eq : equations) {
    writers[eq.equation->tensor].push_back({&eq, match_self_update(*eq.equation)});
  }
  return writers;
}

// The self-updates that may meet an element unwritten.
std::vector<const Writer*> collect_starters(const std::vector<Writer>& list) {
  std::vector<const Writer*> starters;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].update) continue;
    const bool covered = std::any_of(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i),
                                     [&](const Writer& w) { return is_covered(*w.at, *list[i].at); });
    if (!covered) starters.push_back(&list[i]);
  }
  return starters;
}
}  // namespace

Result<Program> add_start_flags(const Program& program, std::vector<std::string>* flags) {
  Program out = program;
  const std::vector<PlacedEquation> equations = place_equations(program.body());
  for (const auto& [name, list] : collect_writers(equations)) {
    const Tensor* tensor = program.find(name);
    if (tensor == nullptr || tensor->role == Role::io) continue;
    const std::vector<const Writer*> starters = collect_starters(list);
    const bool mixed = std::any_of(starters.begin(), starters.end(), [&starters](const Writer* w) {
      return w->update->op != starters[0]->update->op;
    });
    if (!mixed) continue;
    CAIRN_TRY(const auto shapes, infer_shapes(program));
    Tensor flag;
    flag.name = fresh_tensor(out);
    flag.dtype = Dtype::boolean;
    flag.scope = tensor->scope;
    flag.shape = shapes.at(name);
    flag.declared = true;
    flags->push_back(flag.name);
    out.set_tensor(flag);
    out.set_body(rewrite_stmts(out.body(), [&](const StmtPtr& s) -> std::optional<Body> {
      if (!s->is_equation() || s->tensor != name) return std::nullopt;
      StmtPtr write = s;
      if (const auto update = match_self_update(*s)) {
        const ExprPtr neutral = neutral_element(update->op, tensor->dtype);
        write = make_equation(name, s->subscripts, rewrite_expr(s->rhs, [&](const ExprPtr& e) -> ExprPtr {
          if (e->op != Op::read || e->name != name) return nullptr;
          return make_expr(Op::select, {make_read(flag.name, s->subscripts), e, neutral}, e->pos);
        }), s->pos);
      }
      const ExprPtr yes = make_expr(Op::lt, {make_int(0), make_int(1)});
      return Body{write, make_equation(flag.name, s->subscripts, yes, s->pos)};
    }));
  }
  return out;
}

void plan_starts(const Program& program, const std::vector<PlacedEquation>& equations, LowerPlan* plan) {
  for (const auto& [name, list] : collect_writers(equations)) {
    const Tensor* tensor = program.find(name);
    if (tensor == nullptr || tensor->role == Role::io) continue;
    const std::vector<const Writer*> starters = collect_starters(list);
    if (starters.empty()) continue;
    const PlacedEquation& first = *starters[0]->at;
    const ExprPtr neutral = neutral_element(starters[0]->update->op, tensor->dtype);
    const std::size_t cut = outermost_reduction(first);
    std::optional<Body> start;
    if (starters.size() == 1 && list[0].at == &first && writers_agree(list, first, cut)) {
      start = local_start(first, cut, neutral, plan->places.at(name).shape, &plan->origin);
    }
    if (!start) {
      plan->entry_starts[name] = neutral;
      continue;
    }
    const StmtPath where(first.path.begin(), first.path.begin() + static_cast<std::ptrdiff_t>(cut) + 1);
    Body& body = plan->starts[where];
    body.insert(body.end(), start->begin(), start->end());
  }
}

}  // namespace cairn
