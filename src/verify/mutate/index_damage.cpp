// Wrong elements: shifted, mirrored, swapped and frozen subscripts, wrong variables, wrong tensors, wrong tiles.
#include <algorithm>

#include "ir/interval.h"
#include "ir/subscripts.h"
#include "verify/mutate/sites.h"

namespace cairn::mutate {

namespace {
using Shapes = std::map<std::string, Shape, std::less<>>;
Shapes shapes_of(const Program& program) {
  Result<Shapes> shapes = infer_shapes(program);
  return shapes ? *std::move(shapes) : Shapes();
}

// Proposes other subscripts of a read (not the self-update's own) or of the written element.
template <class Fn>
void each_read_subscript(const Program& program, Damages& out, const Fn& fn) {
  const Shapes shapes = shapes_of(program);
  damage_exprs(program, out, [&](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (e->op != Op::read || site.self) return;
    const auto shape = shapes.find(e->name);
    if (shape == shapes.end() || shape->second.size() != e->args.size()) return;
    for (std::size_t d = 0; d < e->args.size(); ++d) {
      std::vector<ExprPtr> others;
      fn(e->args[d], shape->second[d], others);
      for (ExprPtr& o : others) proposals.push_back(with_arg(e, d, std::move(o)));
    }
  });
}
// The same for the element that an equation writes; a self-update's own read goes with it.
template <class Fn>
void each_written_subscript(const Program& program, Damages& out, std::string_view what, const Fn& fn) {
  const Shapes shapes = shapes_of(program);
  damage_stmts(program, out, what, [&](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (!s->is_equation()) return;
    const auto shape = shapes.find(s->tensor);
    if (shape == shapes.end() || shape->second.size() != s->subscripts.size()) return;
    const std::optional<SelfUpdate> update = match_self_update(*s);
    for (std::size_t d = 0; d < s->subscripts.size(); ++d) {
      std::vector<ExprPtr> others;
      fn(s->subscripts[d], shape->second[d], others);
      for (const ExprPtr& o : others) {
        std::vector<ExprPtr> subscripts = s->subscripts;
        subscripts[d] = o;
        ExprPtr rhs = s->rhs;
        if (update) {
          const Expr* self = update->self;
          rhs = rewrite_expr(rhs, [&](const ExprPtr& e) -> ExprPtr {
            return e->op == Op::read && same_expr(*e, *self) ? make_read(s->tensor, subscripts) : nullptr;
          });
        }
        proposals.push_back({make_equation(s->tensor, subscripts, rhs, s->pos)});
      }
    }
  });
}

ExprPtr plus(const ExprPtr& e, std::int64_t by) {
  return by < 0 ? make_expr(Op::sub, {e, make_int(-by)}) : make_expr(Op::add, {e, make_int(by)});
}
void shift(const ExprPtr& e, std::int64_t extent, std::vector<ExprPtr>& others) {
  others.push_back(plus(e, 1));
  others.push_back(plus(e, -1));
  if (extent < 2) return;
  others.push_back(make_expr(Op::mod, {plus(e, 1), make_int(extent)}));
  others.push_back(make_expr(Op::max, {plus(e, -1), make_int(0)}));
  others.push_back(make_expr(Op::min, {plus(e, 1), make_int(extent - 1)}));
}
void mirror(const ExprPtr& e, std::int64_t extent, std::vector<ExprPtr>& others) {
  if (extent > 1) others.push_back(make_expr(Op::sub, {make_int(extent - 1), e}));
}
void freeze(const ExprPtr& e, std::int64_t extent, std::vector<ExprPtr>& others) {
  if (e->op == Op::int_literal || extent < 2) return;
  others.push_back(make_int(0));
  others.push_back(make_int(extent - 1));
}
void shift_read(const Program& p, Damages& out) { each_read_subscript(p, out, shift); }
void mirror_read(const Program& p, Damages& out) { each_read_subscript(p, out, mirror); }
void freeze_read(const Program& p, Damages& out) { each_read_subscript(p, out, freeze); }
void shift_write(const Program& p, Damages& out) { each_written_subscript(p, out, "written one element off", shift); }
void mirror_write(const Program& p, Damages& out) { each_written_subscript(p, out, "written in the mirror image", mirror); }
void freeze_write(const Program& p, Damages& out) { each_written_subscript(p, out, "written to one element", freeze); }

void swap_subscripts(const Program& program, Damages& out) {
  damage_exprs(program, out, [](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (e->op != Op::read || site.self) return;
    for (std::size_t a = 0; a < e->args.size(); ++a) {
      for (std::size_t b = a + 1; b < e->args.size(); ++b) {
        std::vector<ExprPtr> args = e->args;
        std::swap(args[a], args[b]);
        proposals.push_back(make_read(e->name, std::move(args), e->pos));
      }
    }
  });
}
void swap_written_subscripts(const Program& program, Damages& out) {
  damage_stmts(program, out, "written subscripts swapped", [](const StmtPtr& s, const StmtContext&, std::vector<Body>& proposals) {
    if (!s->is_equation() || match_self_update(*s)) return;
    for (std::size_t a = 0; a < s->subscripts.size(); ++a) {
      for (std::size_t b = a + 1; b < s->subscripts.size(); ++b) {
        std::vector<ExprPtr> subscripts = s->subscripts;
        std::swap(subscripts[a], subscripts[b]);
        proposals.push_back({make_equation(s->tensor, std::move(subscripts), s->rhs, s->pos)});
      }
    }
  });
}
void take_wrong_variable(const Program& program, Damages& out) {
  damage_exprs(program, out, [](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (e->op != Op::loop_var) return;
    for (const Stmt* loop : loops_of(*site.context)) {
      if (loop->var != e->name) proposals.push_back(make_var(loop->var));
    }
  });
}
void take_wrong_tensor(const Program& program, Damages& out) {
  const Shapes shapes = shapes_of(program);
  damage_exprs(program, out, [&](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (e->op != Op::read || site.self) return;
    const auto shape = shapes.find(e->name);
    const Tensor* mine = program.find(e->name);
    if (shape == shapes.end() || mine == nullptr) return;
    for (const Tensor& t : program.tensors()) {
      const auto other = shapes.find(t.name);
      if (t.name != e->name && t.dtype == mine->dtype && other != shapes.end() && other->second == shape->second) {
        proposals.push_back(make_read(t.name, e->args, e->pos));
      }
    }
  });
}
// q//b without its companion q%b, o*b+i without o*b or without i: the wrong tile, or the tile's first element.
void drop_tile_part(const Program& program, Damages& out) {
  damage_exprs(program, out, [](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (site.place != Place::subscript || (e->op != Op::add && e->op != Op::sub)) return;
    proposals.push_back(e->args[0]);
    if (e->op == Op::add) proposals.push_back(e->args[1]);
  });
}
// A copy into a stage that takes another tile: one enclosing loop is off by one, within bounds by %.
void stage_wrong_tile(const Program& program, Damages& out) {
  damage_stmts(program, out, "stages another tile", [](const StmtPtr& s, const StmtContext& context, std::vector<Body>& proposals) {
    if (!s->is_equation() || (s->rhs->op != Op::read && s->rhs->op != Op::select)) return;
    for (const Stmt* loop : loops_of(context)) {
      const bool on_left = subscripts_use(s->subscripts, loop->var);
      if (on_left || !uses_var(*s->rhs, loop->var) || loop->extent < 2) continue;
      const ExprPtr next = make_expr(Op::mod, {plus(make_var(loop->var), 1), make_int(loop->extent)});
      const ExprPtr before = make_expr(Op::max, {plus(make_var(loop->var), -1), make_int(0)});
      for (const ExprPtr& other : {next, before, make_int(0)}) {
        proposals.push_back({make_equation(s->tensor, s->subscripts, substitute_vars(s->rhs, {{loop->var, other}}), s->pos)});
      }
    }
  });
}
// A window that loses its halo: i+k read at the last whole position instead.
void clamp_halo(const Program& program, Damages& out) {
  const Shapes shapes = shapes_of(program);
  damage_exprs(program, out, [&](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (e->op != Op::read || site.self) return;
    const auto shape = shapes.find(e->name);
    if (shape == shapes.end() || shape->second.size() != e->args.size()) return;
    for (std::size_t d = 0; d < e->args.size(); ++d) {
      const Op op = e->args[d]->op;
      if ((op != Op::add && op != Op::sub) || shape->second[d] < 3) continue;
      proposals.push_back(with_arg(e, d, make_expr(Op::min, {e->args[d], make_int(shape->second[d] - 2)})));
      proposals.push_back(with_arg(e, d, make_expr(Op::max, {e->args[d], make_int(1)})));
    }
  });
}
// A gathered index replaced by the place it is read from.
void drop_gather(const Program& program, Damages& out) {
  damage_exprs(program, out, [](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (site.place != Place::subscript || e->op != Op::read || e->args.empty()) return;
    for (const ExprPtr& arg : e->args) proposals.push_back(arg);
  });
}
}  // namespace

void append_index_damage(std::vector<DamageOperator>& table) {
  const auto value = DamageKind::value;
  table.push_back({"read_shifted", value, "a read is one element off, also wrapped or clamped to stay inside", shift_read});
  table.push_back({"read_mirrored", value, "a read counts from the other end", mirror_read});
  table.push_back({"read_frozen", value, "a subscript of a read is the first or the last index", freeze_read});
  table.push_back({"write_shifted", value, "a write is one element off", shift_write});
  table.push_back({"write_mirrored", value, "a write counts from the other end", mirror_write});
  table.push_back({"write_frozen", value, "all writes go to the first or the last index", freeze_write});
  table.push_back({"subscripts_swapped", value, "two subscripts of a read change places", swap_subscripts});
  table.push_back({"written_subscripts_swapped", value, "two subscripts of a write change places", swap_written_subscripts});
  table.push_back({"wrong_variable", value, "another enclosing loop's variable", take_wrong_variable});
  table.push_back({"wrong_tensor", value, "another tensor of the same shape and dtype", take_wrong_tensor});
  table.push_back({"tile_part_dropped", value, "o*b+i without one of its parts", drop_tile_part});
  table.push_back({"stage_wrong_tile", value, "a staged copy takes another tile", stage_wrong_tile});
  table.push_back({"halo_clamped", value, "a window lacks the last or first row of its halo", clamp_halo});
  table.push_back({"gather_dropped", value, "the place of an index is used instead of the index", drop_gather});
}

}  // namespace cairn::mutate
