#include "verify/families.h"

#include <array>
#include <cmath>
#include <limits>

#include "base/rng.h"
#include "ir/interval.h"
#include "ir/numbers.h"

namespace cairn {

namespace {
constexpr std::array<std::string_view, 11> kNames{"uniform",  "normal",         "magnitude", "cancellation",
                                                  "one_hot",  "constant_rows",  "outliers",  "small_integers",
                                                  "zeros",    "denormals",      "nonfinite"};

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

// Float values of a family; `row` is the innermost extent.
void fill_floats(std::vector<double>& v, std::int64_t row, Dtype dtype, Family family, bool hot, Rng& rng) {
  const std::size_t n = v.size();
  const auto width = static_cast<std::size_t>(std::max<std::int64_t>(1, row));
  for (std::size_t i = 0; i < n; ++i) {
    switch (family) {
      case Family::uniform: v[i] = rng.uniform(); break;
      case Family::normal: case Family::nonfinite: v[i] = rng.normal(); break;
      case Family::magnitude: v[i] = (rng.below(2) ? 1 : -1) * std::pow(10.0, 4 * signed_uniform(rng)); break;
      case Family::cancellation: v[i] = i % 2 ? -v[i - 1] * (1 + 1e-3 * rng.normal()) : 100 * rng.normal(); break;
      case Family::one_hot: v[i] = hot ? 0 : rng.normal(); break;
      case Family::constant_rows: v[i] = i % width ? v[i - 1] : rng.normal(); break;
      case Family::outliers: v[i] = rng.normal() * (rng.below(100) == 0 ? 3000 : 1); break;
      case Family::small_integers: v[i] = static_cast<double>(rng.below(9)) - 4; break;
      case Family::zeros: v[i] = 0; break;
      case Family::denormals: v[i] = std::ldexp(signed_uniform(rng), float_format(dtype).min_exponent - 1); break;
    }
  }
  if (n == 0) return;
  if (family == Family::one_hot && hot) {
    for (std::size_t start = 0; start < n; start += width) {
      v[start + rng.below(std::min(width, n - start))] = 1;
    }
  }
  if (family == Family::outliers) v[rng.below(n)] = 3000 * rng.normal();
  if (family == Family::nonfinite) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    const std::array<double, 3> special{kInf, -kInf, std::nan("")};
    for (std::size_t k = 0; k < 3 + n / 64; ++k) v[rng.below(n)] = special[k % 3];
  }
}

// Rounds to the dtype; what overflows a narrow format is cut to its largest value.
double store(Dtype dtype, double x) {
  const double r = round_to(dtype, x);
  if (!std::isfinite(x) || std::isfinite(r)) return r;
  return std::copysign(float_format(dtype).max, x);
}

// The float tensor that is one-hot in family one_hot, the others being normal: products then select.
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
                                       Family::denormals,     Family::nonfinite};
  return all;
}

Value make_input(const Program& program, const Tensor& tensor, const Shape& shape, Family family, std::uint64_t seed) {
  Value v = Value::zeros(tensor.dtype, shape);
  Rng rng = Rng(seed).split(tensor.name).split(static_cast<std::uint64_t>(family));
  const std::int64_t row = shape.empty() ? 1 : shape.back();
  Result<std::map<std::string, Shape, std::less<>>> shapes = infer_shapes(program);
  const std::map<std::string, Shape, std::less<>> none;
  const IndexBounds index(program, tensor.name, shapes ? *shapes : none);
  if (index.used()) {
    const auto bound = static_cast<std::uint64_t>(std::min<std::int64_t>(index.bound(), 1 << 30));
    const bool flat = family == Family::zeros;
    for (double& x : v.floats) x = flat ? 0 : static_cast<double>(rng.below(bound));
    for (std::int64_t& x : v.ints) x = flat ? 0 : static_cast<std::int64_t>(rng.below(bound));
    return v;
  }
  if (is_float(tensor.dtype)) {
    fill_floats(v.floats, row, tensor.dtype, family, tensor.name == hot_tensor(program, seed), rng);
    for (double& x : v.floats) x = store(tensor.dtype, x);
    return v;
  }
  const bool is_bool = tensor.dtype == Dtype::boolean;
  for (std::int64_t& x : v.ints) {
    if (family == Family::zeros) continue;
    x = is_bool ? static_cast<std::int64_t>(rng.below(2)) : static_cast<std::int64_t>(rng.below(17)) - 8;
    if (!is_bool) x = to_integer(tensor.dtype, static_cast<double>(x));  // unsigned: cut at 0
  }
  return v;
}

ValueMap make_inputs(const Program& program, Family family, std::uint64_t seed) {
  ValueMap inputs;
  for (const Tensor& t : program.tensors()) {
    const bool given = t.role == Role::in || t.role == Role::param || t.role == Role::constant || t.role == Role::io;
    if (given && t.shape) inputs.emplace(t.name, make_input(program, t, *t.shape, family, seed));
  }
  return inputs;
}

}  // namespace cairn
