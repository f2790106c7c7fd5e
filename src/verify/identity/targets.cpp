#include "verify/identity/targets.h"

#include <algorithm>
#include <set>

#include "ir/stmt.h"

namespace cairn::identity {

namespace {
constexpr std::int64_t kFewPieces = 32;      // covered before anything else
constexpr std::int64_t kMaxPieces = 4096;    // covered as far as the work allows
bool is_result(const Tensor& t) { return t.role == Role::out || t.role == Role::io; }

// Equal up to loop variables' names, kinds and marks.
class Matcher {
 public:
  bool same(const Stmt& a, const Stmt& b) {
    if (a.type != b.type) return false;
    if (a.is_equation()) {
      if (a.tensor != b.tensor || a.subscripts.size() != b.subscripts.size()) return false;
      for (std::size_t i = 0; i < a.subscripts.size(); ++i) {
        if (!same(*a.subscripts[i], *b.subscripts[i])) return false;
      }
      return same(*a.rhs, *b.rhs);
    }
    if (a.body.size() != b.body.size() || (a.is_loop() ? a.extent != b.extent : !same(*a.cond, *b.cond))) return false;
    if (a.is_loop()) vars_.emplace_back(a.var, b.var);
    bool ok = true;
    for (std::size_t i = 0; i < a.body.size() && ok; ++i) ok = same(*a.body[i], *b.body[i]);
    if (a.is_loop()) vars_.pop_back();
    return ok;
  }

 private:
  bool same(const Expr& a, const Expr& b) const {
    if (a.op != b.op || a.dtype != b.dtype || a.args.size() != b.args.size()) return false;
    switch (a.op) {
      case Op::int_literal: if (a.int_value != b.int_value) return false; break;
      case Op::float_literal:
        if (!(a.float_value == b.float_value || (a.float_value != a.float_value && b.float_value != b.float_value))) return false;
        break;
      case Op::loop_var:
        for (std::size_t i = vars_.size(); i-- > 0;) {
          if (vars_[i].first == a.name || vars_[i].second == b.name) return vars_[i].first == a.name && vars_[i].second == b.name;
        }
        return false;
      case Op::read: if (a.name != b.name) return false; break;
      default: break;
    }
    for (std::size_t i = 0; i < a.args.size(); ++i) {
      if (!same(*a.args[i], *b.args[i])) return false;
    }
    return true;
  }
  std::vector<std::pair<std::string, std::string>> vars_;
};

void mentions(const Stmt& s, std::set<std::string>* names) {
  const auto of = [names](const Expr& root) {
    visit_expr(root, [names](const Expr& e) {
      if (e.op == Op::read) names->insert(e.name);
      return true;
    });
  };
  if (s.is_equation()) {
    names->insert(s.tensor);
    for (const ExprPtr& x : s.subscripts) of(*x);
    of(*s.rhs);
  } else if (s.is_test()) {
    of(*s.cond);
  }
  for (const StmtPtr& child : s.body) mentions(*child, names);
}
}  // namespace

std::vector<Compared> differing_outputs(const Prepared& a, const StateTable& ta, const Prepared& b, const StateTable& tb) {
  std::vector<Compared> out;
  for (std::size_t t = 0; t < a.tensors.size(); ++t) {
    const TensorInfo& info = a.tensors[t];
    if (!is_result(*info.tensor)) continue;
    const auto other = b.tensor_of.find(info.tensor->name);
    if (other == b.tensor_of.end()) continue;
    Compared c{info.tensor->name, static_cast<std::int32_t>(t), other->second, ta.nests(), tb.nests(), &info.shape, info.size};
    if (ta.before(c.nest_before, c.before) != tb.before(c.nest_after, c.after)) out.push_back(std::move(c));
  }
  return out;
}

std::vector<Compared> fed_tensors(const Prepared& a, const StateTable& ta, const Prepared& b, const StateTable& tb) {
  const Body& x = a.program->body();
  const Body& y = b.program->body();
  std::size_t common = 0;
  while (common < x.size() && common < y.size() && Matcher().same(*x[x.size() - 1 - common], *y[y.size() - 1 - common])) ++common;
  for (std::size_t k = common; k > 0; --k) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < k; ++i) mentions(*x[x.size() - 1 - i], &names);
    for (const TensorInfo& t : a.tensors) {
      if (is_result(*t.tensor)) names.insert(t.tensor->name);
    }
    std::vector<Compared> out;
    bool feasible = true;
    for (const std::string& name : names) {
      const auto p = a.tensor_of.find(name), q = b.tensor_of.find(name);
      if (p == a.tensor_of.end() || q == b.tensor_of.end()) {
        feasible = false;
        break;
      }
      const TensorInfo& s = a.tensors[static_cast<std::size_t>(p->second)];
      const TensorInfo& t = b.tensors[static_cast<std::size_t>(q->second)];
      Compared c{name, p->second, q->second, static_cast<std::uint32_t>(x.size() - k), static_cast<std::uint32_t>(y.size() - k), &s.shape, s.size};
      if (s.tensor->dtype != t.tensor->dtype || s.shape != t.shape) {
        feasible = false;
        break;
      }
      if (ta.before(c.nest_before, c.before) != tb.before(c.nest_after, c.after)) out.push_back(std::move(c));
    }
    if (feasible && !out.empty()) return out;
  }
  return {};
}

Elements choose_elements(const Shape& shape, std::int64_t size, const std::vector<std::vector<std::int64_t>>& cuts, bool counted,
                         const IdentityOptions& options, Rng rng) {
  Elements e;
  const std::size_t rank = shape.size();
  std::set<std::int64_t> seen;
  const auto add = [&](std::int64_t offset) {
    if (seen.insert(offset).second) e.offsets.push_back(offset);
  };
  const auto below = [&rng](std::int64_t n) { return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(std::max<std::int64_t>(1, n)))); };
  // Pieces: products of intervals between cuts.
  std::vector<std::vector<std::int64_t>> starts(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    starts[d] = {0};
    if (d < cuts.size()) {
      for (const std::int64_t c : cuts[d]) {
        if (c > 0 && c < shape[d]) starts[d].push_back(c);
      }
    }
    std::sort(starts[d].begin(), starts[d].end());
    starts[d].erase(std::unique(starts[d].begin(), starts[d].end()), starts[d].end());
    e.pieces = std::min<std::int64_t>(e.pieces * static_cast<std::int64_t>(starts[d].size()), 1 << 20);
  }
  counted = counted && e.pieces <= kMaxPieces;
  const std::int64_t width = rank == 0 ? 1 : shape[rank - 1];
  const std::int64_t rows = width == 0 ? 0 : size / width;
  // Corners first, then rows: neighbours share what a row is normalised by.
  if (size > 0) add(0);
  const auto piece_element = [&](std::int64_t piece, int corner) {
    std::int64_t offset = 0, rest = piece;
    std::vector<std::int64_t> index(rank);
    for (std::size_t d = rank; d-- > 0;) {
      const auto n = static_cast<std::int64_t>(starts[d].size());
      const auto at = static_cast<std::size_t>(rest % n);
      rest /= n;
      const std::int64_t lo = starts[d][at], hi = at + 1 < starts[d].size() ? starts[d][at + 1] : shape[d];
      index[d] = corner == 0 ? lo : corner == 1 ? hi - 1 : lo + below(hi - lo);
    }
    for (std::size_t d = 0; d < rank; ++d) offset = offset * shape[d] + index[d];
    return offset;
  };
  const int per_piece = std::max(2, options.per_piece);
  const auto cover = [&] {
    for (int k = 0; k < per_piece; ++k) {
      for (std::int64_t piece = 0; piece < e.pieces; ++piece) add(piece_element(piece, k));
    }
  };
  const bool few = e.pieces <= kFewPieces;
  if (size > 0 && few) cover();
  e.least = counted && few ? e.offsets.size() : 0;
  for (int row = 0; row < 4 && static_cast<int>(e.offsets.size()) < 4 * options.per_trial; ++row) {
    if (counted && few && static_cast<int>(e.offsets.size()) >= options.per_trial) break;
    const std::int64_t r = row == 0 ? 0 : row == 1 ? rows - 1 : below(rows);
    if (r < 0) break;
    add(r * width);
    add(r * width + width - 1);
    for (int k = 2; k < 8; ++k) add(r * width + below(width));
  }
  for (int tries = 0; static_cast<int>(e.offsets.size()) < options.per_trial && tries < 4 * options.per_trial && size > 0; ++tries) add(below(size));
  e.base = e.offsets.size();
  if (e.least == 0) e.least = e.base;
  if (size <= options.whole) {
    for (std::int64_t i = 0; i < size; ++i) add(i);
    e.complete_at = e.offsets.size();
    return e;
  }
  if (size > 0 && !few && e.pieces <= kMaxPieces) cover();
  e.complete_at = !counted ? SIZE_MAX : few ? e.least : e.offsets.size();
  return e;
}

}  // namespace cairn::identity
