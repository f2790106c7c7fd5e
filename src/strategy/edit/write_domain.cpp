#include "strategy/edit/write_domain.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "analysis/affine.h"
#include "ir/subscripts.h"

namespace cairn {

WriteDomain write_domain(const Stmt& equation, const std::vector<const Stmt*>& enclosing, const std::function<std::string(std::size_t)>& name) {
  WriteDomain domain;
  for (const Stmt* above : enclosing) {
    if (above->is_loop()) {
      const bool used = subscripts_use(equation.subscripts, above->var);
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

bool writes_once(const WriteDomain& domain, const std::vector<ExprPtr>& subscripts) {
  std::vector<std::string> open;
  for (const LoopHeader& loop : domain.loops) {
    if (loop.extent > 1) open.push_back(loop.var);
  }
  const auto extent_of = [&](const std::string& var) {
    const auto loop = std::find_if(domain.loops.begin(), domain.loops.end(), [&](const LoopHeader& l) { return l.var == var; });
    return loop == domain.loops.end() ? std::int64_t{0} : loop->extent;
  };
  for (const ExprPtr& subscript : subscripts) {
    std::optional<LinearForm> form = linear_form(*subscript);
    if (!form) continue;
    auto& terms = form->terms;
    std::sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return std::abs(a.second) < std::abs(b.second); });
    std::int64_t reach = 0;   // of the digits below
    bool digits = true;
    for (const auto& [var, coefficient] : terms) {
      const std::int64_t extent = extent_of(var);
      digits = digits && extent > 0 && (extent == 1 || std::abs(coefficient) > reach);
      reach += std::abs(coefficient) * (extent - 1);
    }
    if (!digits) continue;
    for (const auto& term : terms) std::erase(open, term.first);
  }
  return open.empty();
}

Body wrap_domain(const WriteDomain& domain, Body body) {
  if (!domain.tests.empty()) body = {make_test(join_conjunction(domain.tests), std::move(body))};
  return wrap_loops(domain.loops, std::move(body));
}

}  // namespace cairn
