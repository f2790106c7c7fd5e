// reduction_factorization: the outer part of a reduction loop becomes a spatial axis of partial results (rfactor).
//
//   L^{n}_{k=0}[X=X+e(k)]  =>  L^{n/f}_{k=0}[R_{k}=0]  L^{n/f}_{k=0}L^{f}_{a=0}[R_{k}=R_{k}+e(k*f+a)]
//                              L^{n/f}_{k=0}[X=X+R_{k}]
//
// The partial results R (first fresh name) are subscripted by the outer part and by the loops from `place`
// inward that X uses. They start before and are combined after the statement of the loop `place`: the
// reduction loop itself ("-", the default) or one around it. R takes X's dtype; scope g, or l inside a P. factor=0 is the
// way back: `loop` and `equation` are then the outer part and the update of R.
//
// Legal when
// (1) the equation is a self-update by + - * max min below the loop (its operands read no X), and X does not
//     move with the loop,
// (2) nothing else in the statement of `place` mentions X, and `place` is around the loop,
// (3) the factor lies between 2 and the extent less 1, the loop has kind L, and the loops inside that X uses are no
//     thread axes or matrix loops,
// (4) X's subscripts are index expressions of loop variables (no scatter),
// (5) factor=0: joining gives a reduction whose factorization is this very program.
// X's prior value enters once, in the combine. Reassociates; exact for max, min and integers.
#include <fmt/core.h>

#include <algorithm>

#include "ir/canon.h"
#include "ir/self_update.h"
#include "ir/subscripts.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/order.h"
#include "strategy/edit/refuse.h"
#include "strategy/edit/split.h"
#include "strategy/edit/tables.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

// The self-updates below a loop whose element does not move with it, in text order.
std::vector<StmtPath> reductions_of(const Body& body, const StmtPath& loop) {
  std::vector<StmtPath> out;
  const Stmt& around = *stmt_at(body, loop);
  for (const EquationRef& ref : collect_equations(around.body)) {
    const bool moves = subscripts_use(ref.equation->subscripts, around.var);
    if (moves || !match_self_update(*ref.equation)) continue;
    out.push_back(loop);
    out.back().insert(out.back().end(), ref.path.begin(), ref.path.end());
  }
  return out;
}

// Rebuilds the right side with the self read replaced, so that only the partial result is meant.
ExprPtr replace_self(const ExprPtr& rhs, const std::string& tensor, const ExprPtr& by) {
  return rewrite_expr(rhs, [&](const ExprPtr& e) -> ExprPtr {
    return e->op == Op::read && e->name == tensor ? by : nullptr;
  });
}

ExprPtr combine(UpdateOp op, const ExprPtr& a, const ExprPtr& b) {
  switch (op) {
    case UpdateOp::add: return make_expr(Op::add, {a, b});
    case UpdateOp::mul: return make_expr(Op::mul, {a, b});
    case UpdateOp::max: return make_expr(Op::max, {a, b});
    case UpdateOp::min: return make_expr(Op::min, {a, b});
  }
  return a;
}

struct Parts {
  StmtPath equation, loop, place;
  std::vector<const Stmt*> inner;  // loops from `place` inward that X uses, outermost first, without the loop
  std::vector<ExprPtr> conditions; // tests between place and equation that the combine can repeat
};

Result<Parts> parts_at(const Program& program, const StmtPath& loop, const StmtPath& equation_path, const StmtPath& place);

Result<Parts> find_parts(const Program& program, const Args& args) {
  const Body& body = program.body();
  CAIRN_TRY(const StmtPath loop, find_loop(body, args.get("loop")));
  StmtPath place = loop, equation;
  if (args.get("place") != "-") {
    CAIRN_TRY(place, find_loop(body, args.get("place")));
  }
  const SourcePos pos = stmt_at(body, loop)->pos;
  const std::vector<StmtPath> candidates = reductions_of(body, loop);
  if (args.get("equation") != "-") {
    CAIRN_TRY(equation, find_equation(body, args.get("equation")));
    if (std::find(candidates.begin(), candidates.end(), equation) == candidates.end()) {
      return refuse(program, stmt_at(body, equation)->pos, 1,
                    fmt::format("{} is no self-update below {} whose element stays the same along it", args.get("equation"), args.get("loop")));
    }
  } else {
    if (candidates.empty()) return refuse(program, pos, 1, fmt::format("no self-update below {} keeps its element along it", args.get("loop")));
    equation = candidates[0];
  }
  if (!is_prefix(place, loop)) {
    return refuse(program, pos, 2, fmt::format("{} is not around {}; the combine stands after a loop around the reduction", args.get("place"),
                                               args.get("loop")));
  }
  return parts_at(program, loop, equation, place);
}

// The parts for a reduction of the loop and a place around it.
Result<Parts> parts_at(const Program& program, const StmtPath& loop, const StmtPath& equation_path, const StmtPath& place) {
  const Body& body = program.body();
  Parts parts;
  parts.loop = loop;
  parts.equation = equation_path;
  parts.place = place;
  const Stmt& equation = *stmt_at(body, parts.equation);
  std::vector<std::string> bound;
  for (std::size_t depth = parts.place.size(); depth < parts.equation.size(); ++depth) {
    const Stmt& stmt = *stmt_at(body, StmtPath(parts.equation.begin(), parts.equation.begin() + static_cast<std::ptrdiff_t>(depth)));
    if (!stmt.is_loop()) continue;
    const bool used = subscripts_use(equation.subscripts, stmt.var);
    if (used) parts.inner.push_back(&stmt);
    if (!used) bound.push_back(stmt.var);
  }
  for (std::size_t depth = parts.place.size(); depth < parts.equation.size(); ++depth) {
    const Stmt& stmt = *stmt_at(body, StmtPath(parts.equation.begin(), parts.equation.begin() + static_cast<std::ptrdiff_t>(depth)));
    if (!stmt.is_test()) continue;
    for (const ExprPtr& part : split_conjunction(stmt.cond)) {
      if (is_index_condition(*part) && !uses_any(*part, bound)) parts.conditions.push_back(part);
    }
  }
  return parts;
}

// Conditions (2), (3) and (4).
Result<void> check_parts(const Program& program, const Parts& parts, std::int64_t factor) {
  const Body& body = program.body();
  const Stmt* loop = stmt_at(body, parts.loop);
  const Stmt* equation = stmt_at(body, parts.equation);
  const std::string& name = equation->tensor;
  for (const ExprPtr& s : equation->subscripts) {
    if (!is_index_expr(*s)) {
      return refuse(program, equation->pos, 4, fmt::format("a subscript of {} is no index expression; a scatter has no partial results", name));
    }
  }
  if (factor < 2 || factor >= loop->extent || loop->kind != LoopKind::L || loop->mark.type != LoopMark::Type::none) {
    return refuse(program, loop->pos, 3, fmt::format("loop {} has kind {} and extent {}; it must be a plain L loop and the factor lie between "
                                                     "2 and {}, not be {}", loop->var, kind_name(loop->kind), loop->extent, loop->extent - 1, factor));
  }
  for (const Stmt* inner : parts.inner) {
    if (inner->kind != LoopKind::B && inner->kind != LoopKind::M) continue;
    return refuse(program, inner->pos, 3, fmt::format("loop {} has kind {}; partial results are copied by serial loops", inner->var,
                                                      kind_name(inner->kind)));
  }
  const StmtPtr around = shared_at(body, parts.place);
  if (count_mentions({around}, name) != 1) {
    return refuse(program, around->pos, 2, fmt::format("another equation below {} mentions {}; it would see partial results", around->var, name));
  }
  return {};
}

Result<Step> factor_loop(const Program& program, const Args& args) {
  const Body& body = program.body();
  CAIRN_TRY(const Parts parts, find_parts(program, args));
  const std::int64_t factor = args.get_int("factor");
  CAIRN_CHECKED(check_parts(program, parts, factor));
  const StmtPtr loop = shared_at(body, parts.loop), equation = shared_at(body, parts.equation), around = shared_at(body, parts.place);
  const std::string& name = equation->tensor;
  const Tensor& tensor = *program.find(name);
  const SelfUpdate update = *match_self_update(*equation);
  const std::string inner_var = fresh_var(program);
  Tensor partial;
  partial.name = fresh_tensor(program);
  partial.dtype = tensor.dtype;
  const std::vector<const Stmt*> above = loops_above(body, parts.place);
  const bool in_parallel = std::any_of(above.begin(), above.end(), [](const Stmt* s) { return s->kind == LoopKind::P || s->kind == LoopKind::B; });
  partial.scope = in_parallel ? Scope::l : Scope::g;
  const std::int64_t blocks = ceil_div(loop->extent, factor);
  // Splitting the loop must not touch the partial result's own subscript: it is written as another name till then.
  const std::string stand_in = fresh_var(program, {inner_var});
  std::vector<ExprPtr> subscripts{make_var(loop->var)}, held{make_var(stand_in)};
  std::vector<LoopHeader> headers{{LoopKind::L, blocks, loop->var, {}}};
  std::vector<StmtPtr> spatial;
  for (const Stmt* s : parts.inner) {
    subscripts.push_back(make_var(s->var));
    held.push_back(make_var(s->var));
    headers.push_back({LoopKind::L, s->extent, s->var, {}});
    spatial.push_back(make_loop(LoopKind::L, s->extent, s->var, {}));
  }
  const ExprPtr cell = make_read(partial.name, subscripts);
  const Body start = wrap_loops(headers, Body{make_equation(partial.name, subscripts, neutral_element(update.op, tensor.dtype))});
  const StmtPtr partial_update =
      make_equation(partial.name, held, replace_self(equation->rhs, name, make_read(partial.name, held)), equation->pos);
  StmtPath relative(parts.equation.begin() + static_cast<std::ptrdiff_t>(parts.loop.size()), parts.equation.end());
  const StmtPtr updated = with_body(*loop, replace_at(loop->body, relative, Body{partial_update}));
  std::vector<LoopRange> ranges = ranges_above(body, parts.loop);
  const Body split = substitute_vars(split_loop(updated, factor, inner_var, false, ranges), {{stand_in, make_var(loop->var)}});
  const StmtPath inside(parts.loop.begin() + static_cast<std::ptrdiff_t>(parts.place.size()), parts.loop.end());
  const Body main = inside.empty() ? split : Body{with_body(*around, replace_at(around->body, inside, split))};
  // X and its outer part: the spatial loops first, the partial results summed in order innermost.
  std::vector<StmtPtr> loops = spatial;
  loops.push_back(make_loop(LoopKind::L, blocks, loop->var, {}));
  std::vector<ExprPtr> tests;
  for (const ExprPtr& condition : parts.conditions) {
    if (!uses_var(*condition, loop->var)) tests.push_back(condition);
  }
  const ExprPtr self = make_read(name, equation->subscripts);
  const Body finish = build_band(loops, tests, Body{make_equation(name, equation->subscripts, combine(update.op, self, cell), equation->pos)});

  Body all = start;
  all.insert(all.end(), main.begin(), main.end());
  all.insert(all.end(), finish.begin(), finish.end());
  Step step;
  step.after = with_replaced(program, parts.place, all);
  step.after.set_tensor(partial);
  step.exactness = class_of_reduction(update.op, tensor.dtype);
  step.same_instances = false;
  step.proved = conditions_up_to(4);
  step.created = {partial.name, inner_var};
  return step;
}

// The equations around partial results R: their start, update and combine.
struct Partials {
  StmtPath start, update, combine;
};

std::optional<Partials> find_partials(const Program& program, const StmtPath& update) {
  const std::string& name = stmt_at(program.body(), update)->tensor;
  const std::optional<SelfUpdate> match = match_self_update(*stmt_at(program.body(), update));
  const Tensor* tensor = program.find(name);
  if (!match || tensor->role != Role::tmp) return std::nullopt;
  Partials out;
  out.update = update;
  for (const EquationRef& ref : collect_equations(program.body())) {
    const Stmt& equation = *ref.equation;
    if (ref.path == update || !mentions_below(equation, name)) continue;
    const std::optional<SelfUpdate> combined = equation.tensor == name ? std::nullopt : match_self_update(equation);
    const bool starts = equation.tensor == name && same_expr(equation.rhs, neutral_element(match->op, tensor->dtype));
    const bool combines = combined && combined->op == match->op && combined->others.size() == 1 && combined->others[0].expr->op == Op::read;
    StmtPath& place = starts ? out.start : out.combine;
    if ((!starts && !combines) || !place.empty()) return std::nullopt;
    place = ref.path;
  }
  const bool all = !out.start.empty() && !out.combine.empty() && out.start < update && update < out.combine;
  return all ? std::optional(out) : std::nullopt;
}

// The loop of this name around the equation, innermost first; empty if there is none.
StmtPath loop_around(const Body& body, const StmtPath& equation, const std::string& var) {
  for (StmtPath path = parent_of(equation); !path.empty(); path = parent_of(path)) {
    if (const Stmt* stmt = stmt_at(body, path); stmt->is_loop() && stmt->var == var) return path;
  }
  return {};
}

// factor=0. The combine and the start go, R is X again and the two parts of the loop become one; condition (5).
Result<Step> join_partials(const Program& program, const Target& target, const Args& args) {
  const Body& body = program.body();
  CAIRN_TRY(const StmtPath loop, find_loop(body, args.get("loop")));
  CAIRN_TRY(const StmtPath update, find_equation(body, args.get("equation")));
  const Stmt& outer = *stmt_at(body, loop);
  const std::optional<Partials> partials = is_prefix(loop, update) ? find_partials(program, update) : std::nullopt;
  const auto no = [&] {
    return refuse(program, outer.pos, 5, fmt::format("{} and {} are not the outer part and the update of partial results that this strategy makes", args.get("loop"), args.get("equation")));
  };
  if (!partials || outer.body.size() != 1 || !outer.body[0]->is_loop()) return no();
  const Stmt& equation = *stmt_at(body, update);
  const Stmt& finish = *stmt_at(body, partials->combine);
  const Expr& cell = *match_self_update(finish)->others[0].expr;
  Substitution names;
  for (std::size_t d = 0; d < cell.args.size() && d < equation.subscripts.size(); ++d) {
    if (cell.args[d]->op != Op::loop_var) return no();
    names.emplace_back(cell.args[d]->name, equation.subscripts[d]);
  }
  std::vector<ExprPtr> subscripts;
  for (const ExprPtr& s : finish.subscripts) subscripts.push_back(substitute_vars(s, names));
  const StmtPtr joined = make_equation(finish.tensor, subscripts, replace_self(equation.rhs, equation.tensor, make_read(finish.tensor, subscripts)), equation.pos);
  Program whole = program;   // last first: the paths before stay
  whole.set_body(replace_at(replace_at(replace_at(body, partials->combine, {}), update, Body{joined}), partials->start, {}));
  whole.remove_tensor(equation.tensor);
  for (const EquationRef& ref : collect_equations(whole.body())) {
    if (ref.equation != joined.get()) continue;
    const StmtPath path = loop_around(whole.body(), ref.path, outer.var);
    if (path.empty()) return no();
    const std::string address = loop_address(whole.body(), path);
    CAIRN_TRY(Step step, find_strategy("loop_fusion")->apply(whole, target, Args{{"loop", address}}));
    for (StmtPath place = path; !place.empty(); place = parent_of(place)) {
      if (!stmt_at(step.after.body(), place)->is_loop()) continue;
      const Args again{{"loop", address}, {"equation", "-"}, {"factor", std::to_string(outer.body[0]->extent)}, {"place", loop_address(step.after.body(), place)}};
      const Result<Step> parts = factor_loop(step.after, again);
      if (!parts || canonical_hash(parts->after) != canonical_hash(program)) continue;
      step.exactness = parts->exactness;
      step.same_instances = false;
      step.proved = conditions_up_to(5);
      step.inverse = Action{"reduction_factorization", again};
      return step;
    }
  }
  return no();
}

Result<Step> apply(const Program& program, const Target& target, const Args& args) {
  if (args.get("factor") == "0") return join_partials(program, target, args);
  CAIRN_TRY(Step step, factor_loop(program, args));
  const std::string var = stmt_at(program.body(), *find_loop(program.body(), args.get("loop")))->var;
  const Body& after = step.after.body();
  for (const EquationRef& ref : collect_equations(after)) {
    if (ref.equation->tensor != step.created[0] || !match_self_update(*ref.equation)) continue;
    const Args back{{"loop", loop_address(after, loop_around(after, ref.path, var))}, {"equation", equation_address(after, ref.path)}, {"factor", "0"}, {"place", "-"}};
    const Result<Step> joined = join_partials(step.after, target, back);
    if (joined && canonical_hash(joined->after) == canonical_hash(program)) step.inverse = Action{"reduction_factorization", back};
  }
  return step;
}

// Factors that divide the extent, or all where none does; at most 1024 partial results.
std::vector<std::int64_t> factors_of(std::int64_t extent, const TileTable& tiles) {
  std::vector<std::int64_t> all = tiles.factors(extent);
  std::erase_if(all, [&](std::int64_t factor) { return ceil_div(extent, factor) > 1024; });
  std::vector<std::int64_t> even = all;
  std::erase_if(even, [&](std::int64_t factor) { return extent % factor != 0; });
  return even.empty() ? all : even;
}

std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  const Body& body = program.body();
  const TileTable tiles(target);
  for (const StmtPath& path : collect_loops(body)) {
    const Stmt& loop = *stmt_at(body, path);
    if (loop.kind != LoopKind::L || loop.mark.type != LoopMark::Type::none) continue;
    const std::string address = loop_address(body, path);
    const std::vector<std::int64_t> factors = factors_of(loop.extent, tiles);
    if (factors.empty()) continue;
    for (const StmtPath& equation : reductions_of(body, path)) {
      for (StmtPath place = path; !place.empty(); place = parent_of(place)) {
        if (!stmt_at(body, place)->is_loop()) continue;
        if (count_mentions({shared_at(body, place)}, stmt_at(body, equation)->tensor) != 1) break;
        const Result<Parts> parts = parts_at(program, path, equation, place);
        // The factors differ in condition (3) alone, which all of them meet.
        if (!parts || !check_parts(program, *parts, factors[0])) continue;
        Args args{{"loop", address}, {"equation", equation_address(body, equation)}, {"factor", ""}, {"place", loop_address(body, place)}};
        for (const std::int64_t factor : factors) {
          args.set("factor", std::to_string(factor));
          out.push_back(args);
        }
      }
    }
  }
  return out;
}

}  // namespace

extern const Strategy strategy_reduction_factorization{
    "reduction_factorization", Level::op, Direction::parallelism, Exactness::reassociates,
    "the outer part of a reduction loop becomes an axis of partial results, combined after",
    {{"loop", ArgType::loop, "the reduction loop; factor=0: its outer part", {}, ""},
     {"equation", ArgType::equation, "the self-update; - takes the first below the loop; factor=0: of the partial results", {}, "-"},
     {"factor", ArgType::integer, "iterations of the loop in one partial result; 0 joins partial results again", {}, ""},
     {"place", ArgType::loop, "the loop after which the results are combined; - is the reduction loop", {}, "-"}},
    list_sites, apply};

}  // namespace cairn
