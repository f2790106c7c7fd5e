// Reductions: sum, mean, extremes, products, variances, norms, any and all.
#include <algorithm>

#include "ops/build.h"
#include "ops/families.h"
#include "ops/reduce.h"
#include "ops/typing.h"

namespace cairn {
namespace {

using namespace build;

// The operand, the axes it is reduced over and whether they stay.
struct Request {
  Operand self;
  AxisSplit split;
  bool keepdim = false;

  std::int64_t count() const {
    std::int64_t total = 1;
    for (std::int64_t extent : split.reduced) total *= extent;
    return total;
  }
};

Result<Request> take_request(Call& call) {
  Request request;
  CAIRN_TRY(request.self, call.tensor("self"));
  CAIRN_TRY(const auto axes, call.axes("dim", request.self.rank()));
  request.split = split_axes(request.self.shape, axes);
  CAIRN_TRY(request.keepdim, call.flag("keepdim"));
  return request;
}

Result<void> finish_request(Call& call, const Request& request, const Operand& value) {
  return call.finish(request.keepdim ? keep_axes(value, request.split) : value);
}

// Rounds a wide result to the operator's dtype.
Operand narrow(Call& call, const Operand& value) {
  if (value.dtype == call.dtype()) return value;
  return call.emit.compute(call.dtype(), value.shape, [&](const Index& i) { return value.at(i); });
}

Result<void> emit_fold(Call& call, UpdateOp op) {
  CAIRN_TRY(const Request request, take_request(call));
  const Dtype wide = wide_dtype(call.dtype());
  const Operand value = reduce_axes(call.emit, op, wide, request.split, [&](const Index& i) {
    return as_dtype(request.self.at(i), request.self.dtype, wide);
  });
  return finish_request(call, request, narrow(call, value));
}
Result<void> emit_sum(Call& call) { return emit_fold(call, UpdateOp::add); }
Result<void> emit_prod(Call& call) { return emit_fold(call, UpdateOp::mul); }

Result<void> emit_mean(Call& call) {
  CAIRN_TRY(const Request request, take_request(call));
  const Dtype wide = wide_dtype(call.dtype());
  const Operand sum = reduce_axes(call.emit, UpdateOp::add, wide, request.split,
                                  [&](const Index& i) { return request.self.at(i); });
  const Operand value = call.emit.compute(call.dtype(), request.split.kept, [&](const Index& i) {
    return div(sum.at(i), num(request.count()));
  });
  return finish_request(call, request, value);
}

// Extremes keep the dtype; bool goes through integers, as LEIR reduces no bools.
Result<void> emit_extreme(Call& call, UpdateOp op) {
  CAIRN_TRY(const Request request, take_request(call));
  if (request.count() == 0) return call.error("the maximum or minimum of no elements");
  if (request.self.dtype != Dtype::boolean) {
    return finish_request(call, request, reduce_axes(call.emit, op, call.dtype(), request.split, [&](const Index& i) {
                            return request.self.at(i);
                          }));
  }
  const Operand value = reduce_axes(call.emit, op, Dtype::i32, request.split, [&](const Index& i) {
    return select(request.self.at(i), num(1), num(0));
  });
  return finish_request(call, request, call.emit.compute(Dtype::boolean, request.split.kept, [&](const Index& i) {
                          return ne(value.at(i), num(0));
                        }));
}
Result<void> emit_amax(Call& call) { return emit_extreme(call, UpdateOp::max); }
Result<void> emit_amin(Call& call) { return emit_extreme(call, UpdateOp::min); }

// any is a maximum of zeros and ones, all a minimum; of uint8 the result stays uint8.
Result<void> emit_truth(Call& call, UpdateOp op) {
  CAIRN_TRY(const Request request, take_request(call));
  const std::int64_t none = op == UpdateOp::max ? 0 : 1;
  Operand value = make_constant(Dtype::i32, request.split.kept, num(none));
  if (request.count() > 0) {
    value = reduce_axes(call.emit, op, Dtype::i32, request.split, [&](const Index& i) {
      return select(as_condition(request.self.at(i), request.self.dtype), num(1), num(0));
    });
  }
  return finish_request(call, request, call.emit.compute(call.dtype(), request.split.kept, [&](const Index& i) {
                          return call.dtype() == Dtype::boolean ? ne(value.at(i), num(0)) : value.at(i);
                        }));
}
Result<void> emit_any(Call& call) { return emit_truth(call, UpdateOp::max); }
Result<void> emit_all(Call& call) { return emit_truth(call, UpdateOp::min); }

// Two passes; the divisor is max(0, n - correction) as a float, so that one value gives NaN.
Result<Operand> variance(Call& call, const Request& request, Operand* mean) {
  double correction = 1;
  if (call.node().args.count("unbiased") > 0) {
    CAIRN_TRY(const bool unbiased, call.flag("unbiased"));
    correction = unbiased ? 1 : 0;
  } else if (call.has("correction")) {
    CAIRN_TRY(correction, call.number("correction"));
  }
  const Dtype wide = wide_dtype(request.self.dtype);
  *mean = mean_axes(call.emit, request.self, request.split, wide);
  const Operand squares = squared_deviations(call.emit, request.self, *mean, request.split, wide);
  const double divisor = std::max(0.0, static_cast<double>(request.count()) - correction);
  return call.emit.compute(wide, request.split.kept, [&](const Index& i) {
    return div(squares.at(i), divisor == 0 ? real(0.0) : tidy(divisor));
  });
}

Result<void> emit_variance(Call& call, bool root, bool with_mean) {
  CAIRN_TRY(const Request request, take_request(call));
  Operand mean;
  CAIRN_TRY(const Operand spread, variance(call, request, &mean));
  if (root) {
    const Operand value = call.emit.compute(call.dtype(), spread.shape, [&](const Index& i) { return sqrt(spread.at(i)); });
    CAIRN_CHECKED(finish_request(call, request, value));
  } else {
    CAIRN_CHECKED(finish_request(call, request, narrow(call, spread)));
  }
  if (!with_mean || !call.wanted(1)) return {};
  const Operand value = narrow(call, mean);
  return call.finish(request.keepdim ? keep_axes(value, request.split) : value, 1);
}
Result<void> emit_var(Call& call) { return emit_variance(call, false, false); }
Result<void> emit_std(Call& call) { return emit_variance(call, true, false); }
Result<void> emit_var_mean(Call& call) { return emit_variance(call, false, true); }
Result<void> emit_std_mean(Call& call) { return emit_variance(call, true, true); }

Result<void> emit_vector_norm(Call& call) {
  CAIRN_TRY(const Request request, take_request(call));
  CAIRN_TRY(const double order, call.number("ord"));
  const Dtype wide = wide_dtype(call.dtype());
  const auto fold = [&](UpdateOp op, const std::function<ExprPtr(const ExprPtr&)>& term) {
    return reduce_axes(call.emit, op, wide, request.split, [&](const Index& i) { return term(request.self.at(i)); });
  };
  if (std::isinf(order)) {
    if (request.count() == 0) return call.error("the infinity norm of no elements");
    const Operand value = fold(order > 0 ? UpdateOp::max : UpdateOp::min, [](const ExprPtr& x) { return abs(x); });
    return finish_request(call, request, narrow(call, value));
  }
  if (order == 0) {
    const Operand value = fold(UpdateOp::add, [](const ExprPtr& x) { return select(ne(x, num(0)), num(1), num(0)); });
    return finish_request(call, request, narrow(call, value));
  }
  if (order == 1) {
    return finish_request(call, request, narrow(call, fold(UpdateOp::add, [](const ExprPtr& x) { return abs(x); })));
  }
  const Operand sum = fold(UpdateOp::add, [&](const ExprPtr& x) {
    return order == 2 ? mul(x, x) : pow(abs(x), tidy(order));
  });
  return finish_request(call, request, call.emit.compute(call.dtype(), request.split.kept, [&](const Index& i) {
                          return order == 2 ? sqrt(sum.at(i)) : pow(sum.at(i), real(1 / order));
                        }));
}

constexpr OpEntry kOps[] = {
    {"aten.all.default", emit_all},
    {"aten.all.dim", emit_all},
    {"aten.all.dims", emit_all},
    {"aten.amax.default", emit_amax},
    {"aten.amin.default", emit_amin},
    {"aten.any.default", emit_any},
    {"aten.any.dim", emit_any},
    {"aten.any.dims", emit_any},
    {"aten.linalg_vector_norm.default", emit_vector_norm},
    {"aten.max.default", emit_amax},
    {"aten.mean.default", emit_mean},
    {"aten.mean.dim", emit_mean},
    {"aten.min.default", emit_amin},
    {"aten.prod.default", emit_prod},
    {"aten.prod.dim_int", emit_prod},
    {"aten.std.correction", emit_std},
    {"aten.std.default", emit_std},
    {"aten.std.dim", emit_std},
    {"aten.std_mean.correction", emit_std_mean},
    {"aten.sum.default", emit_sum},
    {"aten.sum.dim_IntList", emit_sum},
    {"aten.var.correction", emit_var},
    {"aten.var.default", emit_var},
    {"aten.var.dim", emit_var},
    {"aten.var_mean.correction", emit_var_mean},
};

}  // namespace

std::span<const OpEntry> reduction_ops() { return kOps; }

}  // namespace cairn
