#include "verify/row.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "analysis/algebra/prove.h"
#include "analysis/algebra/row_effect.h"
#include "ir/text.h"
#include "ir/walk.h"

namespace cairn {

namespace {
using algebra::Explanation;
using algebra::Truth;

// Walks two programs side by side and finds the one equation whose right sides differ.
class Comparer {
 public:
  Comparer(const Program& before, const Program& after) : before_(before), after_(after) {}

  // The right side of the program after in the names of the one before; null unless exactly one differs.
  ExprPtr run(StmtPath* path) {
    if (!pair_names(before_.body(), after_.body())) return nullptr;
    StmtPath at;
    if (!compare(before_.body(), after_.body(), &at) || !other_) return nullptr;
    *path = path_;
    return other_;
  }

 private:
  // The same statements but for right sides and conditions; pairs temporaries by what writes them.
  bool pair_names(const Body& a, const Body& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const Stmt &x = *a[k], &y = *b[k];
      if (x.type != y.type || x.kind != y.kind || x.extent != y.extent || !(x.mark == y.mark)) return false;
      if (x.is_equation() && !pair_tensors(y.tensor, x.tensor)) return false;
      if (!pair_names(x.body, y.body)) return false;
    }
    return true;
  }
  bool pair_tensors(const std::string& from, const std::string& to) {
    const Tensor *t = after_.find(from), *u = before_.find(to);
    if (t == nullptr || u == nullptr || t->role != u->role || t->dtype != u->dtype || t->scope != u->scope) return false;
    if (t->role != Role::tmp && from != to) return false;
    const auto [one, first] = names_.emplace(from, to);
    const auto [back, second] = taken_.emplace(to, from);
    return one->second == to && back->second == from;
  }
  ExprPtr renamed(const ExprPtr& root) const {   // subscripts come before what they stand in
    return rewrite_expr(root, [this](const ExprPtr& e) -> ExprPtr {
      if (e->op == Op::loop_var) {
        const auto found = std::find_if(vars_.rbegin(), vars_.rend(), [&](const auto& v) { return v.first == e->name; });
        return found == vars_.rend() || found->second == e->name ? nullptr : make_var(found->second, e->pos);
      }
      if (e->op != Op::read) return nullptr;
      const auto found = names_.find(e->name);
      if (found == names_.end() || found->second == e->name) return nullptr;
      return make_read(found->second, e->args, e->pos);
    });
  }
  bool same(const ExprPtr& x, const ExprPtr& y) const { return algebra::commuted_hash(*x) == algebra::commuted_hash(*renamed(y)); }

  // False where anything differs but one right side.
  bool compare(const Body& a, const Body& b, StmtPath* at) {
    for (std::uint32_t k = 0; k < a.size(); ++k) {
      const Stmt &x = *a[k], &y = *b[k];
      at->push_back(k);
      if (x.is_test() && !same(x.cond, y.cond)) return false;
      if (x.is_equation()) {
        for (std::size_t d = 0; d < x.subscripts.size(); ++d) {
          if (d >= y.subscripts.size() || !same(x.subscripts[d], y.subscripts[d])) return false;
        }
        if (!same(x.rhs, y.rhs)) {
          if (other_) return false;
          other_ = renamed(y.rhs);
          path_ = *at;
        }
      } else {
        if (x.is_loop()) vars_.emplace_back(y.var, x.var);
        if (!compare(x.body, y.body, at)) return false;
        if (x.is_loop()) vars_.pop_back();
      }
      at->pop_back();
    }
    return true;
  }

  const Program& before_;
  const Program& after_;
  std::map<std::string, std::string, std::less<>> names_, taken_;
  std::vector<std::pair<std::string, std::string>> vars_;
  ExprPtr other_;
  StmtPath path_;
};
}  // namespace

std::optional<RowRewrite> find_row(const Program& before, const Program& after) {
  StmtPath path;
  const ExprPtr wanted = Comparer(before, after).run(&path);
  if (!wanted) return std::nullopt;
  const Stmt& equation = *stmt_at(before.body(), path);
  const algebra::Accumulator accumulator = algebra::accumulator_of(equation);
  const algebra::Accumulator other = algebra::accumulator_of(*make_equation(equation.tensor, equation.subscripts, wanted, equation.pos));
  if (accumulator.is_update != other.is_update || accumulator.op != other.op) return std::nullopt;
  RowRewrite out;
  out.equation = equation_address(before.body(), path);
  algebra::Prover prover(before);
  const auto accept = [&](const Explanation& e) {
    if (algebra::reaches_accumulator(e.match, accumulator) || !algebra::keeps_types(before, equation.rhs, wanted, e.match.position)) return false;
    out.conditions.clear();
    const algebra::Place place = algebra::place_of(before, path, algebra::extent_of(e.match));
    for (const ExprPtr& condition : algebra::conditions_of(e.rule, e.match, place)) {
      const Truth truth = prover.prove(condition, place);
      if (truth == Truth::no) return false;
      out.conditions.push_back({algebra::describe_condition(before, condition, place), truth == Truth::yes, true});
    }
    return true;
  };
  const std::optional<Explanation> found = algebra::explain_rewrite(equation.rhs, wanted, &before, accept);
  if (!found) return std::nullopt;
  out.row = found->rule.name() + (found->rule.back ? " backwards" : "");
  for (const auto& [name, value] : found->match.bindings) out.bindings.push_back(fmt::format("{} = {}", name, print_expr(*value)));
  const bool bits = algebra::is_exact_at(before, equation, found->rule, found->match) &&
                    algebra::commuted_hash(*algebra::rewrite_at(found->rule, equation.rhs, found->match)) == algebra::commuted_hash(*wanted);
  out.exactness = bits ? Exactness::exact : Exactness::algebraic;
  // Over the reals nothing overflows; other operations on the same values may.
  if (!bits) out.conditions.push_back({fmt::format("no overflow or underflow at {}", out.equation), false});
  return out;
}

Certificate row_certificate(const RowRewrite& row) {
  Certificate c;
  c.rung = Rung::rule;
  c.held = true;
  c.facts = {{"row", row.row}, {"equation", row.equation}};
  for (std::size_t k = 0; k < row.bindings.size(); ++k) c.facts.emplace_back(fmt::format("binding_{}", k + 1), row.bindings[k]);
  for (const bool proved : {true, false}) {
    std::size_t k = 0;
    for (const SideCondition& s : row.conditions) {
      if (s.proved == proved) c.facts.emplace_back(fmt::format("{}_{}", proved ? "proved" : "recorded", ++k), s.text);
    }
  }
  return c;
}

}  // namespace cairn
