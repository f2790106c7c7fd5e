#include "analysis/flow_region.h"

#include <algorithm>
#include <map>

namespace cairn {

namespace {
constexpr std::int64_t kHuge = std::int64_t{1} << 62;

// name -> form substitution with overflow checks.
bool add_form(LinearForm* out, const LinearForm& other, std::int64_t scale) {
  std::int64_t t = 0;
  if (__builtin_mul_overflow(other.constant, scale, &t) || __builtin_add_overflow(out->constant, t, &out->constant)) return false;
  for (const auto& [name, coef] : other.terms) {
    if (__builtin_mul_overflow(coef, scale, &t)) return false;
    const auto it = std::lower_bound(out->terms.begin(), out->terms.end(), name,
                                     [](const auto& term, const std::string& n) { return term.first < n; });
    if (it != out->terms.end() && it->first == name) {
      if (__builtin_add_overflow(it->second, t, &it->second)) return false;
      if (it->second == 0) out->terms.erase(it);
    } else if (t != 0) {
      out->terms.insert(it, {name, t});
    }
  }
  return true;
}

bool substitute(LinearForm* form, const std::string& name, const LinearForm& value) {
  const std::int64_t coef = form->coefficient(name);
  if (coef == 0) return true;
  std::erase_if(form->terms, [&](const auto& t) { return t.first == name; });
  return add_form(form, value, coef);
}

LinearForm constant_form(std::int64_t value) { return {{}, value}; }
LinearForm var_form(const std::string& name, std::int64_t constant = 0) { return {{{name, 1}}, constant}; }

// Least value of a form over constant ranges; nullopt if a variable has none.
std::optional<std::int64_t> least(const LinearForm& form, const std::map<std::string, std::int64_t>& extents) {
  std::int64_t lo = form.constant;
  for (const auto& [name, coef] : form.terms) {
    const auto it = extents.find(name);
    std::int64_t t = 0;
    if (it == extents.end()) return std::nullopt;
    if (coef > 0) continue;
    if (__builtin_mul_overflow(coef, it->second - 1, &t) || __builtin_add_overflow(lo, t, &lo)) return std::nullopt;
  }
  return lo;
}

struct FreeVar {
  LinearForm lo, hi;            // over shared variables
  std::int64_t least_span = 0;  // hi - lo at least this
};

class RegionBuilder {
 public:
  RegionBuilder(const Access& write, const RegionContext& context) : write_(write), shared_tests_(context.shared_tests) {
    for (std::size_t i = 0; i < write.loops.size(); ++i) {
      const Stmt& loop = *write.loops[i];
      ranges_.push_back({loop.var, loop.extent});
      extents_[loop.var] = loop.extent;
      if (i < context.equal) continue;
      if (i == context.equal && context.step != RegionContext::Step::free) {
        shifted_ = loop.var;
        if (context.step == RegionContext::Step::all_earlier) {
          free_[loop.var + "'"] = {constant_form(0), var_form(loop.var, -1), 0};
          extents_[loop.var + "'"] = loop.extent;
        }
        region_.constraints.push_back({{}, var_form(loop.var, -1)});
        step_ = context.step;
      } else {
        free_[loop.var] = {constant_form(0), constant_form(loop.extent - 1), loop.extent - 1};
      }
    }
    region_.write = &write;
  }

  std::optional<Region> build() {
    std::vector<ExprPtr> subscripts = write_.subscripts;
    if (!split_digits(&subscripts)) return std::nullopt;
    for (const ExprPtr& sub : subscripts) {
      auto form = linear_form(*name_atoms(simplify_index(sub, ranges_)));
      if (!form || !relate(&*form)) return std::nullopt;
      forms_.push_back(*std::move(form));
    }
    for (std::size_t i = shared_tests_; i < write_.conditions.size(); ++i) {
      const Condition& c = write_.conditions[i];
      if (!condition(*c.cond, c.holds)) return std::nullopt;
    }
    if (!instantiate() || !boxes() || !guards()) return std::nullopt;
    return std::move(region_);
  }

 private:
  // The write's iteration variable in terms of the read's.
  bool relate(LinearForm* form) const {
    if (shifted_.empty()) return true;
    return substitute(form, shifted_,
                      step_ == RegionContext::Step::previous ? var_form(shifted_, -1) : var_form(shifted_ + "'"));
  }

  // // and % of variables that both share at equal values are values of their own.
  ExprPtr name_atoms(const ExprPtr& root) {
    if (root->op == Op::floor_div || root->op == Op::mod) {
      bool shared = true;
      visit_expr(*root, [&](const Expr& e) {
        if (e.op == Op::read) shared = false;
        if (e.op == Op::loop_var) shared &= free_.find(e.name) == free_.end() && e.name != shifted_ && extents_.count(e.name) > 0;
        return shared;
      });
      if (!shared) return root;
      for (const auto& [name, expr] : region_.atoms) {
        if (same_expr(expr, root)) return make_var(name);
      }
      region_.atoms.emplace_back("@" + std::to_string(region_.atoms.size()), root);
      return make_var(region_.atoms.back().first);
    }
    if (root->op == Op::read || root->args.empty() || root->op == Op::cast) return root;
    std::vector<ExprPtr> args;
    for (const ExprPtr& arg : root->args) args.push_back(name_atoms(arg));
    return make_expr(root->op, std::move(args), root->pos);
  }

  // e//m and e%m over a free e that covers [0, n), m | n: independent digits of their own.
  bool split_digits(std::vector<ExprPtr>* subscripts) {
    for (int round = 0; round < 8; ++round) {
      const Expr* atom = nullptr;
      for (const ExprPtr& sub : *subscripts) {
        visit_expr(*sub, [&](const Expr& e) {
          if ((e.op == Op::floor_div || e.op == Op::mod) && e.args[1]->op == Op::int_literal) atom = &e;
          return true;   // the last visited is an innermost one
        });
      }
      if (atom == nullptr) return true;
      if (!split_atom(*atom, subscripts)) return true;   // simplify_index or linear_form decide
    }
    return true;
  }
  bool split_atom(const Expr& found, std::vector<ExprPtr>* subscripts) {
    const ExprPtr inner = found.args[0];
    const std::int64_t m = found.args[1]->int_value;
    const auto form = linear_form(*inner);
    if (!form || m < 2 || form->constant != 0) return false;
    std::int64_t span = 0;
    std::vector<std::pair<std::int64_t, std::string>> terms;
    for (const auto& [name, coef] : form->terms) {
      const auto it = free_.find(name);
      if (it == free_.end() || coef <= 0 || !it->second.hi.terms.empty()) return false;
      terms.emplace_back(coef, name);
    }
    std::sort(terms.begin(), terms.end());
    for (const auto& [coef, name] : terms) {
      std::int64_t reach = 0;
      if (coef > span + 1 || __builtin_mul_overflow(coef, free_[name].hi.constant, &reach)) return false;
      if (__builtin_add_overflow(span, reach, &span) || span >= kHuge) return false;
    }
    const std::int64_t n = span + 1;
    if (n % m != 0) return false;
    // Replace inner//m and inner%m (and inner%d for d | m, as (inner%m)%d); no other use of its variables.
    const std::string high = "$" + std::to_string(digits_) + "h";
    const std::string low = "$" + std::to_string(digits_) + "l";
    ++digits_;
    std::vector<ExprPtr> out;
    for (const ExprPtr& sub : *subscripts) {
      out.push_back(rewrite_expr(sub, [&](const ExprPtr& e) -> ExprPtr {
        if ((e->op != Op::floor_div && e->op != Op::mod) || e->args[1]->op != Op::int_literal) return nullptr;
        if (!same_expr(e->args[0], inner)) return nullptr;
        const std::int64_t d = e->args[1]->int_value;
        if (d == m) return make_var(e->op == Op::mod ? low : high);
        if (e->op == Op::mod && d > 0 && m % d == 0) return make_expr(Op::mod, {make_var(low), e->args[1]});
        return nullptr;
      }));
      for (const auto& [coef, name] : terms) {
        if (uses_var(*out.back(), name)) return false;
      }
    }
    for (const Condition& c : write_.conditions) {
      for (const auto& [coef, name] : terms) {
        if (uses_var(*c.cond, name)) return false;
      }
    }
    *subscripts = std::move(out);
    for (const auto& [coef, name] : terms) free_.erase(name);
    free_[high] = {constant_form(0), constant_form(n / m - 1), n / m - 1};
    free_[low] = {constant_form(0), constant_form(m - 1), m - 1};
    extents_[high] = n / m;
    extents_[low] = m;
    ranges_.push_back({high, n / m});
    ranges_.push_back({low, m});
    return true;
  }

  bool condition(const Expr& c, bool holds) {
    if (c.op == Op::logical_not) return condition(*c.args[0], !holds);
    if (c.op == (holds ? Op::logical_and : Op::logical_or)) {
      return condition(*c.args[0], holds) && condition(*c.args[1], holds);
    }
    if (!is_comparison(c.op)) return false;
    const auto a = linear_form(*name_atoms(simplify_index(c.args[0], ranges_)));
    const auto b = linear_form(*name_atoms(simplify_index(c.args[1], ranges_)));
    if (!a || !b) return false;
    LinearForm d = *b;
    if (!add_form(&d, *a, -1) || !relate(&d)) return false;   // b - a
    LinearForm n = constant_form(0);
    if (!add_form(&n, d, -1)) return false;
    Op op = c.op;
    if (!holds) {
      constexpr Op kOpposite[] = {Op::ge, Op::gt, Op::le, Op::lt, Op::ne, Op::eq};
      op = kOpposite[static_cast<int>(op) - static_cast<int>(Op::lt)];
    }
    if (op == Op::ne) return false;
    if ((op == Op::lt || op == Op::le || op == Op::eq) && !at_least(d, op == Op::lt)) return false;
    return (op != Op::gt && op != Op::ge && op != Op::eq) || at_least(n, op == Op::gt);
  }
  bool at_least(LinearForm form, bool strict) {
    if (form.constant < -kHuge) return false;   // beyond what the tests count with
    if (strict) form.constant -= 1;
    const auto lo = least(form, extents_);
    if (!lo || *lo < 0) guards_.push_back(std::move(form));
    return true;
  }

  // Free variables in no subscript: any one value that satisfies the guards will do; the ends are tried.
  bool instantiate() {
    for (auto& [name, range] : free_) {
      const auto mentions = [&n = name](const LinearForm& f) { return f.coefficient(n) != 0; };
      if (std::any_of(forms_.begin(), forms_.end(), mentions)) continue;
      const bool wants_high = std::any_of(guards_.begin(), guards_.end(), [&n = name](const LinearForm& g) { return g.coefficient(n) > 0; });
      const bool wants_low = std::any_of(guards_.begin(), guards_.end(), [&n = name](const LinearForm& g) { return g.coefficient(n) < 0; });
      const LinearForm value = wants_high && !wants_low ? range.hi : range.lo;
      for (LinearForm& g : guards_) {
        if (!substitute(&g, name, value)) return false;
      }
    }
    return true;
  }

  // Each dimension's image must be an interval, and no free variable may stand in two dimensions.
  bool boxes() {
    for (const auto& [name, range] : free_) {
      int uses = 0;
      for (const LinearForm& f : forms_) uses += f.coefficient(name) != 0 ? 1 : 0;
      if (uses > 1) return false;
    }
    for (std::size_t d = 0; d < forms_.size(); ++d) {
      LinearForm lo, hi;   // of subscript d, over shared variables
      lo.constant = hi.constant = forms_[d].constant;
      std::vector<std::pair<std::int64_t, const FreeVar*>> terms;
      for (const auto& [name, coef] : forms_[d].terms) {
        const auto it = free_.find(name);
        if (it == free_.end()) {
          if (!add_form(&lo, var_form(name), coef) || !add_form(&hi, var_form(name), coef)) return false;
          continue;
        }
        if (!add_form(&lo, coef > 0 ? it->second.lo : it->second.hi, coef)) return false;
        if (!add_form(&hi, coef > 0 ? it->second.hi : it->second.lo, coef)) return false;
        terms.emplace_back(coef < 0 ? -coef : coef, &it->second);
      }
      std::sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      std::int64_t span = 0;
      for (const auto& [coef, var] : terms) {
        if (span >= kHuge || coef > span + 1) return false;
        std::int64_t t = 0;
        if (__builtin_mul_overflow(coef, var->least_span, &t) || __builtin_add_overflow(span, t, &span)) return false;
      }
      LinearForm minus_lo = constant_form(0);
      if (!add_form(&minus_lo, lo, -1)) return false;
      region_.constraints.push_back({{{d, 1}}, std::move(minus_lo)});
      region_.constraints.push_back({{{d, -1}}, std::move(hi)});
    }
    return true;
  }

  // A guard must be a function of whole subscripts and shared variables: it then clips the box exactly.
  bool guards() {
    for (LinearForm g : guards_) {
      RegionConstraint clip;
      for (std::size_t d = 0; d < forms_.size(); ++d) {
        for (const auto& [name, coef] : forms_[d].terms) {
          if (free_.find(name) == free_.end()) continue;
          const std::int64_t in_guard = g.coefficient(name);
          if (in_guard % coef != 0) return false;
          const std::int64_t scale = in_guard / coef;
          if (scale != 0) {
            if (!add_form(&g, forms_[d], -scale)) return false;
            clip.dims.emplace_back(d, scale);
          }
          break;   // the other free variables of this dimension must have gone with it
        }
      }
      for (const auto& [name, coef] : g.terms) {
        if (free_.find(name) != free_.end()) return false;
      }
      clip.form = std::move(g);
      region_.constraints.push_back(std::move(clip));
    }
    return true;
  }

  const Access& write_;
  std::size_t shared_tests_;
  Region region_;
  std::vector<LoopRange> ranges_;
  std::map<std::string, std::int64_t> extents_;
  std::map<std::string, FreeVar> free_;
  std::vector<LinearForm> forms_;
  std::vector<LinearForm> guards_;
  std::string shifted_;
  RegionContext::Step step_ = RegionContext::Step::free;
  int digits_ = 0;
};
}  // namespace

std::optional<Region> written_region(const Access& write, const RegionContext& context) {
  return RegionBuilder(write, context).build();
}

Shared shared_loops(const Program& program, const Access& a, const Access& b) {
  Shared shared;
  const Body* body = &program.body();
  const std::size_t n = std::min(a.path.size(), b.path.size());
  for (std::size_t i = 0; i < n; ++i) {
    if (a.path[i] != b.path[i]) {
      shared.a_first = a.path[i] < b.path[i];
      return shared;
    }
    const Stmt& s = *(*body)[a.path[i]];
    if (s.is_loop()) ++shared.loops;
    if (s.is_test()) ++shared.tests;
    body = &s.body;
  }
  if (a.path.size() != b.path.size()) {   // one is the T test around the other: it is evaluated first
    shared.a_first = a.path.size() < b.path.size();
  } else {
    shared.a_first = !a.is_write && b.is_write;
  }
  return shared;
}

}  // namespace cairn
