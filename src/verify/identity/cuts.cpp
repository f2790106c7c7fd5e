// Pieces of a compared tensor: along each dimension, where some guard, condition or quotient of the slice changes.
// Dimensions are followed backwards through reads whose subscript is a written subscript plus a constant.
#include <algorithm>
#include <map>
#include <optional>

#include "ir/numbers.h"
#include "verify/identity/targets.h"

namespace cairn::identity {

namespace {
constexpr std::size_t kMaxCuts = 1024;
constexpr std::int64_t kMaxValues = 64;     // of what loops outside the dimension add to a condition
constexpr std::int64_t kMaxExtent = 4096;   // of a dimension that is tried index by index
constexpr std::size_t kMaxOffsets = 4;

struct Form {
  std::int64_t constant = 0;
  std::map<std::uint32_t, std::int64_t> terms;   // loop depth, coefficient
};

class CutFinder {
 public:
  CutFinder(const Prepared& code, std::vector<std::vector<std::int64_t>>* cuts) : code_(code), cuts_(*cuts) {}

  bool run(std::int32_t tensor, std::uint32_t nest) {
    mapped_.resize(code_.tensors.size());
    mapped_[static_cast<std::size_t>(tensor)].resize(cuts_.size());
    for (std::size_t d = 0; d < cuts_.size(); ++d) mapped_[static_cast<std::size_t>(tensor)][d].push_back({d, 0});
    shape_ = &code_.tensors[static_cast<std::size_t>(tensor)].shape;
    for (int pass = 0; pass < 32; ++pass) {
      changed_ = false;
      for (const Equation& e : code_.equations) {
        if (e.site.nest() < nest && !mapped_[static_cast<std::size_t>(e.tensor)].empty()) follow(e);
      }
      if (!changed_) break;
    }
    for (const Equation& e : code_.equations) {
      if (e.site.nest() < nest && !mapped_[static_cast<std::size_t>(e.tensor)].empty()) conditions(e);
    }
    for (const auto& c : cuts_) counted_ = counted_ && c.size() <= kMaxCuts;
    return counted_;
  }

 private:
  struct Origin {
    std::size_t dimension;   // of the compared tensor
    std::int64_t offset;     // index of this tensor's dimension - index of that
  };

  std::optional<Form> form_of(std::uint32_t node) const {
    const Node& n = code_.nodes[node];
    if (n.form != TypedExpr::Form::node) return std::nullopt;
    Form f;
    const auto arg = [&](std::uint32_t i) { return form_of(code_.operands[n.first + i]); };
    const auto add = [](Form* into, const Form& other, std::int64_t scale) {
      into->constant += scale * other.constant;
      for (const auto& [loop, c] : other.terms) into->terms[loop] += scale * c;
    };
    switch (n.op) {
      case Op::int_literal: f.constant = n.integer; return f;
      case Op::loop_var: f.terms[static_cast<std::uint32_t>(n.var)] = 1; return f;
      case Op::neg: case Op::add: case Op::sub: {
        const std::optional<Form> a = arg(0);
        const std::optional<Form> b = n.count > 1 ? arg(1) : std::optional<Form>(Form());
        if (!a || !b) return std::nullopt;
        add(&f, *a, n.op == Op::neg ? -1 : 1);
        add(&f, *b, n.op == Op::sub ? -1 : 1);
        return f;
      }
      case Op::mul: {
        const std::optional<Form> a = arg(0), b = arg(1);
        if (!a || !b || (!a->terms.empty() && !b->terms.empty())) return std::nullopt;
        const bool first = a->terms.empty();
        const std::int64_t scale = first ? a->constant : b->constant;
        if (scale > (1 << 30) || scale < -(1 << 30)) return std::nullopt;
        add(&f, first ? *b : *a, scale);
        return f;
      }
      default: return std::nullopt;
    }
  }
  static Form form_of(const Linear& l) {
    Form f;
    f.constant = l.constant;
    for (const auto& [loop, c] : l.terms) f.terms[loop] += c;
    return f;
  }

  template <class Fn>
  void visit(std::uint32_t node, const Fn& fn) {
    const Node& n = code_.nodes[node];
    fn(n);
    for (std::uint32_t i = 0; i < n.count; ++i) visit(n.tensor >= 0 ? code_.linear[n.linear + i].node : code_.operands[n.first + i], fn);
  }
  template <class Fn>
  void visit_equation(const Equation& e, const Fn& fn) {
    visit(e.rhs, fn);
    for (std::size_t d = 0; d < e.stmt->subscripts.size(); ++d) visit(code_.linear[e.linear + d].node, fn);
    for (const Guard& g : e.site.guards) visit(g.node, fn);
  }

  // Dimensions of what the equation reads that are mapped ones plus a constant.
  void follow(const Equation& e) {
    const auto mine = mapped_[static_cast<std::size_t>(e.tensor)];
    visit_equation(e, [&](const Node& n) {
      if (n.tensor < 0 || n.tensor == e.tensor) return;
      auto& other = mapped_[static_cast<std::size_t>(n.tensor)];
      for (std::size_t j = 0; j < n.count; ++j) {
        if (!code_.linear[n.linear + j].affine) continue;
        const Form r = form_of(code_.linear[n.linear + j]);
        for (std::size_t k = 0; k < mine.size(); ++k) {
          if (mine[k].empty() || !code_.linear[e.linear + k].affine) continue;
          const Form w = form_of(code_.linear[e.linear + k]);
          if (r.terms != w.terms || w.terms.empty()) continue;
          for (const Origin& o : mine[k]) {
            if (other.empty()) other.resize(n.count);
            add_origin(&other[j], {o.dimension, o.offset + r.constant - w.constant});
          }
        }
      }
    });
  }
  void add_origin(std::vector<Origin>* list, Origin o) {
    for (const Origin& x : *list) {
      if (x.dimension == o.dimension && x.offset == o.offset) return;
    }
    if (list->size() >= kMaxOffsets) return void(counted_ = false);
    list->push_back(o);
    changed_ = true;
  }

  void conditions(const Equation& e) {
    visit_equation(e, [&](const Node& n) {
      if (n.form != TypedExpr::Form::node || n.count != 2 || n.tensor >= 0) return;   // a read has subscripts, no operands
      const std::uint32_t a = code_.operands[n.first], b = code_.operands[n.first + 1];
      switch (n.op) {
        case Op::lt: case Op::le: case Op::gt: case Op::ge: case Op::eq: case Op::ne: case Op::max: case Op::min: {
          if (code_.nodes[a].type != ComputeType::i64) return;   // floats are compared by value, both ways recorded
          std::optional<Form> x = form_of(a), y = form_of(b);
          if (!x || !y) return unknown(n);
          for (const auto& [loop, c] : y->terms) x->terms[loop] -= c;
          x->constant -= y->constant;
          condition(e, *x, 0);
          return;
        }
        case Op::floor_div: case Op::mod: {
          if (n.type != ComputeType::i64) return;
          const std::optional<Form> x = form_of(a);
          const Node& divisor = code_.nodes[b];
          if (!x || divisor.op != Op::int_literal || divisor.integer <= 0) return unknown(n);
          condition(e, *x, divisor.integer);
          return;
        }
        case Op::bit_xor: case Op::pow:
          if (n.type == ComputeType::i64) unknown(n);
          return;
        default: return;
      }
    });
  }
  // What no linear form says: only harmless without loop variables.
  void unknown(const Node& n) {
    bool loops = false;
    for (std::uint32_t i = 0; i < n.count; ++i) {
      visit(code_.operands[n.first + i], [&](const Node& x) { loops = loops || x.var >= 0 || x.tensor >= 0; });
    }
    if (loops) counted_ = false;
  }

  // The sign of a form (divisor 0), or its quotient, over the dimension that its loops index.
  void condition(const Equation& e, Form l, std::int64_t divisor) {
    std::erase_if(l.terms, [](const auto& t) { return t.second == 0; });
    if (l.terms.empty()) return;
    const auto& mine = mapped_[static_cast<std::size_t>(e.tensor)];
    std::size_t found = mine.size();
    std::uint32_t indexing = 0;   // loops of all mapped dimensions
    for (std::size_t k = 0; k < mine.size(); ++k) {
      if (mine[k].empty()) continue;
      const Linear& w = code_.linear[e.linear + k];
      if (!w.affine) return void(counted_ = false);
      bool meets = false;
      for (const auto& [loop, c] : w.terms) {
        indexing |= 1u << loop;
        meets = meets || l.terms.contains(loop);
      }
      if (!meets) continue;
      if (found != mine.size()) return void(counted_ = false);
      found = k;
    }
    if (found == mine.size()) return;
    const Form w = form_of(code_.linear[e.linear + found]);
    std::int64_t values = 1, scale = 0;
    bool multiple = true;
    for (const auto& [loop, c] : w.terms) {
      const auto it = l.terms.find(loop);
      const std::int64_t mine_c = it == l.terms.end() ? 0 : it->second;
      if (scale == 0) scale = mine_c / c;
      multiple = multiple && scale != 0 && mine_c == scale * c;
    }
    Form rest;
    for (const auto& [loop, c] : l.terms) {
      if (w.terms.contains(loop)) continue;
      if (indexing >> loop & 1) return void(counted_ = false);
      rest.terms.emplace(loop, c);
      values *= std::max<std::int64_t>(1, e.site.extents[loop]);
      if (values > kMaxValues) return void(counted_ = false);
    }
    for (const Origin& o : mine[found]) {
      for (std::int64_t v = 0; v < values; ++v) {
        std::int64_t constant = 0, place = v;
        for (const auto& [loop, c] : rest.terms) {
          constant += c * (place % e.site.extents[loop]);
          place /= e.site.extents[loop];
        }
        if (multiple && divisor == 0) {
          // scale * (index + offset - w.constant) + l.constant + constant changes sign there.
          const std::int64_t at = floor_div_int(-(l.constant + constant - scale * w.constant), scale) - o.offset;
          cut(o.dimension, at);
          cut(o.dimension, at + 1);
        } else {
          try_each(e, found, o, l, constant, divisor);
        }
      }
    }
  }

  void try_each(const Equation& e, std::size_t k, const Origin& o, const Form& l, std::int64_t constant, std::int64_t divisor) {
    const std::int64_t extent = (*shape_)[o.dimension];
    if (extent > kMaxExtent || !e.by_digits) return void(counted_ = false);
    std::optional<std::int64_t> last;
    for (std::int64_t i = 0; i < extent; ++i) {
      std::int64_t rest = i + o.offset - code_.linear[e.linear + k].constant, value = l.constant + constant;
      for (const Digit& d : e.digits) {
        if (d.dimension == k && d.reversed) rest += d.divisor * (e.site.extents[d.loop] - 1);
      }
      bool inside = rest >= 0;
      for (const Digit& d : e.digits) {
        if (d.dimension != k || !inside) continue;
        const std::int64_t at = rest / d.divisor;
        rest -= at * d.divisor;
        inside = at < e.site.extents[d.loop];
        if (const auto it = l.terms.find(d.loop); it != l.terms.end()) value += it->second * (d.reversed ? e.site.extents[d.loop] - 1 - at : at);
      }
      if (!inside || rest != 0) continue;
      const std::int64_t now = divisor != 0 ? floor_div_int(value, divisor) : (value > 0) - (value < 0);
      if (last && *last != now) cut(o.dimension, i);
      last = now;
      if (cuts_[o.dimension].size() > kMaxCuts) return void(counted_ = false);
    }
  }

  void cut(std::size_t dimension, std::int64_t at) {
    auto& list = cuts_[dimension];
    if (at <= 0 || at >= (*shape_)[dimension] || std::find(list.begin(), list.end(), at) != list.end()) return;
    list.push_back(at);
  }

  const Prepared& code_;
  std::vector<std::vector<std::int64_t>>& cuts_;
  std::vector<std::vector<std::vector<Origin>>> mapped_;   // [tensor][dimension]
  const Shape* shape_ = nullptr;
  bool counted_ = true, changed_ = false;
};
}  // namespace

bool collect_cuts(const Prepared& code, std::int32_t tensor, std::uint32_t nest, std::vector<std::vector<std::int64_t>>* cuts) {
  return CutFinder(code, cuts).run(tensor, nest);
}

}  // namespace cairn::identity
