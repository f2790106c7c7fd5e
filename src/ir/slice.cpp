#include "ir/slice.h"

#include <algorithm>
#include <optional>

#include "ir/walk.h"

namespace cairn {

namespace {
constexpr std::size_t kMaxIntervals = 16;
using Shapes = std::map<std::string, Shape, std::less<>>;

bool add_term(LinearSubscript* out, const Expr& atom, std::int64_t coefficient) {
  for (LinearSubscript::Term& t : out->terms) {
    if (same_expr(*t.atom, atom)) return !__builtin_add_overflow(t.coefficient, coefficient, &t.coefficient);
  }
  out->terms.push_back({&atom, coefficient});
  return true;
}

bool linear(const Expr& e, std::int64_t scale, LinearSubscript* out) {
  std::int64_t product = 0;
  switch (e.op) {
    case Op::int_literal:
      return !__builtin_mul_overflow(e.int_value, scale, &product) &&
             !__builtin_add_overflow(out->constant, product, &out->constant);
    case Op::add: return linear(*e.args[0], scale, out) && linear(*e.args[1], scale, out);
    case Op::sub: return scale != INT64_MIN && linear(*e.args[0], scale, out) && linear(*e.args[1], -scale, out);
    case Op::neg: return scale != INT64_MIN && linear(*e.args[0], -scale, out);
    case Op::mul:
      for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
        if (e.args[i]->op != Op::int_literal) continue;
        return !__builtin_mul_overflow(e.args[i]->int_value, scale, &product) && linear(*e.args[1 - i], product, out);
      }
      return add_term(out, e, scale);
    default: return add_term(out, e, scale);
  }
}

// The constant c with a = b + c, if the two differ by one.
std::optional<std::int64_t> difference(const LinearSubscript& a, const LinearSubscript& b) {
  if (!a.ok || !b.ok) return std::nullopt;
  LinearSubscript d = a;
  for (const LinearSubscript::Term& t : b.terms) {
    if (t.coefficient == INT64_MIN || !add_term(&d, *t.atom, -t.coefficient)) return std::nullopt;
  }
  for (const LinearSubscript::Term& t : d.terms) {
    if (t.coefficient != 0) return std::nullopt;
  }
  std::int64_t c = 0;
  if (__builtin_sub_overflow(a.constant, b.constant, &c)) return std::nullopt;
  return c;
}

class Slicer {
 public:
  Slicer(const Shapes& shapes, Slice* slice) : shapes_(shapes), slice_(slice) {}

  // One pass over all equations; true if something was added.
  bool pass(const Body& body) {
    changed_ = false;
    walk(body);
    return changed_;
  }

 private:
  void walk(const Body& body) {
    for (const StmtPtr& s : body) {
      switch (s->type) {
        case Stmt::Type::loop:
          ranges_[s->var] = Interval{0, std::max<std::int64_t>(0, s->extent - 1)};
          walk(s->body);
          ranges_.erase(s->var);
          break;
        case Stmt::Type::test:
          tests_.push_back(s->cond.get());
          walk(s->body);
          tests_.pop_back();
          break;
        case Stmt::Type::equation: equation(*s); break;
      }
    }
  }

  void equation(const Stmt& s) {
    const auto target = slice_->wanted.find(s.tensor);
    if (target == slice_->wanted.end()) return;
    const Box box = target->second;
    // What the written subscripts say of loop variables: v + c in a set.
    VarRanges narrowed = ranges_;
    std::vector<LinearSubscript> written;
    for (std::size_t d = 0; d < s.subscripts.size(); ++d) {
      written.push_back(linear_subscript(*s.subscripts[d]));
      const LinearSubscript& w = written.back();
      if (!w.ok || w.terms.size() != 1 || w.terms[0].coefficient != 1 || w.terms[0].atom->op != Op::loop_var) continue;
      const auto it = narrowed.find(w.terms[0].atom->name);
      if (it == narrowed.end() || box[d].empty()) continue;
      it->second.lo = std::max(it->second.lo, box[d].front().lo - w.constant);
      it->second.hi = std::min(it->second.hi, box[d].back().hi - w.constant);
      if (it->second.lo > it->second.hi) return;  // no instance writes a wanted element
    }
    const auto want = [&](const Expr& e) {
      if (e.op == Op::read) read(e, box, written, narrowed);
      return true;
    };
    visit_expr(*s.rhs, want);
    for (const ExprPtr& subscript : s.subscripts) visit_expr(*subscript, want);
    // A test is met by every iteration that is not pruned: it may read any element.
    for (const Expr* cond : tests_) {
      visit_expr(*cond, [this](const Expr& e) {
        if (e.op == Op::read) add_all(e.name);
        return true;
      });
    }
  }

  void read(const Expr& e, const Box& box, const std::vector<LinearSubscript>& written, const VarRanges& ranges) {
    const auto shape = shapes_.find(e.name);
    if (shape == shapes_.end() || shape->second.size() != e.args.size()) return;
    Box need(e.args.size());
    for (std::size_t k = 0; k < e.args.size(); ++k) {
      const std::int64_t extent = shape->second[k];
      const LinearSubscript r = linear_subscript(*e.args[k]);
      std::optional<IndexSet> set;
      for (std::size_t d = 0; d < written.size() && !set; ++d) {
        if (const std::optional<std::int64_t> c = difference(r, written[d])) set = shift_and_clip(box[d], *c, extent);
      }
      if (!set) {
        const std::optional<Interval> range = interval_of(*e.args[k], ranges);
        set = range ? shift_and_clip({*range}, 0, extent) : IndexSet{{0, extent - 1}};
      }
      need[k] = std::move(*set);
    }
    add(e.name, need);
  }

  void add_all(const std::string& name) {
    const auto shape = shapes_.find(name);
    if (shape == shapes_.end()) return;
    Box all;
    for (const std::int64_t extent : shape->second) all.push_back({Interval{0, extent - 1}});
    add(name, all);
  }

  void add(const std::string& name, const Box& need) {
    const auto [it, fresh] = slice_->wanted.emplace(name, need);
    if (fresh) {
      changed_ = true;
      return;
    }
    for (std::size_t k = 0; k < need.size(); ++k) {
      IndexSet both = unite(it->second[k], need[k]);
      if (both == it->second[k]) continue;
      it->second[k] = std::move(both);
      changed_ = true;
    }
  }

  const Shapes& shapes_;
  Slice* slice_;
  VarRanges ranges_;
  std::vector<const Expr*> tests_;
  bool changed_ = false;
};
}  // namespace

IndexSet unite(const IndexSet& a, const IndexSet& b) {
  IndexSet all = a;
  all.insert(all.end(), b.begin(), b.end());
  std::sort(all.begin(), all.end(), [](const Interval& x, const Interval& y) { return x.lo < y.lo; });
  IndexSet out;
  for (const Interval& i : all) {
    if (i.lo > i.hi) continue;
    if (!out.empty() && i.lo <= out.back().hi + 1) out.back().hi = std::max(out.back().hi, i.hi);
    else out.push_back(i);
  }
  if (out.size() > kMaxIntervals) out = {Interval{out.front().lo, out.back().hi}};
  return out;
}

IndexSet shift_and_clip(const IndexSet& a, std::int64_t by, std::int64_t extent) {
  IndexSet out;
  for (const Interval& i : a) {
    const std::int64_t lo = std::max<std::int64_t>(0, i.lo + by);
    const std::int64_t hi = std::min(extent - 1, i.hi + by);
    if (lo <= hi) out.push_back({lo, hi});
  }
  return out;
}

bool contains(const IndexSet& a, std::int64_t index) { return meets(a, index, index); }

bool meets(const IndexSet& a, std::int64_t lo, std::int64_t hi) {
  for (const Interval& i : a) {
    if (i.lo <= hi && lo <= i.hi) return true;
  }
  return false;
}

std::int64_t count_of(const IndexSet& a) {
  std::int64_t n = 0;
  for (const Interval& i : a) n += i.hi - i.lo + 1;
  return n;
}

LinearSubscript linear_subscript(const Expr& e) {
  LinearSubscript out;
  out.ok = linear(e, 1, &out);
  return out;
}

Result<Slice> backward_slice(const Program& program, const std::map<std::string, Box, std::less<>>& outputs) {
  CAIRN_TRY(const Shapes shapes, infer_shapes(program));
  Slice slice;
  slice.wanted = outputs;
  Slicer slicer(shapes, &slice);
  // Sets only grow and are bounded, but by single elements this could take long: a recurrence widens to all.
  for (int i = 0; slicer.pass(program.body()); ++i) {
    if (i < 32) continue;
    for (auto& [name, box] : slice.wanted) {
      const Shape& shape = shapes.find(name)->second;
      for (std::size_t d = 0; d < box.size(); ++d) box[d] = {Interval{0, shape[d] - 1}};
    }
  }
  return slice;
}

}  // namespace cairn
