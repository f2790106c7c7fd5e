// expression_reorder: two neighbouring statements swap.
//
//   L_i [E_{i}=f(i)]  L_j [F_{j}=g(j)]  =>  L_j [F_{j}=g(j)]  L_i [E_{i}=f(i)]
//
// The pair is named by the equation that begins its second statement: exactly one statement begins with that
// equation and follows another in its body.
//
// Legal when
// (1) the equation begins a statement that follows another one in its body,
// (2) neither statement writes what the other reads or writes (elements, not names); a temporary that each fills for
//     itself before reading it, and a binding that only the statements on one side use, do not count,
// (3) the two do not update the same element, so that neither the start nor the order of its updates changes,
// (4) every read of an s or l temporary still sees a write of its own kernel and owner.
// Nothing is computed differently: exact.
#include <fmt/core.h>

#include <algorithm>

#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/independent.h"
#include "strategy/edit/marks.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

// The statement that begins with the equation and follows another; empty if there is none.
StmtPath second_of(StmtPath equation) {
  while (!equation.empty() && equation.back() == 0) equation.pop_back();
  return equation;
}

StmtPath first_of(StmtPath second) {
  --second.back();
  return second;
}

Program swapped(const Program& program, const StmtPath& second) {
  const StmtPath first = first_of(second);
  const StmtPtr a = shared_at(program.body(), first), b = shared_at(program.body(), second);
  Program out = program;
  out.set_body(replace_at(replace_at(program.body(), second, {a}), first, {b}));
  return out;
}

// Condition (4): statements outside P nests and block axes form kernels with their neighbours.
Result<void> check_kernels(const Program& program, const Program& after, const Target& target) {
  const bool owned = std::any_of(program.tensors().begin(), program.tensors().end(),
                                 [](const Tensor& t) { return t.role == Role::tmp && t.scope != Scope::g; });
  return owned ? check_all_storage(after, target, 4) : Result<void>{};
}

std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  for (const EquationRef& ref : collect_equations(program.body())) {
    const StmtPath second = second_of(ref.path);
    if (second.empty() || !check_independent(program, first_of(second), second)) continue;
    if (!check_kernels(program, swapped(program, second), target)) continue;
    out.push_back(Args{{"second", equation_address(program.body(), ref.path)}});
  }
  return out;
}

Result<Step> apply(const Program& program, const Target& target, const Args& args) {
  CAIRN_TRY(const StmtPath equation, find_equation(program.body(), args.get("second")));
  const StmtPath second = second_of(equation);
  if (second.empty()) {
    return refuse(program, stmt_at(program.body(), equation)->pos, 1, fmt::format("no statement stands before {} in its body; name the later one of the pair",
                                                                                  args.get("second")));
  }
  CAIRN_CHECKED(check_independent(program, first_of(second), second));
  Step step;
  step.after = swapped(program, second);
  CAIRN_CHECKED(check_kernels(program, step.after, target));
  step.proved = conditions_up_to(4);
  StmtPath now = second;
  while (!stmt_at(step.after.body(), now)->is_equation()) now.push_back(0);
  step.inverse = Action{"expression_reorder", Args{{"second", equation_address(step.after.body(), now)}}};
  return step;
}

}  // namespace

extern const Strategy strategy_expression_reorder{
    "expression_reorder", Level::graph, Direction::fusion, Exactness::exact,
    "two neighbouring statements swap",
    {{"second", ArgType::equation, "the first equation of the later statement of the pair", {}, ""}},
    list_sites, apply};

}  // namespace cairn
