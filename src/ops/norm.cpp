// layer_norm, rms_norm, group_norm, instance_norm, batch_norm: sum, mean, squared deviations, reciprocal root,
// result; each a nest. Statistics are kept in f32 for 16-bit inputs.
#include <algorithm>

#include "ops/build.h"
#include "ops/families.h"
#include "ops/reduce.h"
#include "ops/typing.h"
#include "ops/view.h"

namespace cairn {
namespace {

using namespace build;

struct Statistics {
  AxisSplit split;
  Operand mean;
  Operand squares;  // sum of squared deviations
  Operand rstd;     // 1/sqrt(squares/n + eps)
  std::int64_t count = 1;
};

Statistics statistics(Call& call, const Operand& x, const std::vector<std::size_t>& axes, double eps) {
  Statistics out;
  const Dtype wide = wide_dtype(x.dtype);
  out.split = split_axes(x.shape, axes);
  for (std::int64_t extent : out.split.reduced) out.count *= extent;
  out.mean = mean_axes(call.emit, x, out.split, wide);
  out.squares = squared_deviations(call.emit, x, out.mean, out.split, wide);
  out.rstd = call.emit.compute(wide, out.split.kept, [&](const Index& i) {
    return rsqrt(add(div(out.squares.at(i), num(out.count)), tidy(eps)));
  });
  return out;
}

ExprPtr normalised(const Operand& x, const Statistics& s, const Index& i) {
  const Index outer = s.split.outer_of(i);
  return mul(sub(x.at(i), s.mean.at(outer)), s.rstd.at(outer));
}

std::vector<std::size_t> axes_from(std::size_t first, std::size_t rank) {
  std::vector<std::size_t> axes;
  for (std::size_t axis = first; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

// An optional tensor argument that must have the given shape.
Result<std::optional<Operand>> affine(Call& call, const char* name, const Shape& shape) {
  if (!call.has(name)) return std::optional<Operand>{};
  CAIRN_TRY(Operand value, call.tensor(name));
  if (value.shape != shape) return call.error(std::string(name) + " has an unexpected shape");
  return std::optional<Operand>(std::move(value));
}

ExprPtr scaled(ExprPtr value, const std::optional<Operand>& weight, const std::optional<Operand>& bias,
               const Index& at) {
  if (weight) value = mul(value, weight->at(at));
  if (bias) value = add(value, bias->at(at));
  return value;
}

// The trailing axes that normalized_shape names.
Result<std::vector<std::size_t>> trailing_axes(Call& call, const Operand& x) {
  CAIRN_TRY(const auto shape, call.integers("normalized_shape"));
  if (shape.size() > x.rank() || !std::equal(shape.rbegin(), shape.rend(), x.shape.rbegin())) {
    return call.error("normalized_shape is not the end of the operand's shape");
  }
  return axes_from(x.rank() - shape.size(), x.rank());
}

Result<void> emit_layer_norm(Call& call) {
  CAIRN_TRY(const Operand x, call.tensor("input"));
  CAIRN_TRY(const auto axes, trailing_axes(call, x));
  CAIRN_TRY(const double eps, call.number("eps"));
  const Shape inner(x.shape.end() - static_cast<std::ptrdiff_t>(axes.size()), x.shape.end());
  CAIRN_TRY(const auto weight, affine(call, "weight", inner));
  CAIRN_TRY(const auto bias, affine(call, "bias", inner));
  const Statistics s = statistics(call, x, axes, eps);
  return call.finish_compute([&](const Index& i) {
    const Index at(i.end() - static_cast<std::ptrdiff_t>(axes.size()), i.end());
    return scaled(normalised(x, s, i), weight, bias, at);
  });
}

double machine_epsilon(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64: return 2.220446049250313e-16;
    case Dtype::f16: return 0.0009765625;
    case Dtype::bf16: return 0.0078125;
    default: return 1.1920928955078125e-07;
  }
}

Result<void> emit_rms_norm(Call& call) {
  CAIRN_TRY(const Operand x, call.tensor("input"));
  CAIRN_TRY(const auto axes, trailing_axes(call, x));
  double eps = machine_epsilon(wide_dtype(x.dtype));
  if (call.has("eps")) {
    CAIRN_TRY(eps, call.number("eps"));
  }
  const Shape inner(x.shape.end() - static_cast<std::ptrdiff_t>(axes.size()), x.shape.end());
  CAIRN_TRY(const auto weight, affine(call, "weight", inner));
  const Dtype wide = wide_dtype(x.dtype);
  const AxisSplit split = split_axes(x.shape, axes);
  std::int64_t count = 1;
  for (std::int64_t extent : split.reduced) count *= extent;
  const Operand squares =
      reduce_axes(call.emit, UpdateOp::add, wide, split, [&](const Index& i) { return pow(x.at(i), num(2)); });
  const Operand rms = call.emit.compute(wide, split.kept, [&](const Index& i) {
    return rsqrt(add(div(squares.at(i), num(count)), tidy(eps)));
  });
  return call.finish_compute([&](const Index& i) {
    const Index at(i.end() - static_cast<std::ptrdiff_t>(axes.size()), i.end());
    return scaled(mul(x.at(i), rms.at(split.outer_of(i))), weight, std::nullopt, at);
  });
}

// x of shape [N, C, ...] seen as [N, G, C/G, ...].
Result<void> emit_group_norm(Call& call) {
  CAIRN_TRY(const Operand x, call.tensor("input"));
  CAIRN_TRY(const std::int64_t groups, call.integer("num_groups"));
  CAIRN_TRY(const double eps, call.number("eps"));
  if (x.rank() < 2 || groups < 1 || x.shape[1] % groups != 0) return call.error("the channels do not divide");
  CAIRN_TRY(const auto weight, affine(call, "weight", {x.shape[1]}));
  CAIRN_TRY(const auto bias, affine(call, "bias", {x.shape[1]}));
  Shape shape = x.shape;
  shape[1] = x.shape[1] / groups;
  shape.insert(shape.begin() + 1, groups);
  const Operand grouped = reshape(call.emit, x, shape);
  const Statistics s = statistics(call, grouped, axes_from(2, shape.size()), eps);
  const std::int64_t size = x.shape[1] / groups;
  const Operand result = call.emit.allocate(call.dtype(), x.shape);
  call.emit.assign(result, shape, [&](const Index& i) {
    Index at;
    at.push_back(i[0]);
    ExprPtr channel = groups == 1 ? i[2] : size == 1 ? i[1] : add(mul(i[1], num(size)), i[2]);
    at.push_back(channel);
    at.insert(at.end(), i.begin() + 3, i.end());
    return std::make_pair(at, scaled(normalised(grouped, s, i), weight, bias, {channel}));
  });
  return call.finish(result);
}

// Statistics of each sample and channel.
Result<void> emit_instance_norm(Call& call) {
  CAIRN_TRY(const Operand x, call.tensor("input"));
  CAIRN_TRY(const bool own, call.flag("use_input_stats"));
  CAIRN_TRY(const double eps, call.number("eps"));
  if (!own || x.rank() < 3) return call.error("with running statistics or without inner axes is not supported");
  if (call.has("running_mean")) return call.error("with running statistics is not supported");
  CAIRN_TRY(const auto weight, affine(call, "weight", {x.shape[1]}));
  CAIRN_TRY(const auto bias, affine(call, "bias", {x.shape[1]}));
  const Statistics s = statistics(call, x, axes_from(2, x.rank()), eps);
  return call.finish_compute([&](const Index& i) { return scaled(normalised(x, s, i), weight, bias, {i[1]}); });
}

// Evaluation mode: the running statistics.
Result<void> finish_batch_inference(Call& call, const Operand& x, const std::optional<Operand>& weight,
                                    const std::optional<Operand>& bias, double eps) {
  CAIRN_TRY(const Operand mean, call.tensor("running_mean"));
  CAIRN_TRY(const Operand var, call.tensor("running_var"));
  const Shape channels{x.shape[1]};
  if (mean.shape != channels || var.shape != channels) return call.error("running statistics have an unexpected shape");
  const Operand rstd = call.emit.compute(wide_dtype(var.dtype), channels,
                                         [&](const Index& i) { return rsqrt(add(var.at(i), tidy(eps))); });
  return call.finish_compute([&](const Index& i) {
    const Index channel{i[1]};
    return scaled(mul(sub(x.at(i), mean.at(channel)), rstd.at(channel)), weight, bias, channel);
  });
}

// Training mode uses the batch's statistics; the functional form also returns the new running ones, whose variance
// is the unbiased one.
Result<void> emit_batch_norm(Call& call) {
  CAIRN_TRY(const Operand x, call.tensor("input"));
  CAIRN_TRY(const double eps, call.number("eps"));
  if (x.rank() < 2) return call.error("the operand has fewer than two axes");
  const Shape channels{x.shape[1]};
  CAIRN_TRY(const auto weight, affine(call, "weight", channels));
  CAIRN_TRY(const auto bias, affine(call, "bias", channels));
  CAIRN_TRY(const bool training, call.flag("training"));
  if (!training) {
    for (std::size_t k = 1; k < call.result_count(); ++k) {
      if (call.wanted(k)) return call.error("statistics of evaluation mode are not supported");
    }
    return finish_batch_inference(call, x, weight, bias, eps);
  }
  std::vector<std::size_t> axes = axes_from(2, x.rank());
  axes.insert(axes.begin(), 0);
  const Statistics s = statistics(call, x, axes, eps);
  if (call.wanted(0)) {
    CAIRN_CHECKED(call.finish_compute([&](const Index& i) { return scaled(normalised(x, s, i), weight, bias, {i[1]}); }));
  }
  if (call.wanted(1)) CAIRN_CHECKED(call.finish(s.mean, 1));
  if (call.wanted(2)) CAIRN_CHECKED(call.finish(s.rstd, 2));
  if (!call.wanted(3) && !call.wanted(4)) return {};
  CAIRN_TRY(const double momentum, call.number("momentum"));
  const auto blend = [&](const char* name, std::size_t k, const std::function<ExprPtr(const Index&)>& fresh) -> Result<void> {
    if (!call.wanted(k)) return {};
    CAIRN_TRY(const auto old, affine(call, name, channels));
    if (!old) return call.error(std::string(name) + " is missing");
    return call.finish(call.emit.compute(call.dtype(k), channels, [&](const Index& i) {
      return add(mul(tidy(momentum), fresh(i)), mul(tidy(1 - momentum), old->at(i)));
    }), k);
  };
  CAIRN_CHECKED(blend("running_mean", 3, [&](const Index& i) { return s.mean.at(i); }));
  return blend("running_var", 4, [&](const Index& i) { return div(s.squares.at(i), num(s.count - 1)); });
}

constexpr OpEntry kOps[] = {
    {"aten._native_batch_norm_legit.no_stats", emit_batch_norm},
    {"aten._native_batch_norm_legit_functional.default", emit_batch_norm},
    {"aten._native_batch_norm_legit_no_training.default", emit_batch_norm},
    {"aten.group_norm.default", emit_group_norm},
    {"aten.instance_norm.default", emit_instance_norm},
    {"aten.layer_norm.default", emit_layer_norm},
    {"aten.rms_norm.default", emit_rms_norm},
};

}  // namespace

std::span<const OpEntry> norm_ops() { return kOps; }

}  // namespace cairn
