// Running and final maxima: M_{s}=max(M_{s},x) proves x<=M for every x it has included.
#include <algorithm>
#include <map>

#include "analysis/algebra/prove.h"
#include "ir/interval.h"
#include "ir/self_update.h"
#include "ir/walk.h"

namespace cairn::algebra {
namespace {

using VarMap = std::map<std::string, ExprPtr, std::less<>>;

// Structural match of `pattern`, in which the variables of `free` stand for expressions.
bool match_element(const Expr& pattern, const ExprPtr& e, const std::vector<std::string>& free, VarMap* map) {
  if (pattern.op == Op::loop_var && std::find(free.begin(), free.end(), pattern.name) != free.end()) {
    const auto [it, fresh] = map->emplace(pattern.name, e);
    return fresh || same_value(it->second, e);
  }
  if (pattern.op != e->op || pattern.name != e->name || pattern.args.size() != e->args.size()) return false;
  if (pattern.op == Op::int_literal && pattern.int_value != e->int_value) return false;
  if (pattern.op == Op::float_literal && !(pattern.float_value == e->float_value)) return false;
  if (pattern.op == Op::cast && pattern.dtype != e->dtype) return false;
  for (std::size_t k = 0; k < pattern.args.size(); ++k) {
    if (!match_element(*pattern.args[k], e->args[k], free, map)) return false;
  }
  return true;
}

// Loops around an equation, outermost first, as pointers into the program; false if a test stands among them.
bool loops_around(const Program& program, const StmtPath& path, std::vector<const Stmt*>* loops) {
  for (std::size_t depth = 1; depth < path.size(); ++depth) {
    const Stmt* stmt = stmt_at(program.body(), StmtPath(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(depth)));
    if (!stmt || stmt->is_test()) return false;
    loops->push_back(stmt);
  }
  return true;
}

}  // namespace

bool Prover::reduction_includes(const Expr& maximum, const ExprPtr& e, const Place& place) {
  const EquationRef* reduction = nullptr;
  for (const EquationRef& ref : equations_) {
    if (ref.equation->tensor != maximum.name) continue;
    const std::optional<SelfUpdate> update = match_self_update(*ref.equation);
    if (update && update->op == UpdateOp::max) {
      if (reduction) return false;
      reduction = &ref;
    } else if (reduction || update) {
      return false;   // another write after the reduction, or of another form
    }
  }
  if (!reduction || !(reduction->path < place.path)) return false;
  std::vector<const Stmt*> loops;
  if (!loops_around(program_, reduction->path, &loops)) return false;
  std::size_t common = 0;
  while (common < loops.size() && common + 1 < reduction->path.size() && common + 1 < place.path.size() &&
         std::equal(reduction->path.begin(), reduction->path.begin() + static_cast<std::ptrdiff_t>(common) + 1, place.path.begin())) {
    ++common;
  }
  // Element of M, then element of x, with all loop variables of the reduction free.
  std::vector<std::string> free;
  for (const Stmt* loop : loops) free.push_back(loop->var);
  VarMap map;
  const Stmt& equation = *reduction->equation;
  if (equation.subscripts.size() != maximum.args.size()) return false;
  for (std::size_t d = 0; d < equation.subscripts.size(); ++d) {
    if (!match_element(*equation.subscripts[d], maximum.args[d], free, &map)) return false;
  }
  const SelfUpdate update = *match_self_update(equation);
  const ExprPtr& x = update.others.at(0).expr;
  if (!match_element(*x, e, free, &map)) return false;
  VarRanges ranges;
  for (const LoopRange& loop : place.loops) ranges[loop.var] = {0, loop.extent - 1};
  for (std::size_t k = 0; k < loops.size(); ++k) {
    const auto found = map.find(loops[k]->var);
    if (found == map.end()) continue;   // neither M nor x depends on it
    const Expr& value = *found->second;
    // A loop around both: only its own iteration is known to be included.
    if (k < common && !(value.op == Op::loop_var && value.name == loops[k]->var)) return false;
    const std::optional<Interval> range = interval_of(value, ranges);
    if (!range || range->lo < 0 || range->hi >= loops[k]->extent) return false;
  }
  // What x reads is not written after the reduction read it.
  bool fresh = true;
  visit_expr(*x, [&](const Expr& node) {
    if (node.op != Op::read) return true;
    for (const EquationRef& ref : equations_) fresh = fresh && (ref.equation->tensor != node.name || ref.path < reduction->path);
    return true;
  });
  return fresh;
}

}  // namespace cairn::algebra
