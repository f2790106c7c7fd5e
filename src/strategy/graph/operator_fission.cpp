// operator_fission: one nest with several statements becomes two.
//
//   L_i [E_{i}=..; D_{i}=f(E_{i})]  =>  L_i [E_{i}=..]  L_i [D_{i}=f(E_{i})]
//
// The loops from `loop` down to the body that holds the cut are distributed over the two parts. A temporary that
// crosses the cut without being subscripted by one of these loops is expanded by it (new leading subscripts);
// it becomes g if the loops include the outermost P.
//
// Legal when
// (1) the equation `cut` begins a statement, not the first, of a body below `loop` whose loops form a band,
// (2) every read of a temporary that is expanded sees a write of the same iteration of the lost loops (an
//     accumulator carried by one is refused), and it is mentioned nowhere else,
// (3) every dependence keeps its order,
// (4) an explicit start stays with the self-update it starts.
// Values and their order do not change: exact. Undone by operator_fusion where nothing was expanded.
#include <fmt/core.h>

#include <algorithm>

#include "analysis/dependence.h"
#include "analysis/flow.h"
#include "ir/canon.h"
#include "ir/self_update.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/order.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

// Where to cut: the distributed loops, the statements before and after.
struct Cut {
  StmtPath loop;
  Band band;
  std::size_t at = 0;
};

bool mentions_in(const Body& body, std::size_t from, std::size_t to, const std::string& tensor) {
  for (std::size_t k = from; k < to; ++k) {
    if (mentions_below(*body[k], tensor)) return true;
  }
  return false;
}

Result<Cut> find_cut(const Program& program, const Args& args) {
  Cut cut;
  CAIRN_TRY(cut.loop, find_loop(program.body(), args.get("loop")));
  CAIRN_TRY(const StmtPath equation, find_equation(program.body(), args.get("cut")));
  const SourcePos pos = stmt_at(program.body(), equation)->pos;
  cut.band = band_at(program.body(), cut.loop);
  // The loops down to the first body that holds several statements.
  StmtPath path = cut.loop;
  const Stmt* stmt = stmt_at(program.body(), path);
  while (stmt->body.size() == 1 && !stmt->body[0]->is_equation()) {
    path.push_back(0);
    stmt = stmt_at(program.body(), path);
  }
  const bool band_ends_here = cut.band.body.size() == stmt->body.size() && cut.band.body.size() > 1;
  const bool below = is_prefix(path, equation) && equation.size() > path.size();
  bool begins = below && equation[path.size()] > 0;
  if (begins) {
    for (std::size_t k = path.size() + 1; k < equation.size(); ++k) begins &= equation[k] == 0;
  }
  if (!band_ends_here || !begins) {
    return refuse(program, pos, 1, fmt::format("{} does not begin a later statement of the first body below {} that has several; cut there, "
                                               "and the loops down to it must form a band", args.get("cut"), args.get("loop")));
  }
  cut.at = equation[path.size()];
  return cut;
}

// Loops of the band that no subscript of the temporary's mentions uses plainly in the same place.
std::vector<StmtPtr> lost_loops(const Cut& cut, const std::string& tensor) {
  std::vector<StmtPtr> lost;
  for (const StmtPtr& loop : cut.band.loops) {
    if (!all_mentions_use(cut.band.body, tensor, loop->var)) lost.push_back(loop);
  }
  return lost;
}

Program expand(const Program& program, const StmtPath& nest, const std::string& tensor, const std::vector<StmtPtr>& lost) {
  std::vector<ExprPtr> lead;
  for (const StmtPtr& loop : lost) lead.push_back(make_var(loop->var));
  const auto widen = [&](const std::vector<ExprPtr>& subscripts) {
    std::vector<ExprPtr> out = lead;
    out.insert(out.end(), subscripts.begin(), subscripts.end());
    return out;
  };
  const auto in_value = [&](const ExprPtr& e) -> ExprPtr {
    return e->op == Op::read && e->name == tensor ? make_read(tensor, widen(e->args), e->pos) : nullptr;
  };
  Body body = rewrite_exprs({shared_at(program.body(), nest)}, in_value);
  body = rewrite_stmts(body, [&](const StmtPtr& s) -> std::optional<Body> {
    if (!s->is_equation() || s->tensor != tensor) return std::nullopt;
    return Body{make_equation(tensor, widen(s->subscripts), s->rhs, s->pos)};
  });
  Program out = with_replaced(program, nest, body);
  Tensor changed = *program.find(tensor);
  if (changed.shape) {
    Shape shape;
    for (const StmtPtr& loop : lost) shape.push_back(loop->extent);
    shape.insert(shape.end(), changed.shape->begin(), changed.shape->end());
    changed.shape = shape;
  }
  out.set_tensor(changed);
  return out;
}

// Does every read of the expanded temporary see a write of its own iteration? Then it is what the read saw before.
Result<void> check_expansion(const Program& expanded, const std::string& tensor) {
  CAIRN_CHECKED(check_written_before_read(expanded, tensor));
  std::uint32_t ordinal = 0;
  for (const EquationRef& ref : collect_equations(expanded.body())) {
    if (ref.equation->tensor == tensor && match_self_update(*ref.equation) && start_of(expanded, ordinal).written != Written::always) {
      return error_at(expanded, ref.equation->pos, Code::illegal,
                      fmt::format("{} carries its value from one iteration to the next and cannot be expanded", tensor));
    }
    ++ordinal;
  }
  return {};
}

// An explicit start (a constant) in the first part whose tensor is first updated in the second.
const Stmt* start_that_leaves(const Cut& cut) {
  for (std::size_t k = 0; k < cut.at; ++k) {
    for (const EquationRef& ref : collect_equations({cut.band.body[k]})) {
      const Op op = ref.equation->rhs->op;
      if (op != Op::int_literal && op != Op::float_literal) continue;
      const std::string& tensor = ref.equation->tensor;
      bool used_here = false;
      for (std::size_t j = 0; j < cut.at; ++j) used_here |= reads_below(*cut.band.body[j], tensor);
      if (used_here) continue;
      for (std::size_t j = cut.at; j < cut.band.body.size(); ++j) {
        for (const EquationRef& later : collect_equations({cut.band.body[j]})) {
          if (later.equation->tensor == tensor && match_self_update(*later.equation)) return ref.equation;
        }
      }
    }
  }
  return nullptr;
}

// The step without its inverse.
Result<Step> cut_nest_at(const Program& program, const Args& args) {
  CAIRN_TRY(Cut cut, find_cut(program, args));
  if (const Stmt* start = start_that_leaves(cut)) {
    return refuse(program, start->pos, 4, fmt::format("the start of {} would be cut from the self-update it starts; cut after the update, "
                                                      "or before the start", start->tensor));
  }
  const std::vector<const Stmt*> above = loops_above(program.body(), cut.loop);
  const auto parallel = [](LoopKind kind) { return kind == LoopKind::P || kind == LoopKind::B; };
  const bool inside_p = std::any_of(above.begin(), above.end(), [&](const Stmt* s) { return parallel(s->kind); });
  const bool cuts_kernels = !inside_p && std::any_of(cut.band.loops.begin(), cut.band.loops.end(), [&](const StmtPtr& s) { return parallel(s->kind); });
  Program expanded = program;
  for (const Tensor& tensor : program.tensors()) {
    if (tensor.role != Role::tmp) continue;
    const Body& parts = cut.band.body;
    if (!mentions_in(parts, 0, cut.at, tensor.name) || !mentions_in(parts, cut.at, parts.size(), tensor.name)) continue;
    const std::vector<StmtPtr> lost = lost_loops(cut, tensor.name);
    if (!lost.empty()) {
      for (std::size_t n = 0; n < program.body().size(); ++n) {
        Body without{program.body()[n]};
        if (n == cut.loop[0]) without = replace_at(without, [&] { StmtPath p = cut.loop; p[0] = 0; return p; }(), {});
        if (!mentions_in(without, 0, without.size(), tensor.name)) continue;
        return refuse(program, stmt_at(program.body(), cut.loop)->pos, 2,
                      fmt::format("{} crosses the cut without subscript {} and is mentioned outside the nest; it cannot be expanded",
                                  tensor.name, lost[0]->var));
      }
      expanded = expand(expanded, cut.loop, tensor.name, lost);
      if (Result<void> same = check_expansion(expanded, tensor.name); !same) return refuse_because(std::move(same.error()), 2);
    }
    if (cuts_kernels && tensor.scope != Scope::g) {
      Tensor global = *expanded.find(tensor.name);
      global.scope = Scope::g;
      expanded.set_tensor(global);
    }
  }
  const Band band = band_at(expanded.body(), cut.loop);
  const std::size_t depth = band.loops.size();
  const bool sunk = !band.tests.empty();
  const Program question = sunk ? with_replaced(expanded, cut.loop, build_sunk(band.loops, {}, band.body)) : expanded;
  const Legality legality = check_fission(question, cut.loop, depth, cut.at);
  if (!legality.ok) return refuse_because(legality.reason, 3);
  // Two updates of one element in one body take turns; apart, the first goes through all iterations before the second.
  const StmtPtr whole = shared_at(program.body(), cut.loop);
  if (legality.reorders_reduction && class_of_reorder(program, {whole}) != Exactness::exact) {
    return refuse(program, whole->pos, 3, fmt::format("the updates on both sides of the cut take turns in loop {}; apart they would sum in another order", whole->var));
  }
  const auto middle = band.body.begin() + static_cast<std::ptrdiff_t>(cut.at);
  Body both = build_band(band.loops, band.tests, Body(band.body.begin(), middle));
  const Body second = build_band(band.loops, band.tests, Body(middle, band.body.end()));
  both.insert(both.end(), second.begin(), second.end());
  Step step;
  step.after = with_replaced(expanded, cut.loop, both);
  step.exactness = Exactness::exact;
  step.proved = conditions_up_to(4);
  return step;
}

Result<Step> apply(const Program& program, const Target& target, const Args& args) {
  CAIRN_TRY(Step step, cut_nest_at(program, args));
  // Nothing was expanded or moved to g: fusing the parts over the distributed loops gives the nest back.
  CAIRN_TRY(const Cut cut, find_cut(program, args));
  StmtPath next = cut.loop;
  ++next.back();
  const Stmt* second_loop = stmt_at(step.after.body(), next);
  if (cut.band.tests.empty() && second_loop && second_loop->is_loop() && stmt_at(step.after.body(), cut.loop)->is_loop()) {
    const Action back{"operator_fusion", Args{{"first", loop_address(step.after.body(), cut.loop)}, {"second", loop_address(step.after.body(), next)},
                                              {"depth", std::to_string(cut.band.loops.size())}, {"order", "-"}}};
    const Result<Step> whole = find_strategy("operator_fusion")->apply(step.after, target, back.args);
    if (whole && canonical_hash(whole->after) == canonical_hash(program)) step.inverse = back;
  }
  return step;
}

std::vector<Args> list_sites(const Program& program, const Target&) {
  std::vector<Args> out;
  for (const StmtPath& path : collect_loops(program.body())) {
    const Band band = band_at(program.body(), path);
    if (band.body.size() < 2) continue;
    StmtPath at = path;
    // Tests that the band does not lift are statements of its body.
    while (stmt_at(program.body(), at)->body != band.body && stmt_at(program.body(), at)->body.size() == 1) at.push_back(0);
    if (stmt_at(program.body(), at)->body != band.body) continue;
    for (std::uint32_t k = 1; k < band.body.size() && k <= 64; ++k) {
      StmtPath equation = at;
      equation.push_back(k);
      while (!stmt_at(program.body(), equation)->is_equation() && !stmt_at(program.body(), equation)->body.empty()) equation.push_back(0);
      if (!stmt_at(program.body(), equation)->is_equation()) continue;   // a loop around nothing
      const Args site{{"loop", loop_address(program.body(), path)}, {"cut", equation_address(program.body(), equation)}};
      if (cut_nest_at(program, site)) out.push_back(site);
    }
  }
  return out;
}

}  // namespace

extern const Strategy strategy_operator_fission{
    "operator_fission", Level::graph, Direction::fusion, Exactness::exact,
    "one nest with several statements becomes two",
    {{"loop", ArgType::loop, "the outermost loop to distribute", {}, ""},
     {"cut", ArgType::equation, "the first equation of the second part", {}, ""}},
    list_sites, apply};

}  // namespace cairn
