#include "strategy/math/identity_step.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "analysis/algebra/row_effect.h"
#include "ir/interval.h"
#include "ir/self_update.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"
#include "strategy/math/factor_rules.h"

namespace cairn {
namespace {

using algebra::ExprPath;
using algebra::Match;
using algebra::Rule;

constexpr std::size_t kMaxSites = 64;        // of one equation
constexpr std::size_t kMaxElements = 4;      // invented values that are listed
constexpr std::size_t kMaxMatches = 256;     // that apply can name

constexpr IdentityUse kUses[] = {
    {"cancellation", 3},
    {"expand_cancellation", 4, "factor"},
    {"apart", 2},
    {"together", 2},
    {"powsimp", 3},
    {"expand_powsimp", 2},
    {"expand_log", 2},
    {"logsimp", 2},
    {"exponential_split", 4, "z"},
    {"multiplicative_split", 4, "z", true},
    {"additive_split", 4, "z", true},
    {"factorization", 2, {}, false, takes_factorization},
    {"expand_factorization", 2, {}, false, takes_expand_factorization},
    {"collect", 2, {}, false, takes_collect},
    {"expand_collect", 2, {}, false, takes_expand_collect},
};

// Reads of an expression outside subscripts, with whether they stand under an if_then_else.
void collect_reads(const ExprPtr& e, bool guarded, std::vector<std::pair<ExprPtr, bool>>* out) {
  if (e->op == Op::read) {
    out->emplace_back(e, guarded);
    return;
  }
  const bool lazy = e->op == Op::select || e->op == Op::logical_and || e->op == Op::logical_or;
  for (std::size_t k = 0; k < e->args.size(); ++k) collect_reads(e->args[k], guarded || (lazy && k > 0), out);
}

bool in_bounds(const Expr& read, const Tensor& tensor, const std::vector<LoopRange>& loops) {
  if (!tensor.shape || tensor.shape->size() != read.args.size()) return false;
  VarRanges ranges;
  for (const LoopRange& loop : loops) ranges[loop.var] = {0, loop.extent - 1};
  for (std::size_t d = 0; d < read.args.size(); ++d) {
    const std::optional<Interval> range = interval_of(*read.args[d], ranges);
    if (!range || range->lo < 0 || range->hi >= (*tensor.shape)[d]) return false;
  }
  return true;
}

bool has_value_always(Role role) { return role == Role::in || role == Role::param || role == Role::constant || role == Role::io; }

struct Where {
  StmtPath path;
  const Stmt* equation = nullptr;
  algebra::Accumulator accumulator;
};

Where where_of(const Program& program, StmtPath path) {
  Where where;
  where.equation = stmt_at(program.body(), path);
  where.path = std::move(path);
  where.accumulator = algebra::accumulator_of(*where.equation);
  return where;
}

// Applies rows; keeps what many sites of one program share.
class Applier {
 public:
  Applier(const IdentityUse& use, const Program& program) : use_(use), program_(program), prover_(program) {}

  std::vector<Match> matches(const Rule& rule, const Where& where) const {
    algebra::MatchOptions options;
    options.program = &program_;
    options.limit = kMaxMatches;
    // Matches are numbered with a placeholder: what is invented does not change their order.
    for (const std::string& name : algebra::invented_by(rule)) options.invented.emplace_back(name, make_var("?"));
    std::vector<Match> found = algebra::find_matches(rule, where.equation->rhs, options);
    if (use_.takes) std::erase_if(found, [&](const Match& m) { return !use_.takes(where.equation->rhs, m); });
    return found;
  }

  // Conditions (1) to (4); the right side after the step. What elements_at() gave for the place need not be asked about
  // again (`known`).
  Result<ExprPtr> rewrite(const Where& where, const Rule& rule, Match match, const ExprPtr& invented, Step* step, bool known = false) {
    const Stmt& equation = *where.equation;
    const ExprPath extent = algebra::extent_of(match);
    if (algebra::reaches_accumulator(match, where.accumulator)) {
      return refuse(program_, equation.pos, 1, fmt::format("{} would reach across the accumulator of {}", rule.name(), equation.tensor));
    }
    const std::vector<std::string> names = algebra::invented_by(rule);
    if (!names.empty()) {
      if (!known) CAIRN_CHECKED(check_invented(where, invented));
      for (const auto& [name, value] : match.bindings) {
        if (!algebra::same_value(value, invented)) continue;
        return refuse(program_, equation.pos, 4, fmt::format("{} is what the step would be put through: nothing new comes in", print_expr(*invented)));
      }
      for (auto& binding : match.bindings) {
        if (binding.first == names[0]) binding.second = invented;
      }
    }
    const ExprPtr after = algebra::rewrite_at(rule, equation.rhs, match);
    const StmtPtr rewritten = make_equation(equation.tensor, equation.subscripts, after, equation.pos);
    if (const algebra::Accumulator is = algebra::accumulator_of(*rewritten);
        is.is_update != where.accumulator.is_update || is.op != where.accumulator.op) {
      return refuse(program_, equation.pos, 1, fmt::format("{} would change whether the update of {} is a self-update", rule.name(), equation.tensor));
    }
    const algebra::Place place = algebra::place_of(program_, where.path, extent);
    for (const ExprPtr& condition : algebra::conditions_of(rule, match, place)) {
      const algebra::Truth truth = prover_.prove(condition, place);
      if (!step && truth != algebra::Truth::no) continue;
      const std::string text = algebra::describe_condition(program_, condition, place);
      if (truth == algebra::Truth::no) return refuse(program_, equation.pos, 2, fmt::format("{} needs {}, which never holds", rule.name(), text));
      if (step) step->recorded.push_back({text, truth == algebra::Truth::yes, true});
    }
    if (!algebra::keeps_types(program_, equation.rhs, after, match.position)) {
      return refuse(program_, equation.pos, 3, fmt::format("{} would change the type that a conversion or a comparison computes in", rule.name()));
    }
    if (step) step->exactness = algebra::is_exact_at(program_, equation, rule, match) ? Exactness::exact : Exactness::algebraic;
    return after;
  }

  // Condition (4).
  Result<void> check_invented(const Where& where, const ExprPtr& value) {
    std::vector<std::pair<ExprPtr, bool>> reads;
    collect_reads(value, false, &reads);
    const auto fail = [&](std::string message) { return refuse(program_, where.equation->pos, 4, std::move(message)); };
    if (reads.empty()) return fail(fmt::format("{} reads no element of the program", print_expr(*value)));
    const Tensor* target = program_.find(where.equation->tensor);
    const algebra::Place place = algebra::place_of(program_, where.path);
    bool in_scope = true;
    visit_expr(*value, [&](const Expr& e) {
      in_scope = in_scope && (e.op != Op::loop_var || std::any_of(place.loops.begin(), place.loops.end(), [&](const LoopRange& l) { return l.var == e.name; }));
      return true;
    });
    if (!in_scope) return fail(fmt::format("{} uses a loop variable that is not in scope at the equation of {}", print_expr(*value), where.equation->tensor));
    for (const auto& [read, guarded] : reads) {
      const Tensor* tensor = program_.find(read->name);
      if (!tensor) return fail(fmt::format("the program has no tensor {}", read->name));
      if (read->name == where.equation->tensor) {
        return refuse(program_, where.equation->pos, 1, fmt::format("{} is the tensor that the equation writes", read->name));
      }
      if (!is_float(tensor->dtype) || !target || compute_type(tensor->dtype) != compute_type(target->dtype)) {
        return fail(fmt::format("{} is {}, which is not computed in the type of {}", read->name, dtype_name(tensor->dtype), where.equation->tensor));
      }
      if (has_value_always(tensor->role) && in_bounds(*read, *tensor, place.loops)) continue;
      const std::vector<ExprPtr>& known = elements(where.path);
      if (guarded || std::none_of(known.begin(), known.end(), [&](const ExprPtr& e) { return algebra::same_value(e, read); })) {
        return fail(fmt::format("{} is not known to be in bounds and written at the equation of {}", print_expr(*read), where.equation->tensor));
      }
    }
    return {};
  }

  const std::vector<ExprPtr>& elements(const StmtPath& path) {
    if (elements_path_ != path) {
      elements_path_ = path;
      elements_ = elements_at(program_, path);
    }
    return elements_;
  }

 private:
  const IdentityUse& use_;
  const Program& program_;
  algebra::Prover prover_;
  StmtPath elements_path_ = {~0u};
  std::vector<ExprPtr> elements_;
};

Args make_args(const IdentityUse& use, const std::string& equation, const Rule& rule, std::size_t at, const ExprPtr& invented) {
  Args args{{"equation", equation}, {"rule", rule.name()}, {"at", fmt::format("{}", at)}};
  if (!use.invented.empty()) args.set(std::string(use.invented), print_expr(*invented));
  return args;
}

// What an action of the strategy gives for one equation, without the inverse.
Result<ExprPtr> rewrite_equation(const IdentityUse& use, const Program& program, const Args& args, StmtPath* path, Match* match, Step* step) {
  CAIRN_TRY(*path, find_equation(program.body(), args.get("equation")));
  const Where where = where_of(program, *path);
  const std::string& name = args.get("rule");
  const Rule* rule = nullptr;
  for (const Rule& r : algebra::rules_of(use.strategy)) {
    if (r.name() == name) rule = &r;
  }
  if (!rule) return no_site(program, where.equation->pos, fmt::format("{} has no rule {}", use.strategy, name));
  Applier applier(use, program);
  const std::vector<Match> matches = applier.matches(*rule, where);
  const std::int64_t at = args.get_int("at");
  if (at < 0 || at >= static_cast<std::int64_t>(matches.size())) {
    return no_site(program, where.equation->pos, fmt::format("{} fits {} times at {}; there is no match {}", name, matches.size(), args.get("equation"), at));
  }
  ExprPtr invented;
  if (!use.invented.empty()) {
    CAIRN_TRY(invented, parse_expr(args.get(use.invented)));
  }
  *match = matches[static_cast<std::size_t>(at)];
  return applier.rewrite(where, *rule, *match, invented, step);
}

// The action that takes the new right side back to the old one, if a row of an opposed strategy does.
std::optional<Action> find_inverse(const IdentityUse& use, const Program& after, const StmtPath& path, const ExprPtr& old_rhs, const Match& match) {
  const Digest wanted = algebra::commuted_hash(*old_rhs);
  const Where where = where_of(after, path);
  const std::uint64_t ops = algebra::ops_of(*where.equation->rhs);
  for (const Rule& rule : algebra::rules_against(use.strategy)) {
    if (!rule.may_fit(ops)) continue;
    const IdentityUse* other = find_identity_use(rule.back ? rule.identity->back : rule.identity->forward);
    if (!other) continue;
    Applier applier(*other, after);
    const std::vector<std::string> invented = algebra::invented_by(rule);
    if (invented.empty() != other->invented.empty()) continue;
    const std::vector<Match> matches = applier.matches(rule, where);
    for (std::size_t at = 0; at < matches.size(); ++at) {
      for (std::size_t v = 0; v < (invented.empty() ? 1 : match.bindings.size()); ++v) {
        const ExprPtr value = invented.empty() ? nullptr : match.bindings[v].second;
        const Result<ExprPtr> back = applier.rewrite(where, rule, matches[at], value, nullptr);
        if (!back || algebra::commuted_hash(**back) != wanted) continue;
        return Action{std::string(other->strategy), make_args(*other, equation_address(after.body(), path), rule, at, value)};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

const IdentityUse* find_identity_use(std::string_view strategy) {
  for (const IdentityUse& use : kUses) {
    if (use.strategy == strategy) return &use;
  }
  return nullptr;
}

std::vector<ExprPtr> elements_at(const Program& program, const StmtPath& equation, std::size_t limit) {
  std::vector<ExprPtr> out;
  std::set<Digest> offered;
  const Stmt& here = *stmt_at(program.body(), equation);
  const Tensor* target = program.find(here.tensor);
  const algebra::Place place = algebra::place_of(program, equation);
  const auto extent_here = [&](const std::string& var) -> std::int64_t {
    for (const LoopRange& loop : place.loops) {
      if (loop.var == var) return loop.extent;
    }
    return INT64_MAX;
  };
  const auto offer = [&](const EquationRef& ref) {
    std::vector<std::pair<ExprPtr, bool>> reads;
    collect_reads(ref.equation->rhs, false, &reads);
    const bool same = ref.path == equation;
    const algebra::Place there = same ? place : algebra::place_of(program, ref.path);
    for (const auto& [read, guarded] : reads) {
      const Tensor* tensor = program.find(read->name);
      if (read->name == here.tensor || !tensor || !target || !is_float(tensor->dtype)) continue;
      if (compute_type(tensor->dtype) != compute_type(target->dtype)) continue;
      const bool always = has_value_always(tensor->role) && in_bounds(*read, *tensor, place.loops);
      bool fits = always || (!guarded && (same || (there.known.empty() && ref.path < equation)));
      visit_expr(*read, [&](const Expr& e) {
        if (e.op != Op::loop_var || same || always) return true;
        const auto bound = std::find_if(there.loops.begin(), there.loops.end(), [&](const LoopRange& l) { return l.var == e.name; });
        fits = fits && bound != there.loops.end() && extent_here(e.name) <= bound->extent;
        return true;
      });
      if (fits && out.size() < limit && offered.insert(algebra::value_hash(*read)).second) out.push_back(read);
    }
  };
  const std::vector<EquationRef> all = collect_equations(program.body());
  const auto own = std::find_if(all.begin(), all.end(), [&](const EquationRef& ref) { return ref.path == equation; });
  offer(*own);
  for (const EquationRef& ref : all) {
    if (out.size() >= limit) break;
    if (ref.path != equation) offer(ref);
  }
  return out;
}

std::vector<Param> identity_params(const IdentityUse& use, std::string_view help_of_invented) {
  std::vector<Param> params = {{"equation", ArgType::equation, "whose right side is rewritten", {}, ""},
                               {"rule", ArgType::text, "a row of the table", {}, ""},
                               {"at", ArgType::integer, "which of the row's matches, in text order", {}, "0"}};
  if (!use.invented.empty()) params.push_back({use.invented, ArgType::text, help_of_invented, {}, ""});
  return params;
}

std::vector<Args> list_identity_sites(const IdentityUse& use, const Program& program) {
  std::vector<Args> out;
  Applier applier(use, program);
  std::size_t number = 0;
  for (const EquationRef& ref : collect_equations(program.body())) {
    const std::string address = fmt::format("s{}", number++);
    const std::uint64_t ops = algebra::ops_of(*ref.equation->rhs);
    std::optional<Where> where;
    std::vector<ExprPtr> offered;
    std::size_t listed = 0;
    for (const Rule& rule : algebra::rules_of(use.strategy)) {
      if (!rule.may_fit(ops)) continue;
      if (!where) where = where_of(program, ref.path);
      const std::vector<Match> matches = applier.matches(rule, *where);
      std::vector<ExprPtr> values = {nullptr};
      if (!use.invented.empty() && !matches.empty()) {
        if (offered.empty()) offered = elements_at(program, ref.path, kMaxElements);
        values = offered;
      }
      for (std::size_t at = 0; at < matches.size(); ++at) {
        for (const ExprPtr& value : values) {
          if (listed >= kMaxSites) break;
          if (!applier.rewrite(*where, rule, matches[at], value, nullptr, true)) continue;
          out.push_back(make_args(use, address, rule, at, value));
          ++listed;
        }
      }
    }
  }
  return out;
}

Result<Step> apply_identity(const IdentityUse& use, const Program& program, const Args& args) {
  Step step;
  StmtPath path;
  Match match;
  CAIRN_TRY(const ExprPtr rhs, rewrite_equation(use, program, args, &path, &match, &step));
  const Stmt& equation = *stmt_at(program.body(), path);
  step.after = with_replaced(program, path, Body{make_equation(equation.tensor, equation.subscripts, rhs, equation.pos)});
  step.same_instances = false;
  step.proved = conditions_up_to(use.conditions);
  // Over the reals nothing overflows; the same factors in another order may, and so may a power.
  const auto open = [](const SideCondition& c) { return !c.proved; };
  if (step.exactness == Exactness::algebraic && std::none_of(step.recorded.begin(), step.recorded.end(), open)) {
    step.recorded.push_back({fmt::format("no overflow or underflow at {}", equation_address(program.body(), path)), false});
  }
  if (use.enabling) step.recorded.push_back({"enabling: judged at the end of its sequence", false});
  step.inverse = find_inverse(use, step.after, path, equation.rhs, match);
  return step;
}

}  // namespace cairn
