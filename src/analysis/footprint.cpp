#include "analysis/footprint.h"

#include <algorithm>
#include <cstdlib>

#include "analysis/dependence.h"
#include "analysis/simplify_sum.h"
#include "analysis/system_state.h"

namespace cairn {

namespace {
using simplify::Simplifier;
using simplify::Sum;
using simplify::Term;

// One dimension of one access: outer part + [lo, hi]; `dense` if every value of the interval is reached.
struct Span {
  Sum outer;
  Interval inner;
  bool dense = true;
};

enum class Side { outer, inner, mixed };

class Boxer {
 public:
  Boxer(const Access& access, const std::vector<std::string>& inner) : inner_(inner), loops_(ranges(access)) {}

  std::optional<Span> span_of(const ExprPtr& subscript) const {
    const auto sum = Simplifier(loops_).normal_form(subscript);
    return sum ? split(*sum) : std::nullopt;
  }

 private:
  static std::vector<LoopRange> ranges(const Access& access) {
    std::vector<LoopRange> loops;
    for (const Stmt* loop : access.loops) loops.push_back({loop->var, loop->extent});
    return loops;
  }

  bool is_inner(const std::string& var) const { return std::find(inner_.begin(), inner_.end(), var) != inner_.end(); }

  Side side_of(const Expr& atom) const {
    bool has_inner = false;
    bool has_outer = false;
    visit_expr(atom, [&](const Expr& e) {
      if (e.op == Op::loop_var) (is_inner(e.name) ? has_inner : has_outer) = true;
      return true;
    });
    return !has_inner ? Side::outer : has_outer ? Side::mixed : Side::inner;
  }

  std::optional<Span> split(const Sum& sum) const {
    Span span;
    span.outer.constant = sum.constant;
    Sum inside;
    for (const Term& t : sum.terms) {
      switch (side_of(*t.atom)) {
        case Side::outer: span.outer.terms.push_back(t); break;
        case Side::inner: inside.terms.push_back(t); break;
        case Side::mixed: {
          const auto part = divide(t);
          if (!part) return std::nullopt;
          const auto outer = simplify::add(span.outer, part->outer, 1);
          if (!outer) return std::nullopt;
          span.outer = *outer;
          span.inner.lo += part->inner.lo;
          span.inner.hi += part->inner.hi;
          span.dense = false;
          break;
        }
      }
    }
    const auto range = Simplifier(loops_).range(inside);
    if (!range) return std::nullopt;
    span.dense = span.dense && is_dense(inside);
    span.inner.lo += range->lo;
    span.inner.hi += range->hi;
    return span;
  }

  // (O + r) // c with r in [lo, hi]: from (O + lo) // c over at most ceil((hi - lo) / c) more; x % c: all of it.
  std::optional<Span> divide(const Term& t) const {
    const Expr& e = *t.atom;
    if ((e.op != Op::floor_div && e.op != Op::mod) || e.args[1]->op != Op::int_literal) return std::nullopt;
    const std::int64_t c = e.args[1]->int_value;
    if (c <= 0 || std::llabs(t.coef) > (1 << 20) || c > (std::int64_t{1} << 40)) return std::nullopt;
    Span span;
    std::int64_t steps = c - 1;
    if (e.op == Op::floor_div) {
      const auto x = span_of(e.args[0]);
      if (!x) return std::nullopt;
      Sum origin = x->outer;
      origin.constant += x->inner.lo;
      const ExprPtr first = make_expr(Op::floor_div, {simplify::build(origin), e.args[1]});
      const auto form = Simplifier(loops_).normal_form(first);
      const auto scaled = form ? simplify::add({}, *form, t.coef) : std::nullopt;
      if (!scaled) return std::nullopt;
      span.outer = *scaled;
      steps = solver::ceil_div(x->inner.hi - x->inner.lo, c);
    }
    span.inner = t.coef > 0 ? Interval{0, steps * t.coef} : Interval{steps * t.coef, 0};
    return span;
  }

  // Plain variables whose coefficients, ascending, leave no holes.
  bool is_dense(const Sum& inside) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;   // |coef|, extent
    for (const Term& t : inside.terms) {
      if (t.atom->op != Op::loop_var) return false;
      for (const LoopRange& loop : loops_) {
        if (loop.var == t.atom->name && loop.extent > 1) steps.emplace_back(std::llabs(t.coef), loop.extent);
      }
    }
    std::sort(steps.begin(), steps.end());
    std::int64_t reach = 0;
    for (const auto& [coef, extent] : steps) {
      if (coef > reach + 1) return false;
      reach += coef * (extent - 1);
    }
    return true;
  }

  const std::vector<std::string>& inner_;
  std::vector<LoopRange> loops_;
};

// No inner variable in two dimensions: then the box is the product of its sides.
bool independent_dims(const Access& access, const std::vector<std::string>& inner) {
  for (const std::string& var : inner) {
    std::size_t uses = 0;
    for (const ExprPtr& s : access.subscripts) uses += uses_var(*s, var) ? 1 : 0;
    if (uses > 1) return false;
  }
  return true;
}

}  // namespace

bool touches_apart(const Access& access, const std::vector<std::string>& inner) {
  std::vector<PairRelation> relations;
  std::vector<const Stmt*> running;
  for (const Stmt* loop : access.loops) {
    if (std::find(inner.begin(), inner.end(), loop->var) == inner.end()) {
      relations.push_back({loop->var, loop->var, Order::equal});
    } else {
      running.push_back(loop);
    }
  }
  for (const Stmt* loop : running) {
    relations.push_back({loop->var, loop->var, Order::less});
    if (may_touch(access, access, relations) != Answer::no) return false;
    relations.back().order = Order::equal;
  }
  return true;
}

std::optional<Footprint> footprint_of(const Program&, const std::vector<const Access*>& accesses,
                                      const std::vector<std::string>& inner) {
  if (accesses.empty()) return std::nullopt;
  const std::size_t rank = accesses[0]->subscripts.size();
  std::vector<std::vector<Span>> spans;
  Footprint out;
  for (const Access* access : accesses) {
    if (access->tensor != accesses[0]->tensor || access->subscripts.size() != rank) return std::nullopt;
    const Boxer boxer(*access, inner);
    std::vector<Span> dims;
    for (const ExprPtr& s : access->subscripts) {
      auto span = boxer.span_of(s);
      if (!span) return std::nullopt;
      dims.push_back(std::move(*span));
    }
    spans.push_back(std::move(dims));
  }
  std::vector<Interval> box;   // relative to the first access's outer part
  std::vector<std::vector<Interval>> own(accesses.size());
  for (std::size_t d = 0; d < rank; ++d) {
    for (std::size_t a = 0; a < accesses.size(); ++a) {
      const auto offset = simplify::add(spans[a][d].outer, spans[0][d].outer, -1);
      if (!offset || !offset->is_constant()) return std::nullopt;
      const Interval side{spans[a][d].inner.lo + offset->constant, spans[a][d].inner.hi + offset->constant};
      own[a].push_back(side);
      if (a == 0) box.push_back(side);
      box[d] = {std::min(box[d].lo, side.lo), std::max(box[d].hi, side.hi)};
    }
    Sum origin = spans[0][d].outer;
    origin.constant += box[d].lo;
    out.dims.push_back({simplify::build(origin), box[d].hi - box[d].lo + 1});
  }
  for (std::size_t a = 0; a < accesses.size() && !out.exact; ++a) {
    const bool dense = std::all_of(spans[a].begin(), spans[a].end(), [](const Span& s) { return s.dense; });
    out.exact = dense && own[a] == box && accesses[a]->conditions.empty() && independent_dims(*accesses[a], inner);
  }
  return out;
}

}  // namespace cairn
