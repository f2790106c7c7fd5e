#include "analysis/algebra/match.h"

#include <algorithm>
#include <type_traits>

#include "ir/typing.h"

namespace cairn::algebra {
namespace {

// A chain with more leaves is not cut into subsets, and a search of more steps is given up: bounds, far above what
// programs hold.
constexpr std::size_t kMaxSubsetLeaves = 10;
constexpr std::size_t kMaxSteps = 50'000;

// What to do after a partial match; returns true to stop the search. Non-owning.
class Next {
 public:
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, Next>>>
  Next(F&& f)  // NOLINT(google-explicit-constructor)
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* object) { return (*static_cast<std::remove_reference_t<F>*>(object))(); }) {}
  bool operator()() const { return call_(object_); }

 private:
  void* object_;
  bool (*call_)(void*);
};

bool is_literal(const Expr& e) { return e.op == Op::int_literal || e.op == Op::float_literal; }
double literal_value(const Expr& e) { return e.op == Op::int_literal ? static_cast<double>(e.int_value) : e.float_value; }
bool is_variable(const Expr& e) { return e.op == Op::loop_var; }

// The leaves of a pattern's chain: neutral literals left out, variables last.
std::vector<Leaf> pattern_leaves(const ExprPtr& pattern, ChainKind kind) {
  std::vector<Leaf> leaves = operands_of(pattern, kind);
  std::erase_if(leaves, [kind](const Leaf& leaf) { return is_neutral(kind, *leaf.expr); });
  std::stable_sort(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) { return !is_variable(*a.expr) && is_variable(*b.expr); });
  return leaves;
}

class Matcher {
 public:
  Matcher(const Rule& rule, const ExprPtr& root, const MatchOptions& options) : rule_(rule), root_(root), options_(options) {
    kind_ = chain_kind(*rule.from());
  }

  std::vector<Match> run() {
    ExprPath path;
    visit(root_, ChainKind::none, &path);
    return std::move(out_);
  }

 private:
  bool full() const { return out_.size() >= options_.limit || steps_ > kMaxSteps; }

  void visit(const ExprPtr& e, ChainKind parent, ExprPath* path) {
    if (full()) return;
    const ChainKind own = chain_kind(*e);
    if (kind_ == ChainKind::none) {
      if (!is_variable(*rule_.from()) || can_hold_value(*e)) {
        match(rule_.from(), e, [&] { return record(*path, {}, false); });
      }
    } else if (own == kind_ && parent != kind_) {
      match_top(e, *path);
    }
    if (e->op == Op::read) return;
    for (std::uint32_t k = 0; k < e->args.size(); ++k) {
      path->push_back(k);
      visit(e->args[k], own, path);
      path->pop_back();
    }
  }

  // A node that a bare variable may stand for: a real value that is no literal.
  bool can_hold_value(const Expr& e) const {
    switch (e.op) {
      case Op::int_literal: case Op::float_literal: case Op::loop_var: case Op::logical_and: case Op::logical_or: case Op::logical_not:
      case Op::isnan: case Op::select: return false;
      case Op::read: {
        const Tensor* tensor = options_.program ? options_.program->find(e.name) : nullptr;
        return !tensor || is_float(tensor->dtype);
      }
      default: return !is_comparison(e.op);
    }
  }

  bool match(const ExprPtr& pattern, const ExprPtr& subject, Next next) {
    if (++steps_ > kMaxSteps) return true;
    const Expr& p = *pattern;
    if (is_variable(p)) return bind(p.name, subject, next);
    if (is_literal(p)) return is_literal(*subject) && literal_value(p) == literal_value(*subject) ? next() : false;
    const ChainKind kind = chain_kind(p);
    if (kind != ChainKind::none) {
      if (chain_kind(*subject) != kind) return false;
      const std::vector<Leaf> ps = pattern_leaves(pattern, kind);
      const std::vector<Leaf> ss = operands_of(subject, kind);
      std::vector<bool> used(ss.size(), false);
      // The 1 of 1/x is no factor of its own where the pattern only divides.
      const bool divides = std::all_of(ps.begin(), ps.end(), [](const Leaf& leaf) { return leaf.inverse; });
      for (std::size_t k = 0; divides && k < ss.size(); ++k) used[k] = is_neutral(kind, *ss[k].expr);
      return match_full(kind, ps, 0, ss, &used, next);
    }
    if (p.op != subject->op || p.args.size() != subject->args.size()) return false;
    return match_args(p, *subject, 0, next);
  }

  bool match_args(const Expr& p, const Expr& s, std::size_t k, Next next) {
    if (k == p.args.size()) return next();
    return match(p.args[k], s.args[k], [&] { return match_args(p, s, k + 1, next); });
  }

  bool bind(const std::string& name, const ExprPtr& value, Next next) {
    if (const ExprPtr* bound = find_binding(bindings_, name)) return same_value(*bound, value) ? next() : false;
    if (is_literal_variable(name) && !is_literal(*value)) return false;
    bindings_.emplace_back(name, value);
    const bool stop = next();
    bindings_.pop_back();
    return stop;
  }

  // The leaves of `value` (of polarity `inverse`) among the unused ones; false if they are not all there.
  static bool take_leaves(ChainKind kind, const ExprPtr& value, bool inverse, const std::vector<Leaf>& leaves, std::vector<bool>* used,
                          std::vector<std::size_t>* taken) {
    for (const Leaf& part : operands_of(value, kind)) {
      bool found = false;
      for (std::size_t k = 0; k < leaves.size() && !found; ++k) {
        if ((*used)[k] || leaves[k].inverse != (part.inverse != inverse) || !same_value(leaves[k].expr, part.expr)) continue;
        (*used)[k] = found = true;
        taken->push_back(k);
      }
      if (!found) return false;
    }
    return true;
  }

  // All leaves of the subject are used up; a variable takes one or more.
  bool match_full(ChainKind kind, const std::vector<Leaf>& ps, std::size_t at, const std::vector<Leaf>& ss, std::vector<bool>* used, Next next) {
    if (++steps_ > kMaxSteps) return true;
    const auto left = static_cast<std::size_t>(std::count(used->begin(), used->end(), false));
    if (at == ps.size()) return left == 0 ? next() : false;
    if (left < ps.size() - at) return false;
    const Leaf& p = ps[at];
    if (!is_variable(*p.expr)) {
      for (std::size_t k = 0; k < ss.size(); ++k) {
        if ((*used)[k] || ss[k].inverse != p.inverse) continue;
        (*used)[k] = true;
        const bool stop = match(p.expr, ss[k].expr, [&] { return match_full(kind, ps, at + 1, ss, used, next); });
        (*used)[k] = false;
        if (stop) return true;
      }
      return false;
    }
    if (const ExprPtr* bound = find_binding(bindings_, p.expr->name)) {
      std::vector<bool> saved = *used;
      std::vector<std::size_t> taken;
      const bool stop = take_leaves(kind, *bound, p.inverse, ss, used, &taken) && match_full(kind, ps, at + 1, ss, used, next);
      *used = std::move(saved);
      return stop;
    }
    return match_subsets(kind, ps, at, ss, used, next);
  }

  // An unbound variable of a full match takes a subset. A subtracted or dividing one takes only such leaves, a factor
  // only factors; a term may take subtracted ones.
  bool match_subsets(ChainKind kind, const std::vector<Leaf>& ps, std::size_t at, const std::vector<Leaf>& ss, std::vector<bool>* used, Next next) {
    const Leaf& p = ps[at];
    std::vector<std::size_t> open;
    for (std::size_t k = 0; k < ss.size(); ++k) {
      const bool fits = ss[k].inverse == p.inverse || (kind == ChainKind::sum && !p.inverse);
      if (!(*used)[k] && fits) open.push_back(k);
    }
    if (open.empty()) return false;
    const std::size_t all = (std::size_t{1} << std::min(open.size(), kMaxSubsetLeaves)) - 1;
    const bool last = at + 1 == ps.size() || open.size() > kMaxSubsetLeaves;
    for (std::size_t mask = last ? all : 1; mask <= all; ++mask) {
      std::vector<Leaf> group;
      for (std::size_t b = 0; b < open.size(); ++b) {
        if (!last && ((mask >> b) & 1) == 0) continue;
        (*used)[open[b]] = true;
        group.push_back({ss[open[b]].expr, ss[open[b]].inverse != p.inverse, {}});
      }
      const bool stop = bind(p.expr->name, build_chain(kind, group), [&] { return match_full(kind, ps, at + 1, ss, used, next); });
      for (const std::size_t k : open) (*used)[k] = false;
      if (stop) return true;
    }
    return false;
  }

  void match_top(const ExprPtr& chain, const ExprPath& path) {
    if (top_.empty()) {
      top_ = pattern_leaves(rule_.from(), kind_);
      flips_ = std::none_of(top_.begin(), top_.end(), [](const Leaf& leaf) { return leaf.inverse; });
    }
    chain_ = leaves_of(chain, kind_);
    if (chain_.size() < top_.size()) return;   // a leaf each, at least
    for (int flip = 0; flip < (flips_ ? 2 : 1); ++flip) {
      std::vector<bool> used(chain_.size(), false);
      std::vector<std::vector<std::size_t>> taken;
      match_rest(path, 0, flip == 1, &used, &taken);
    }
  }

  // Some leaves of the chain may be left over; a variable takes one leaf, or all that are left of its polarity.
  bool match_rest(const ExprPath& path, std::size_t at, bool flip, std::vector<bool>* used, std::vector<std::vector<std::size_t>>* taken) {
    if (++steps_ > kMaxSteps) return true;
    if (at == top_.size()) return record(path, *taken, flip);
    const Leaf& p = top_[at];
    const bool inverse = p.inverse != flip;
    const auto with = [&](std::vector<std::size_t> leaves, const auto& match_it) {
      for (const std::size_t k : leaves) (*used)[k] = true;
      taken->push_back(leaves);
      const bool stop = match_it();
      taken->pop_back();
      for (const std::size_t k : leaves) (*used)[k] = false;
      return stop;
    };
    const auto go_on = [&] { return match_rest(path, at + 1, flip, used, taken); };
    const ExprPtr* bound = is_variable(*p.expr) ? find_binding(bindings_, p.expr->name) : nullptr;
    std::vector<std::size_t> open;
    for (std::size_t k = 0; k < chain_.size(); ++k) {
      if (!(*used)[k] && chain_[k].inverse == inverse) open.push_back(k);
    }
    for (const std::size_t k : open) {
      if (with({k}, [&] { return match(p.expr, chain_[k].expr, go_on); })) return true;
    }
    if (bound && chain_kind(**bound) == kind_) {
      std::vector<bool> saved = *used;
      std::vector<std::size_t> parts;
      const bool there = take_leaves(kind_, *bound, inverse, chain_, used, &parts);
      *used = std::move(saved);
      return there && with(parts, go_on);
    }
    if (is_variable(*p.expr) && !bound && open.size() > 1) {
      std::vector<Leaf> group;
      for (const std::size_t k : open) group.push_back({chain_[k].expr, false, {}});
      return with(open, [&] { return bind(p.expr->name, build_chain(kind_, group), go_on); });
    }
    return false;
  }

  bool record(const ExprPath& path, const std::vector<std::vector<std::size_t>>& taken, bool flip) {
    Match match;
    match.position = path;
    match.bindings = bindings_;
    for (const auto& entry : options_.invented) match.bindings.push_back(entry);
    bool found_anchor = false;
    for (std::size_t k = 0; k < taken.size(); ++k) {
      for (const std::size_t leaf : taken[k]) match.consumed.push_back(chain_[leaf].path);
    }
    std::sort(match.consumed.begin(), match.consumed.end());
    // The result stands where the first leaf of its own polarity stood.
    for (std::size_t k = 0; k < match.consumed.size() && !found_anchor; ++k) {
      const auto leaf = std::find_if(chain_.begin(), chain_.end(), [&](const Leaf& l) { return l.path == match.consumed[k]; });
      if (leaf->inverse != flip) continue;
      match.anchor = k;
      found_anchor = true;
    }
    match.inverted = !match.consumed.empty() && !found_anchor;
    const auto is_bound_to_literal = [](const auto& b) { return is_literal(*b.second); };
    const bool constant = !match.bindings.empty() && std::all_of(match.bindings.begin(), match.bindings.end(), is_bound_to_literal);
    if (constant) return full();
    if (options_.program) {
      const ExprPtr& node = node_at(root_, path);
      match.integral = is_integer_expr(*options_.program, *node);
      if (match.integral && !rule_.identity->integral) return full();
    }
    if (!match.consumed.empty()) {
      const ExprPath extent = extent_of(match);
      std::size_t inside = 0;
      for (const Leaf& leaf : chain_) {
        ExprPath place = path;
        place.insert(place.end(), leaf.path.begin(), leaf.path.end());
        inside += place.size() >= extent.size() && std::equal(extent.begin(), extent.end(), place.begin()) ? 1 : 0;
      }
      match.whole = inside == match.consumed.size();
    }
    const Digest result = commuted_hash(*rewrite_at(rule_, root_, match));
    if (results_.empty()) results_.push_back(commuted_hash(*root_));
    if (std::find(results_.begin(), results_.end(), result) != results_.end()) return full();
    results_.push_back(result);
    out_.push_back(std::move(match));
    return full();
  }

  const Rule& rule_;
  const ExprPtr& root_;
  const MatchOptions& options_;
  ChainKind kind_ = ChainKind::none;
  std::vector<Leaf> top_;      // the pattern's leaves if it is a chain
  bool flips_ = false;         // the chain may be met with the opposite polarity
  std::vector<Leaf> chain_;    // the subject's leaves
  Bindings bindings_;
  std::vector<Match> out_;
  std::vector<Digest> results_;   // of the expression itself and of the matches
  std::size_t steps_ = 0;
};

}  // namespace

const ExprPtr* find_binding(const Bindings& bindings, std::string_view name) {
  for (const auto& entry : bindings) {
    if (entry.first == name) return &entry.second;
  }
  return nullptr;
}

std::vector<Match> find_matches(const Rule& rule, const ExprPtr& root, const MatchOptions& options) { return Matcher(rule, root, options).run(); }

}  // namespace cairn::algebra
