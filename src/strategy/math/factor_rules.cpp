#include "strategy/math/factor_rules.h"

#include <fmt/core.h>

#include <algorithm>

#include "analysis/algebra/chain.h"
#include "ir/walk.h"
#include "strategy/edit/refuse.h"
#include "strategy/math/identity_step.h"

namespace cairn {
namespace {

using algebra::ChainKind;
using algebra::Match;

bool is_term(const ExprPtr& root, const Match& match) {
  if (match.position.empty()) return false;
  algebra::ExprPath parent = match.position;
  parent.pop_back();
  return algebra::chain_kind(*algebra::node_at(root, parent)) == ChainKind::sum;
}

// The match takes every term of its sum (every factor of its product).
bool takes_all(const ExprPtr& root, const Match& match) {
  const ExprPtr& chain = algebra::node_at(root, match.position);
  return match.consumed.empty() || algebra::leaves_of(chain, algebra::chain_kind(*chain)).size() == match.consumed.size();
}

// Rows through max and min; the others hold for factors of either sign.
bool is_ordered(const std::string& rule) { return rule == "common_factor_of_max" || rule == "common_factor_of_min"; }

Result<void> check_ordered(const Program& program, const Args& args, const Step& step) {
  if (!is_ordered(args.get("rule"))) return {};
  for (const SideCondition& condition : step.recorded) {
    if (condition.proved || condition.text.find(">=0") == std::string::npos) continue;
    CAIRN_TRY(const StmtPath path, find_equation(program.body(), args.get("equation")));
    return refuse(program, stmt_at(program.body(), path)->pos, 2, fmt::format("{} is not proved; a factor of a max or min must be 0 or more", condition.text));
  }
  return {};
}

}  // namespace

bool takes_factorization(const ExprPtr& root, const Match& match) { return takes_all(root, match); }

bool takes_expand_factorization(const ExprPtr& root, const Match& match) { return !is_term(root, match); }

bool takes_collect(const ExprPtr&, const Match& match) {
  const ExprPtr* variable = algebra::find_binding(match.bindings, "x");
  if (!variable || algebra::chain_kind(**variable) != ChainKind::none) return false;
  return (*variable)->op != Op::int_literal && (*variable)->op != Op::float_literal;
}

bool takes_expand_collect(const ExprPtr& root, const Match& match) { return is_term(root, match); }

std::vector<Args> list_factor_sites(std::string_view strategy, const Program& program) {
  std::vector<Args> out = list_identity_sites(*find_identity_use(strategy), program);
  std::erase_if(out, [&](const Args& args) { return is_ordered(args.get("rule")) && !apply_factor_rule(strategy, program, args); });
  return out;
}

Result<Step> apply_factor_rule(std::string_view strategy, const Program& program, const Args& args) {
  CAIRN_TRY(Step step, apply_identity(*find_identity_use(strategy), program, args));
  CAIRN_CHECKED(check_ordered(program, args, step));
  return step;
}

}  // namespace cairn
