// pad_to_tile: the tail tests above an update of a staged buffer go; its padding is computed and thrown away. So do
// conditions around a read of a buffer that is 0 anyway where they fail.
//
//   L_a T^{i*12+a<1000} [S_{a}=S_{a}+F_{a}*G]      =>   L_a [S_{a}=S_{a}+F_{a}*G]
//   X=X+if_then_else(1<=i+r<9,F_{i+r},0)*G         =>   X=X+F_{i+r}*G
//
// Staged operands are filled with 0 outside their tensor and only the last store is guarded (cache_read_write), so
// the instances that a test kept out either touch cells that nothing reads, or add 0. Every conjunct for which
// this is proved goes (only those on `loop`, if it is given: the bound of a serial loop costs nothing and saves its
// iterations); the store keeps its test.
//
// Legal when
// (1) the equation is a self-update of a temporary, alone under tests on loop variables, or it reads a buffer inside
//     if_then_else(c,buffer,0),
// (2) the buffer is filled with 0 under every conjunct of c; or, for at least one conjunct of the tests, each instance that it keeps out (a) writes a cell that no other access reads in the
//     same iteration of the loops around all mentions of the temporary, every read there seeing a write of that
//     iteration; or (b) adds a product whose every read factor is a buffer filled with 0 under the same condition,
// (3) the instances that were kept out read and write inside their tensors.
// Verified after: they read written elements.
// The sign of zero aside, every kept value is the same: exact.
#include <fmt/core.h>

#include <algorithm>

#include "analysis/dependence.h"
#include "analysis/flow.h"
#include "ir/interval.h"
#include "ir/self_update.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

// The tests right above the equation whose only equation it is, outermost first, as paths.
std::vector<StmtPath> tests_of(const Body& body, const StmtPath& equation) {
  std::vector<StmtPath> out;
  for (std::size_t depth = 1; depth < equation.size(); ++depth) {
    const StmtPath path(equation.begin(), equation.begin() + static_cast<std::ptrdiff_t>(depth));
    const Stmt& stmt = *stmt_at(body, path);
    if (stmt.is_test() && is_index_condition(*stmt.cond) && count_equations(stmt.body) == 1) out.push_back(path);
  }
  return out;
}

// Loops around all mentions of a tensor, outermost first.
std::vector<const Stmt*> common_loops(const std::vector<Access>& all, const std::string& tensor) {
  std::vector<const Stmt*> common;
  bool first = true;
  for (const Access& access : all) {
    if (access.tensor != tensor) continue;
    if (first) common = access.loops;
    first = false;
    std::size_t k = 0;
    while (k < common.size() && k < access.loops.size() && common[k] == access.loops[k]) ++k;
    common.resize(k);
  }
  return common;
}

// Integer comparisons as `sum<=0`, so that 1<=i+r and 0<=i+r-1 read alike.
ExprPtr normal_form(const ExprPtr& e) {
  const bool less = e->op == Op::lt || e->op == Op::le, greater = e->op == Op::gt || e->op == Op::ge;
  if (!less && !greater) return e;
  const ExprPtr difference = make_expr(Op::sub, {e->args[less ? 0 : 1], e->args[less ? 1 : 0]});
  std::optional<LinearForm> form = linear_form(*difference);
  if (!form) return e;
  if (e->op == Op::lt || e->op == Op::gt) form->constant += 1;
  return make_expr(Op::le, {linear_expr(*form), make_int(0)});
}

class Padding {
 public:
  Padding(const Program& program, const StmtPath& equation)
      : flow_(program), program_(program), equation_(equation), stmt_(*stmt_at(program.body(), equation)) {
    for (const Access& access : flow_.accesses()) {
      if (access.is_write && access.path == equation) write_ = &access;
    }
  }

  // May the conjunct go?
  bool is_padding(const ExprPtr& conjunct) { return touches_nothing_read(conjunct) || adds_zero(conjunct); }
  // The right side without the conditions that only guard zeros.
  ExprPtr without_conditions() {
    return rewrite_expr(stmt_.rhs, [&](const ExprPtr& e) -> ExprPtr {
      if (e->op != Op::select || e->args[1]->op != Op::read || !is_zero(*e->args[2]) || !is_index_condition(*e->args[0])) return nullptr;
      for (const ExprPtr& conjunct : split_conjunction(e->args[0])) {
        if (!is_filled(*e->args[1], conjunct)) return nullptr;
      }
      return is_inside(e->args[1]->name, e->args[1]->args, write_->loops) ? e->args[1] : nullptr;
    });
  }

  // Without the conjunct, every subscript that moves with its innermost loop stays inside its tensor (by intervals;
  // conditions inside the right side are not used).
  bool stays_inside(const ExprPtr& conjunct) {
    std::string var;
    for (const Stmt* loop : write_->loops) {
      if (uses_var(*conjunct, loop->var)) var = loop->var;
    }
    for (const Access& access : flow_.accesses()) {
      if (access.path != equation_) continue;
      if (!is_inside(access.tensor, access.subscripts, access.loops, var)) return false;
    }
    return true;
  }

 private:
  static bool is_zero(const Expr& e) {
    return (e.op == Op::int_literal && e.int_value == 0) || (e.op == Op::float_literal && e.float_value == 0);
  }

  // Intervals of the subscripts (of those that use `var`, if it is given) lie inside the tensor.
  bool is_inside(const std::string& tensor, const std::vector<ExprPtr>& subscripts, const std::vector<const Stmt*>& loops,
                 const std::string& var = {}) {
    const auto shape = flow_.shapes().find(tensor);
    if (shape == flow_.shapes().end()) return false;
    VarRanges ranges;
    for (const Stmt* loop : loops) ranges[loop->var] = {0, loop->extent - 1};
    for (std::size_t d = 0; d < subscripts.size(); ++d) {
      if (!var.empty() && !uses_var(*subscripts[d], var)) continue;
      const std::optional<Interval> range = interval_of(*subscripts[d], ranges);
      if (!range || range->lo < 0 || range->hi >= shape->second[d]) return false;
    }
    return true;
  }

  // Every read of the tensor sees a write of the same iteration of the innermost loop around all its mentions (or of
  // the one run of the program, if there is none).
  bool is_private(const std::string& tensor, const std::vector<const Stmt*>& around) {
    return around.empty() || flow_.private_to(tensor, *around.back()).holds == Answer::yes;
  }

  // (a): the instances kept out, asked against every read at equal iterations of the loops around.
  bool touches_nothing_read(const ExprPtr& conjunct) {
    const std::vector<const Stmt*> around = common_loops(flow_.accesses(), stmt_.tensor);
    if (!is_private(stmt_.tensor, around)) return false;
    Access out = *write_;
    std::vector<Condition> conditions;
    for (const Condition& condition : write_->conditions) {
      for (const ExprPtr& part : split_conjunction(condition.cond)) {
        if (!same_expr(part, conjunct)) conditions.push_back({part, true});
      }
    }
    conditions.push_back({conjunct, false});
    out.conditions = std::move(conditions);
    std::vector<PairRelation> equal;
    for (const Stmt* loop : around) equal.push_back({loop->var, loop->var, Order::equal});
    for (const Access& access : flow_.accesses()) {
      if (access.is_write || access.tensor != stmt_.tensor) continue;
      if (may_touch(program_, out, access, equal) != Answer::no) return false;
    }
    return true;
  }

  // (b): + of products of buffers that are 0 where the conjunct does not hold.
  bool adds_zero(const ExprPtr& conjunct) {
    const std::optional<SelfUpdate> update = match_self_update(stmt_);
    if (!update || update->op != UpdateOp::add) return false;
    return std::all_of(update->others.begin(), update->others.end(),
                       [&](const SelfUpdate::Operand& operand) { return is_zero_without(*operand.expr, conjunct); });
  }

  bool is_zero_without(const Expr& value, const ExprPtr& conjunct) {
    if (value.op == Op::mul) {
      const auto finite = [](const Expr& e) { return e.op == Op::int_literal; };
      const bool left = is_zero_without(*value.args[0], conjunct), right = is_zero_without(*value.args[1], conjunct);
      return (left && (right || finite(*value.args[1]))) || (right && finite(*value.args[0]));
    }
    return value.op == Op::read && is_filled(value, conjunct);
  }

  // The buffer's one definition is if_then_else(.. & c & ..,x,0), and c at the read's subscripts is the conjunct.
  bool is_filled(const Expr& read, const ExprPtr& conjunct) {
    const Tensor* tensor = program_.find(read.name);
    if (!tensor || tensor->role != Role::tmp) return false;
    const Access* definition = nullptr;
    for (const Access& access : flow_.accesses()) {
      if (!access.is_write || access.tensor != read.name) continue;
      if (definition) return false;
      definition = &access;
    }
    if (!definition || !definition->stmt->is_equation() || !definition->conditions.empty()) return false;
    const Expr& value = *definition->stmt->rhs;
    if (value.op != Op::select || !is_zero(*value.args[2])) return false;
    const std::vector<const Stmt*> around = common_loops(flow_.accesses(), read.name);
    if (!is_private(read.name, around)) return false;
    Substitution map;
    for (std::size_t d = 0; d < read.args.size(); ++d) {
      const ExprPtr& left = definition->stmt->subscripts[d];
      if (left->op != Op::loop_var) return false;
      map.emplace_back(left->name, read.args[d]);
    }
    const ExprPtr wanted = normal_form(conjunct);
    for (const ExprPtr& part : split_conjunction(value.args[0])) {
      // Loops of the definition that are neither subscripts nor around the use have no meaning there.
      bool known = true;
      visit_expr(*part, [&](const Expr& e) {
        if (e.op != Op::loop_var) return true;
        const bool mapped = std::any_of(map.begin(), map.end(), [&](const auto& m) { return m.first == e.name; });
        known &= mapped || std::any_of(around.begin(), around.end(), [&](const Stmt* l) { return l->var == e.name; });
        return true;
      });
      if (known && same_expr(normal_form(substitute_vars(part, map)), wanted)) return true;
    }
    return false;
  }

  FlowAnalysis flow_;
  const Program& program_;
  StmtPath equation_;
  const Stmt& stmt_;
  const Access* write_ = nullptr;
};

bool has_tests(const Program& program, const StmtPath& equation) {
  const Stmt& stmt = *stmt_at(program.body(), equation);
  const Tensor* tensor = program.find(stmt.tensor);
  return tensor && tensor->role == Role::tmp && match_self_update(stmt) && !tests_of(program.body(), equation).empty();
}

bool has_conditions(const Stmt& equation) {
  bool found = false;
  visit_expr(*equation.rhs, [&](const Expr& e) {
    found |= e.op == Op::select && e.args[1]->op == Op::read;
    return !found;
  });
  return found;
}

bool is_candidate(const Program& program, const StmtPath& equation) {
  return has_tests(program, equation) || has_conditions(*stmt_at(program.body(), equation));
}

Result<Step> apply(const Program& program, const Target&, const Args& args) {
  CAIRN_TRY(const StmtPath equation, find_equation(program.body(), args.get("equation")));
  const Stmt& stmt = *stmt_at(program.body(), equation);
  if (!is_candidate(program, equation)) {
    return refuse(program, stmt.pos, 1, fmt::format("{} is no self-update of a temporary that stands alone under tests on loop variables, "
                                                    "and reads nothing under a condition",
                                                    args.get("equation")));
  }
  Padding padding(program, equation);
  const std::vector<StmtPath> tests = has_tests(program, equation) ? tests_of(program.body(), equation) : std::vector<StmtPath>{};
  Body body = program.body();
  std::string var;
  if (args.get("loop") != "-") {
    CAIRN_TRY(const StmtPath loop, find_loop(program.body(), args.get("loop")));
    var = stmt_at(program.body(), loop)->var;
  }
  std::size_t removed = 0, leaving = 0;
  const ExprPtr rhs = var.empty() ? padding.without_conditions() : stmt.rhs;
  if (rhs != stmt.rhs) {
    ++removed;
    body = replace_at(body, equation, Body{make_equation(stmt.tensor, stmt.subscripts, rhs, stmt.pos)});
  }
  // Innermost first: a test that goes moves only what stands below it.
  for (auto path = tests.rbegin(); path != tests.rend(); ++path) {
    const Stmt& test = *stmt_at(program.body(), *path);
    std::vector<ExprPtr> kept;
    for (const ExprPtr& conjunct : split_conjunction(test.cond)) {
      const bool meant = var.empty() || uses_var(*conjunct, var);
      const bool leaves = meant && !padding.stays_inside(conjunct);
      leaving += leaves ? 1 : 0;
      if (!meant || leaves || !padding.is_padding(conjunct)) kept.push_back(conjunct);
    }
    removed += split_conjunction(test.cond).size() - kept.size();
    const Body& below = stmt_at(body, *path)->body;
    body = replace_at(body, *path, kept.empty() ? Body(below) : Body{make_test(join_conjunction(kept), below, test.pos)});
  }
  if (removed == 0 && leaving != 0) {
    return refuse(program, stmt.pos, 3, fmt::format("without its tests {} leaves a tensor; stage every operand that ends with the tile",
                                                    args.get("equation")));
  }
  if (removed == 0) {
    return refuse(program, stmt.pos, 2, fmt::format("the instances of {} that its tests keep out are read later or add more than 0; stage the "
                                                    "result and every factor first (cache_read_write)", args.get("equation")));
  }
  Step step;
  step.after = program;
  step.after.set_body(std::move(body));
  step.same_instances = false;
  step.proved = conditions_up_to(3);
  return step;
}

std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  for (const EquationRef& ref : collect_equations(program.body())) {
    if (!is_candidate(program, ref.path)) continue;
    std::vector<std::string> loops{"-"};
    for (std::size_t depth = 1; depth < ref.path.size(); ++depth) {
      const StmtPath path(ref.path.begin(), ref.path.begin() + static_cast<std::ptrdiff_t>(depth));
      const Stmt& stmt = *stmt_at(program.body(), path);
      if (stmt.is_loop() && count_equations(stmt.body) == 1) loops.push_back(loop_address(program.body(), path));
    }
    for (const std::string& loop : loops) {
      Args args{{"equation", equation_address(program.body(), ref.path)}, {"loop", loop}};
      if (apply(program, target, args)) out.push_back(std::move(args));
    }
  }
  return out;
}

}  // namespace

extern const Strategy strategy_pad_to_tile{
    "pad_to_tile", Level::op, Direction::throughput, Exactness::exact,
    "tail tests above an update of staged buffers go; the padding is computed and thrown away",
    {{"equation", ArgType::equation, "the update", {}, ""},
     {"loop", ArgType::loop, "only tests on this loop; - all", {}, "-"}},
    list_sites, apply};

}  // namespace cairn
