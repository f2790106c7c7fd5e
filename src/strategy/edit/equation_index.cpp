#include "strategy/edit/equation_index.h"

#include <algorithm>

#include "analysis/access.h"
#include "analysis/dependence.h"
#include "base/check.h"
#include "ir/walk.h"

namespace cairn {

namespace {
bool reads_in(const Stmt& stmt, std::string_view tensor) {
  if (stmt.is_test()) return reads_tensor(*stmt.cond, tensor);
  if (!stmt.is_equation()) return false;
  return reads_tensor(*stmt.rhs, tensor) ||
         std::any_of(stmt.subscripts.begin(), stmt.subscripts.end(), [&](const ExprPtr& s) { return reads_tensor(*s, tensor); });
}

// Some instance of `first` may come before an instance of `then` that touches the same element, in the same
// iteration of the `shared` outermost loops.
bool may_follow(const Program& program, const Access& first, const Access& then, std::size_t shared) {
  if (first.tensor != then.tensor) return false;
  std::vector<PairRelation> equal;
  for (std::size_t k = 0; k < first.loops.size() && k < then.loops.size() && first.loops[k] == then.loops[k]; ++k) {
    if (k < shared) {
      equal.push_back({first.loops[k]->var, then.loops[k]->var, Order::equal});
      continue;
    }
    std::vector<PairRelation> relations = equal;
    relations.push_back({first.loops[k]->var, then.loops[k]->var, Order::less});
    if (may_touch(program, first, then, relations) != Answer::no) return true;
    equal.push_back({first.loops[k]->var, then.loops[k]->var, Order::equal});
  }
  return first.path <= then.path && may_touch(program, first, then, equal) != Answer::no;
}

void collect_reads(const Expr& value, std::vector<std::string>* out) {
  visit_expr(value, [out](const Expr& e) {
    if (e.op == Op::read && std::find(out->begin(), out->end(), e.name) == out->end()) out->push_back(e.name);
    return true;
  });
}
}  // namespace

EquationIndex::EquationIndex(const Program& program) : program_(program) {
  visit_stmts(program.body(), [this](const Stmt& stmt, const StmtContext& context) {
    if (!stmt.is_equation()) return;
    EquationPlace place{&stmt, context.path, {}, {}};
    for (const Stmt* around : context.enclosing) (around->is_loop() ? place.loops : place.tests).push_back(around);
    writers_.emplace(stmt.tensor, equations_.size());
    equations_.push_back(std::move(place));
  });
}

const EquationPlace* EquationIndex::at(const StmtPath& path) const {
  const auto found = std::find_if(equations_.begin(), equations_.end(), [&](const EquationPlace& e) { return e.path == path; });
  return found == equations_.end() ? nullptr : &*found;
}

std::vector<const EquationPlace*> EquationIndex::writers(std::string_view tensor) const {
  std::vector<const EquationPlace*> out;
  const auto [begin, end] = writers_.equal_range(tensor);
  for (auto it = begin; it != end; ++it) out.push_back(&equations_[it->second]);
  return out;
}

std::vector<StmtPath> EquationIndex::readers(std::string_view tensor) const {
  std::vector<StmtPath> out;
  visit_stmts(program_.body(), [&](const Stmt& stmt, const StmtContext& context) {
    if (reads_in(stmt, tensor)) out.push_back(context.path);
  });
  return out;
}

bool EquationIndex::keeps(std::string_view tensor, const StmtPath& from, const StmtPath& to) const {
  const StmtPath shared_body = common_body(from, to);
  const std::size_t depth = shared_body.size();
  std::size_t shared = 0;
  for (const Body* level = &program_.body(); const std::uint32_t index : shared_body) {
    shared += (*level)[index]->is_loop() ? 1 : 0;
    level = &(*level)[index]->body;
  }
  std::vector<Access> accesses;
  for (const EquationPlace* writer : writers(tensor)) {
    const StmtPath& path = writer->path;
    if (path == from || path.size() <= depth || !std::equal(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(depth), path.begin())) continue;
    if (path[depth] < from[depth] || path[depth] > to[depth]) continue;
    if (path[depth] != from[depth]) return false;
    // Beside `from`, in the statement that holds it: only instances after the read count.
    if (accesses.empty()) accesses = collect_accesses(program_);
    const auto write = std::find_if(accesses.begin(), accesses.end(), [&](const Access& a) { return a.is_write && a.path == path; });
    CAIRN_CHECK(write != accesses.end());
    bool read_here = false;
    for (const Access& read : accesses) {
      if (read.is_write || read.path != from || read.tensor != tensor) continue;
      read_here = true;
      if (may_follow(program_, read, *write, shared)) return false;
    }
    if (!read_here) return false;
  }
  return true;
}

bool EquationIndex::keeps_all(const Expr& value, const StmtPath& from, const StmtPath& to) const {
  std::vector<std::string> names;
  collect_reads(value, &names);
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) { return keeps(name, from, to); });
}

ExprPtr EquationIndex::value_of(const Expr& read, const StmtPath& use) const {
  const Tensor* tensor = program_.find(read.name);
  if (read.op != Op::read || !tensor || tensor->role != Role::tmp) return nullptr;
  const auto [begin, end] = writers_.equal_range(std::string_view(read.name));
  if (begin == end || std::next(begin) != end) return nullptr;
  const EquationPlace& place = equations_[begin->second];
  const Stmt& equation = *place.stmt;
  if (reads_tensor(*equation.rhs, read.name) || read.args.size() != equation.subscripts.size() || !(place.path < use)) return nullptr;
  const StmtPath shared = common_body(place.path, use);
  std::vector<std::pair<std::string, ExprPtr>> map;
  std::size_t bound = 0;
  for (std::size_t k = 0; k < equation.subscripts.size(); ++k) {
    const Expr& left = *equation.subscripts[k];
    if (left.op == Op::int_literal && same_expr(left, *read.args[k])) continue;
    if (left.op != Op::loop_var) return nullptr;
    if (std::any_of(map.begin(), map.end(), [&](const auto& m) { return m.first == left.name; })) return nullptr;
    map.emplace_back(left.name, read.args[k]);
  }
  // Loops and tests between the shared body and the definition; those above are around the use as well.
  const Body* level = &program_.body();
  for (std::size_t depth = 0; depth + 1 < place.path.size(); ++depth) {
    const Stmt& around = *(*level)[place.path[depth]];
    level = &around.body;
    const bool inside = depth >= shared.size();
    if (around.is_test() && inside) return nullptr;
    if (!around.is_loop()) continue;
    const auto found = std::find_if(map.begin(), map.end(), [&](const auto& m) { return m.first == around.var; });
    if (found != map.end()) {
      ++bound;
    } else if (inside) {
      return nullptr;
    }
    // A shared loop's variable stays itself: an element of another iteration is not this one's value.
    if (found != map.end() && !inside && !(found->second->op == Op::loop_var && found->second->name == around.var)) return nullptr;
  }
  if (bound != map.size() || !keeps_all(*equation.rhs, place.path, use)) return nullptr;
  return substitute_vars(equation.rhs, map);
}

VarMatch::VarMatch(std::vector<const Stmt*> from, std::vector<const Stmt*> to) : from_(std::move(from)), to_(std::move(to)) {
  const std::size_t common = common_loops(from_, to_);
  for (std::size_t k = 0; k < common; ++k) pairs_.emplace_back(from_[k], to_[k]);
}

bool VarMatch::join(const Stmt& from, const Stmt& to) {
  for (const auto& [a, b] : pairs_) {
    if (a == &from || b == &to) return a == &from && b == &to;
  }
  if (from.extent != to.extent) return false;
  pairs_.emplace_back(&from, &to);
  return true;
}

bool VarMatch::unify(const Expr& from, const Expr& to) {
  if (from.op == Op::loop_var && to.op == Op::loop_var) {
    const auto named = [](const std::vector<const Stmt*>& loops, const std::string& name) -> const Stmt* {
      const auto it = std::find_if(loops.begin(), loops.end(), [&](const Stmt* l) { return l->var == name; });
      return it == loops.end() ? nullptr : *it;
    };
    const Stmt* a = named(from_, from.name);
    const Stmt* b = named(to_, to.name);
    return a && b && join(*a, *b);
  }
  if (from.op != to.op || from.dtype != to.dtype || from.name != to.name || from.args.size() != to.args.size()) return false;
  if (from.args.empty()) return same_expr(from, to);
  return unify(from.args, to.args);
}

bool VarMatch::unify(const std::vector<ExprPtr>& from, const std::vector<ExprPtr>& to) {
  if (from.size() != to.size()) return false;
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (!unify(*from[k], *to[k])) return false;
  }
  return true;
}

const Stmt* VarMatch::image(const Stmt& from) const {
  for (const auto& [a, b] : pairs_) {
    if (a == &from) return b;
  }
  return nullptr;
}

bool VarMatch::covers_to() const {
  return std::all_of(to_.begin(), to_.end(), [&](const Stmt* loop) {
    return std::any_of(pairs_.begin(), pairs_.end(), [loop](const auto& p) { return p.second == loop; });
  });
}

bool VarMatch::covers_from() const {
  return std::all_of(from_.begin(), from_.end(), [&](const Stmt* loop) { return image(*loop) != nullptr; });
}

std::vector<std::pair<std::string, ExprPtr>> VarMatch::substitution() const {
  std::vector<std::pair<std::string, ExprPtr>> map;
  for (const auto& [a, b] : pairs_) {
    if (a->var != b->var) map.emplace_back(a->var, make_var(b->var));
  }
  return map;
}

ExprPtr VarMatch::apply(const ExprPtr& expr) const { return substitute_vars(expr, substitution()); }

std::vector<ExprPtr> VarMatch::apply(const std::vector<ExprPtr>& exprs) const {
  std::vector<ExprPtr> out;
  for (const ExprPtr& e : exprs) out.push_back(apply(e));
  return out;
}

std::size_t common_loops(const std::vector<const Stmt*>& a, const std::vector<const Stmt*>& b) {
  std::size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

StmtPath common_body(const StmtPath& a, const StmtPath& b) {
  StmtPath out;
  for (std::size_t k = 0; k + 1 < a.size() && k + 1 < b.size() && a[k] == b[k]; ++k) out.push_back(a[k]);
  return out;
}

StmtPath path_of_loop(const Body& body, const StmtPath& path, const Stmt& loop) {
  const Body* level = &body;
  for (std::size_t k = 0; k < path.size(); ++k) {
    const Stmt* stmt = (*level)[path[k]].get();
    if (stmt == &loop) return StmtPath(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(k) + 1);
    level = &stmt->body;
  }
  fail_check("path_of_loop: the loop stands above the path", __FILE__, __LINE__, {});
}

bool is_stored_exactly(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f64 || dtype == Dtype::i64 || dtype == Dtype::boolean;
}

}  // namespace cairn
