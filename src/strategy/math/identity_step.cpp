#include "strategy/math/identity_step.h"

#include <fmt/core.h>

#include <algorithm>

#include "analysis/algebra/row_effect.h"
#include "ir/self_update.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"
#include "strategy/math/elements.h"
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

// An equation whose right side is rewritten.
struct Where {
  std::size_t number = 0;   // in text order
  const Stmt* equation = nullptr;
  algebra::Accumulator accumulator;
};

// A match that does not reach the accumulator, and what every value that may be put into it shares.
struct Fit {
  const Rule* rule = nullptr;
  Match match;
  algebra::Place place;
  std::optional<bool> holds;   // all that is asked besides the conditions on an invented element
};

void bind(const std::string& name, const ExprPtr& value, algebra::Bindings* bindings) {
  for (auto& binding : *bindings) {
    if (binding.first == name) binding.second = value;
  }
}

// Applies rows; keeps what many sites of one program share.
class Applier {
 public:
  Applier(const IdentityUse& use, const Program& program) : use_(use), program_(program), prover_(program), elements_(program) {}

  const std::vector<EquationRef>& equations() const { return elements_.equations(); }
  Where where(std::size_t number) const {
    const Stmt* equation = equations()[number].equation;
    return {number, equation, algebra::accumulator_of(*equation)};
  }
  Where where(const StmtPath& path) const {
    std::size_t number = 0;
    while (equations()[number].path != path) ++number;
    return where(number);
  }

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

  // Conditions (1) to (4); the right side after the step.
  Result<ExprPtr> rewrite(const Where& where, const Rule& rule, Match match, const ExprPtr& invented, Step* step) {
    const Stmt& equation = *where.equation;
    if (algebra::reaches_accumulator(match, where.accumulator)) {
      return refuse(program_, equation.pos, 1, fmt::format("{} would reach across the accumulator of {}", rule.name(), equation.tensor));
    }
    if (const std::vector<std::string>& names = algebra::invented_by(rule); !names.empty()) {
      CAIRN_CHECKED(check_invented(where, invented));
      if (is_in(match, invented)) {
        return refuse(program_, equation.pos, 4, fmt::format("{} is what the step would be put through: nothing new comes in", print_expr(*invented)));
      }
      bind(names[0], invented, &match.bindings);
    }
    const ExprPtr after = algebra::rewrite_at(rule, equation.rhs, match);
    if (!keeps_update(where, after)) {
      return refuse(program_, equation.pos, 1, fmt::format("{} would change whether the update of {} is a self-update", rule.name(), equation.tensor));
    }
    const algebra::Place place = algebra::place_in(program_, elements_.place(where.number), algebra::extent_of(match));
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

  // The match, if rewrite() may accept it with some value.
  std::optional<Fit> fit(const Where& where, const Rule& rule, Match match) {
    if (algebra::reaches_accumulator(match, where.accumulator)) return std::nullopt;
    algebra::Place place = algebra::place_in(program_, elements_.place(where.number), algebra::extent_of(match));
    return Fit{&rule, std::move(match), std::move(place), {}};
  }
  // Would rewrite() accept the match with an element that elements() gave for the equation (null: nothing is invented)?
  bool accepts(const Where& where, Fit* fit, const ExprPtr& element) {
    const std::vector<std::string>& names = algebra::invented_by(*fit->rule);
    if (element) {
      if (is_in(fit->match, element)) return false;
      bind(names[0], element, &fit->match.bindings);
    }
    const auto fails = [&](bool invented) {
      const std::vector<ExprPtr>& all = fit->rule->conditions();
      return std::any_of(all.begin(), all.end(), [&](const ExprPtr& c) {
        return (element && uses_var(*c, names[0])) == invented && prover_.prove(algebra::condition_of(c, fit->match.bindings, fit->place), fit->place) == algebra::Truth::no;
      });
    };
    const auto holds = [&] {
      const ExprPtr after = algebra::rewrite_at(*fit->rule, where.equation->rhs, fit->match);
      return keeps_update(where, after) && algebra::keeps_types(program_, where.equation->rhs, after, fit->match.position) && !fails(false);
    };
    // Elements offered at one place have one compute type; only those that mention the tensor written may count as its reads.
    const bool own = element && reads_tensor(*element, where.equation->tensor);
    if (own && !holds()) return false;
    if (!own && !fit->holds) fit->holds = holds();
    return (own || *fit->holds) && (!element || !fails(true));
  }

  std::vector<ExprPtr> elements(const Where& where, std::size_t limit) { return elements_.at(where.number, limit); }

 private:
  static bool is_in(const Match& match, const ExprPtr& value) {
    return std::any_of(match.bindings.begin(), match.bindings.end(), [&](const auto& binding) { return algebra::same_value(binding.second, value); });
  }
  bool keeps_update(const Where& where, const ExprPtr& after) const {
    const Stmt& equation = *where.equation;
    const algebra::Accumulator is = algebra::accumulator_of(*make_equation(equation.tensor, equation.subscripts, after, equation.pos));
    return is.is_update == where.accumulator.is_update && is.op == where.accumulator.op;
  }

  // Condition (4).
  Result<void> check_invented(const Where& where, const ExprPtr& value) {
    const std::vector<ElementRead> reads = element_reads(value);
    const auto fail = [&](std::string message) { return refuse(program_, where.equation->pos, 4, std::move(message)); };
    if (reads.empty()) return fail(fmt::format("{} reads no element of the program", print_expr(*value)));
    const Tensor* target = program_.find(where.equation->tensor);
    const algebra::Place& place = elements_.place(where.number);
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
      if (is_always_there(*tensor, *read, place.loops)) continue;
      const std::vector<ExprPtr> known = guarded ? std::vector<ExprPtr>() : elements_.at(where.number);
      if (std::none_of(known.begin(), known.end(), [&](const ExprPtr& e) { return algebra::same_value(e, read); })) {
        return fail(fmt::format("{} is not known to be in bounds and written at the equation of {}", print_expr(*read), where.equation->tensor));
      }
    }
    return {};
  }

  const IdentityUse& use_;
  const Program& program_;
  algebra::Prover prover_;
  Elements elements_;
};

Args make_args(const IdentityUse& use, std::string equation, const Rule& rule, std::size_t at, std::string invented) {
  Args args;
  args.reserve(4);
  args.add("equation", std::move(equation));
  args.add("rule", rule.name());
  args.add("at", std::to_string(at));
  if (!use.invented.empty()) args.add(std::string(use.invented), std::move(invented));
  return args;
}

// What an action of the strategy gives for one equation, without the inverse.
Result<ExprPtr> rewrite_equation(const IdentityUse& use, const Program& program, const Args& args, StmtPath* path, Match* match, Step* step) {
  CAIRN_TRY(*path, find_equation(program.body(), args.get("equation")));
  Applier applier(use, program);
  const Where where = applier.where(*path);
  const std::string& name = args.get("rule");
  const Rule* rule = nullptr;
  for (const Rule& r : algebra::rules_of(use.strategy)) {
    if (r.name() == name) rule = &r;
  }
  if (!rule) return no_site(program, where.equation->pos, fmt::format("{} has no rule {}", use.strategy, name));
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
  const std::uint64_t ops = algebra::ops_of(*stmt_at(after.body(), path)->rhs);
  for (const Rule& rule : algebra::rules_against(use.strategy)) {
    if (!rule.may_fit(ops)) continue;
    const IdentityUse* other = find_identity_use(rule.back ? rule.identity->back : rule.identity->forward);
    if (!other) continue;
    Applier applier(*other, after);
    const Where where = applier.where(path);
    const std::vector<std::string>& invented = algebra::invented_by(rule);
    if (invented.empty() != other->invented.empty()) continue;
    const std::vector<Match> matches = applier.matches(rule, where);
    for (std::size_t at = 0; at < matches.size(); ++at) {
      for (std::size_t v = 0; v < (invented.empty() ? 1 : match.bindings.size()); ++v) {
        const ExprPtr value = invented.empty() ? nullptr : match.bindings[v].second;
        const Result<ExprPtr> back = applier.rewrite(where, rule, matches[at], value, nullptr);
        if (!back || algebra::commuted_hash(**back) != wanted) continue;
        return Action{std::string(other->strategy), make_args(*other, equation_address(after.body(), path), rule, at, value ? print_expr(*value) : "")};
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
  for (std::size_t number = 0; number < applier.equations().size(); ++number) {
    const std::uint64_t ops = algebra::ops_of(*applier.equations()[number].equation->rhs);
    std::optional<Where> where;
    std::vector<ExprPtr> values;
    std::vector<std::string> texts;
    std::size_t listed = 0;
    for (const Rule& rule : algebra::rules_of(use.strategy)) {
      if (!rule.may_fit(ops)) continue;
      if (!where) where = applier.where(number);
      std::vector<Match> matches = applier.matches(rule, *where);
      if (values.empty() && !matches.empty()) {
        values = use.invented.empty() ? std::vector<ExprPtr>{nullptr} : applier.elements(*where, kMaxElements);
        for (const ExprPtr& value : values) texts.push_back(value ? print_expr(*value) : "");
      }
      for (std::size_t at = 0; at < matches.size(); ++at) {
        std::optional<Fit> fit = applier.fit(*where, rule, std::move(matches[at]));
        for (std::size_t v = 0; fit && v < values.size() && listed < kMaxSites; ++v) {
          if (!applier.accepts(*where, &*fit, values[v])) continue;
          out.push_back(make_args(use, fmt::format("s{}", number), rule, at, texts[v]));
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
