#include "verify/families.h"

#include <array>
#include <cmath>
#include <limits>

#include "base/rng.h"
#include "ir/interval.h"
#include "ir/numbers.h"

namespace cairn {

namespace {
constexpr std::array<std::string_view, 12> kNames{"uniform",  "normal",         "magnitude", "cancellation",
                                                  "one_hot",  "constant_rows",  "outliers",  "small_integers",
                                                  "zeros",    "denormals",      "nonfinite", "scaled_rows"};

// What the subscripts of a program allow as values of a tensor used as an index: values in [0, bound).
class IndexBounds {
 public:
  IndexBounds(const Program& program, const std::string& tensor, const std::map<std::string, Shape, std::less<>>& shapes)
      : tensor_(tensor), shapes_(shapes) {
    walk(program.body());
  }
  bool used() const { return used_; }
  std::int64_t bound() const { return bound_; }

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
          expression(*s->cond);
          walk(s->body);
          break;
        case Stmt::Type::equation:
          mention(s->tensor, s->subscripts);
          expression(*s->rhs);
          break;
      }
    }
  }
  void expression(const Expr& root) {
    visit_expr(root, [this](const Expr& e) {
      if (e.op == Op::read) mention(e.name, e.args);
      return true;
    });
  }
  // Narrows the bound so that no subscript leaves the tensor it indexes.
  void mention(const std::string& name, const std::vector<ExprPtr>& subscripts) {
    const auto shape = shapes_.find(name);
    for (std::size_t d = 0; d < subscripts.size(); ++d) {
      if (!reads_tensor(*subscripts[d], tensor_)) continue;
      used_ = true;
      if (shape == shapes_.end() || d >= shape->second.size()) continue;
      std::int64_t lo = 1, hi = std::min<std::int64_t>(bound_, 1 << 30);
      while (lo < hi) {  // the largest bound that keeps the subscript inside; it is monotone in practice
        const std::int64_t middle = lo + (hi - lo + 1) / 2;
        if (fits(*subscripts[d], middle, shape->second[d])) lo = middle;
        else hi = middle - 1;
      }
      bound_ = lo;
    }
  }
  bool fits(const Expr& subscript, std::int64_t bound, std::int64_t extent) {
    ranges_[tensor_] = Interval{0, bound - 1};
    // A float index tensor is read through a conversion, which the interval passes through here.
    const ExprPtr bare = rewrite_expr(std::make_shared<Expr>(subscript), [](const ExprPtr& e) -> ExprPtr {
      return e->op == Op::cast ? e->args[0] : nullptr;
    });
    const std::optional<Interval> range = interval_of(*bare, ranges_);
    ranges_.erase(tensor_);
    return range && range->lo >= 0 && range->hi < extent;
  }

  const std::string& tensor_;
  const std::map<std::string, Shape, std::less<>>& shapes_;
  VarRanges ranges_;
  bool used_ = false;
  std::int64_t bound_ = INT64_MAX;
};

double signed_uniform(Rng& rng) { return rng.uniform() * 2 - 1; }

// Float values of a family, each a function of the seed and its place alone, so that a slice needs no others.
class FloatSource {
 public:
  FloatSource(Dtype dtype, const Shape& shape, Family family, bool hot, const Rng& rng)
      : dtype_(dtype), family_(family), hot_(hot), rng_(rng), n_(element_count(shape).value_or(0)),
        width_(shape.empty() ? 1 : std::max<std::int64_t>(1, shape.back())) {
    Rng planted = rng_.split("planted");
    for (std::int64_t& at : planted_) at = n_ > 0 ? static_cast<std::int64_t>(planted.below(static_cast<std::uint64_t>(n_))) : -1;
  }
  double operator()(std::int64_t i) const {
    Rng rng = rng_.split(static_cast<std::uint64_t>(i));
    switch (family_) {
      case Family::uniform: return rng.uniform();
      case Family::normal: return rng.normal();
      case Family::magnitude: return (rng.below(2) ? 1 : -1) * std::pow(10.0, 4 * signed_uniform(rng));
      case Family::cancellation: return i % 2 ? -(*this)(i - 1) * (1 + 1e-3 * rng.normal()) : 100 * rng.normal();
      case Family::one_hot: {
        if (!hot_) return rng.normal();
        Rng row = rng_.split("row").split(static_cast<std::uint64_t>(i / width_));
        return i % width_ == static_cast<std::int64_t>(row.below(static_cast<std::uint64_t>(width_))) ? 1 : 0;
      }
      case Family::constant_rows: return rng_.split(static_cast<std::uint64_t>(i - i % width_)).normal();
      case Family::outliers: {
        const int side = edge_of(i);   // a row with an extreme at one end has no other
        if (at_edge(i)) return (rng.below(4) == 0 ? -3000 : 3000) * (1 + std::fabs(rng.normal()));
        return rng.normal() * (i == planted_[0] || (side == 0 && rng.below(100) == 0) ? 3000 : 1);
      }
      case Family::small_integers: return static_cast<double>(rng.below(9)) - 4;
      case Family::zeros: return 0;
      case Family::scaled_rows: {
        if (!hot_) return rng.normal();
        // Rows of zeros, or single zeros where there is but one row; a hundred here and there.
        if ((n_ > width_ ? i / width_ : i) % 8 == 1) return 0;
        return i % 16 == 5 ? std::copysign(100.0, rng.normal()) : 40 * rng.normal();
      }
      case Family::denormals: return std::ldexp(signed_uniform(rng), float_format(dtype_).min_exponent - 1);
      case Family::nonfinite: {
        constexpr double kInf = std::numeric_limits<double>::infinity();
        constexpr std::array<double, 3> kSpecial{kInf, -kInf, std::numeric_limits<double>::quiet_NaN()};
        for (std::size_t k = 3; k-- > 0;) {
          if (i == planted_[k]) return kSpecial[k];
        }
        return rng.below(64) == 0 || at_edge(i) ? kSpecial[rng.below(3)] : rng.normal();
      }
    }
    return 0;
  }

 private:
  // Every fourth row or so has something special at its first element, another at its last: what a lost head or tail
  // misses. 0: neither, 1: first, 2: last.
  int edge_of(std::int64_t i) const {
    const std::uint64_t side = rng_.split("edge").split(static_cast<std::uint64_t>(i / width_)).below(4);
    return side == 0 ? 1 : side == 1 ? 2 : 0;
  }
  bool at_edge(std::int64_t i) const {
    const int side = edge_of(i);
    return (side == 1 && i % width_ == 0) || (side == 2 && i % width_ == width_ - 1);
  }

  Dtype dtype_;
  Family family_;
  bool hot_;
  Rng rng_;
  std::int64_t n_, width_;
  std::array<std::int64_t, 3> planted_{};
};

// Rounds to the dtype; what overflows a narrow format is cut to its largest value.
double store(Dtype dtype, double x) {
  const double r = round_to(dtype, x);
  if (!std::isfinite(x) || std::isfinite(r)) return r;
  return std::copysign(float_format(dtype).max, x);
}

// The float tensor that is singled out in families one_hot (products then select) and scaled_rows.
std::string hot_tensor(const Program& program, std::uint64_t seed) {
  std::vector<std::string> names;
  for (const Tensor& t : program.tensors()) {
    if (is_float(t.dtype) && t.shape && t.role != Role::out && t.role != Role::tmp) names.push_back(t.name);
  }
  return names.empty() ? std::string() : names[seed % names.size()];
}
}  // namespace

std::string_view family_name(Family family) { return kNames[static_cast<std::size_t>(family)]; }

const std::vector<Family>& all_families() {
  static const std::vector<Family> all{Family::uniform,       Family::normal,   Family::magnitude,
                                       Family::cancellation,  Family::one_hot,  Family::constant_rows,
                                       Family::outliers,      Family::small_integers, Family::zeros,
                                       Family::denormals,     Family::nonfinite,      Family::scaled_rows};
  return all;
}

Value make_input(const Program& program, const Tensor& tensor, const Shape& shape, Family family, std::uint64_t seed,
                 const Slice* slice) {
  Value v = Value::zeros(tensor.dtype, shape);
  const Rng rng = Rng(seed).split(tensor.name).split(static_cast<std::uint64_t>(family));
  Result<std::map<std::string, Shape, std::less<>>> shapes = infer_shapes(program);
  const std::map<std::string, Shape, std::less<>> none;
  const IndexBounds index(program, tensor.name, shapes ? *shapes : none);
  const auto bound = static_cast<std::uint64_t>(std::min<std::int64_t>(index.bound(), 1 << 30));
  const FloatSource source(tensor.dtype, shape, family, tensor.name == hot_tensor(program, seed), rng);
  const auto fill = [&](std::int64_t offset) {
    const auto i = static_cast<std::size_t>(offset);
    Rng one = rng.split(static_cast<std::uint64_t>(offset));
    if (index.used()) {
      const std::uint64_t edge = one.split("edge").below(4);   // the first and the last index more often than others
      const std::uint64_t x = family == Family::zeros || edge == 0 ? 0 : edge == 1 ? bound - 1 : one.below(bound);
      if (v.floats.empty()) v.ints[i] = static_cast<std::int64_t>(x);
      else v.floats[i] = static_cast<double>(x);
    } else if (is_float(tensor.dtype)) {
      v.floats[i] = store(tensor.dtype, source(offset));
    } else if (family != Family::zeros) {
      const std::uint64_t span = family == Family::small_integers ? 5 : 17;   // few values meet the bounds of conditions
      const std::int64_t x = static_cast<std::int64_t>(one.below(span)) - static_cast<std::int64_t>(span / 2);  // unsigned: cut at 0
      v.ints[i] = tensor.dtype == Dtype::boolean ? (x & 1) : to_integer(tensor.dtype, static_cast<double>(x));
    }
  };
  if (slice == nullptr) {
    for (std::int64_t i = 0; i < v.size(); ++i) fill(i);
  } else if (const auto wanted = slice->wanted.find(tensor.name); wanted != slice->wanted.end()) {
    visit_box(shape, wanted->second, fill);
  }
  return v;
}

ValueMap make_inputs(const Program& program, Family family, std::uint64_t seed) {
  return make_sliced_inputs(program, family, seed, nullptr);
}

ValueMap make_sliced_inputs(const Program& program, Family family, std::uint64_t seed, const Slice* slice) {
  ValueMap inputs;
  for (const Tensor& t : program.tensors()) {
    const bool given = t.role == Role::in || t.role == Role::param || t.role == Role::constant || t.role == Role::io;
    if (given && t.shape) inputs.emplace(t.name, make_input(program, t, *t.shape, family, seed, slice));
  }
  return inputs;
}

}  // namespace cairn
