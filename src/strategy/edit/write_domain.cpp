#include "strategy/edit/write_domain.h"

#include <algorithm>
#include <utility>

namespace cairn {

WriteDomain write_domain(const Stmt& equation, const std::vector<const Stmt*>& enclosing, const std::function<std::string(std::size_t)>& name) {
  WriteDomain domain;
  for (const Stmt* above : enclosing) {
    if (above->is_loop()) {
      const bool used = std::any_of(equation.subscripts.begin(), equation.subscripts.end(), [&](const ExprPtr& s) { return uses_var(*s, above->var); });
      if (!used) continue;
      domain.loops.push_back({LoopKind::L, above->extent, name(domain.loops.size()), {}});
      domain.names.emplace_back(above->var, make_var(domain.loops.back().var));
      continue;
    }
    for (const ExprPtr& part : split_conjunction(above->cond)) {
      bool known = is_index_condition(*part);
      if (!known) domain.data_test = above;
      visit_expr(*part, [&](const Expr& e) {
        known &= e.op != Op::loop_var || std::any_of(domain.names.begin(), domain.names.end(), [&](const auto& n) { return n.first == e.name; });
        return true;
      });
      if (known) domain.tests.push_back(substitute_vars(part, domain.names));
      domain.dropped_test |= !known;
    }
  }
  return domain;
}

Body wrap_domain(const WriteDomain& domain, Body body) {
  if (!domain.tests.empty()) body = {make_test(join_conjunction(domain.tests), std::move(body))};
  return wrap_loops(domain.loops, std::move(body));
}

}  // namespace cairn
