#include "strategy/edit/independent.h"

#include <fmt/core.h>

#include <algorithm>

#include "analysis/access_bindings.h"
#include "analysis/dependence.h"
#include "ir/walk.h"
#include "strategy/edit/refuse.h"

namespace cairn {
namespace {

void gather_names(const Stmt& stmt, std::vector<std::string>* written, std::vector<std::string>* read) {
  const auto reads_of = [&](const Expr& root) {
    visit_expr(root, [&](const Expr& e) {
      if (e.op == Op::read) read->push_back(e.name);
      return true;
    });
  };
  if (stmt.is_test()) reads_of(*stmt.cond);
  if (stmt.is_equation()) {
    written->push_back(stmt.tensor);
    for (const ExprPtr& s : stmt.subscripts) reads_of(*s);
    reads_of(*stmt.rhs);
  }
  for (const StmtPtr& child : stmt.body) gather_names(*child, written, read);
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<std::string> shared_names(const Stmt& a, const Stmt& b) {
  std::vector<std::string> a_writes, a_reads, b_writes, b_reads, out;
  gather_names(a, &a_writes, &a_reads);
  gather_names(b, &b_writes, &b_reads);
  for (const std::string& name : a_writes) {
    if (contains(b_writes, name) || contains(b_reads, name)) out.push_back(name);
  }
  for (const std::string& name : b_writes) {
    if (contains(a_reads, name)) out.push_back(name);
  }
  return out;
}

Result<void> check_independent(const Program& program, const StmtPath& first, const StmtPath& second, const IndependenceConditions& conditions) {
  const Stmt& a = *stmt_at(program.body(), first);
  const Stmt& b = *stmt_at(program.body(), second);
  const std::vector<std::string> shared = shared_names(a, b);
  if (shared.empty()) return {};
  // Analysis sees through a binding; its definition still has to stand first.
  const BindingTable bindings(program);
  for (const std::string& name : shared) {
    if (bindings.is_binding(name)) {
      return refuse(program, b.pos, conditions.touch, fmt::format("one of the statements defines {}, an index that the other uses", name));
    }
  }
  const Legality legality = check_swap(program, first, second);
  if (!legality.ok) return refuse_because(legality.reason, conditions.touch);
  if (legality.reorders_reduction) {
    return refuse(program, b.pos, conditions.update,
                  fmt::format("both statements update the same elements of {}; in another order these would start and add up differently", shared.front()));
  }
  return {};
}

}  // namespace cairn
