#include "ir/interp.h"

#include <fmt/core.h>

#include "base/check.h"
#include "ir/interp_code.h"

namespace cairn {

namespace {
using interp::Buffer;
using interp::Kind;

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : ",", extent);
  return "{" + text + "}";
}

// Allocates a buffer and fills it from the caller's value.
Result<void> load(const Program& program, const ValueMap& inputs, bool exact, const Slice* slice, Buffer* b) {
  const auto n = static_cast<std::size_t>(b->size);
  b->written.assign(n, b->given ? 1 : 0);
  switch (b->kind) {
    case Kind::f32: b->f32.assign(n, 0); break;
    case Kind::f64: b->f64.assign(n, 0); break;
    case Kind::i64: b->i64.assign(n, 0); break;
  }
  if (!b->given) return {};
  const auto found = inputs.find(b->tensor->name);
  if (found == inputs.end()) {
    return error_at(program, b->tensor->pos, Code::usage, fmt::format("no value was given for {} {}",
                                                                      role_name(b->tensor->role), b->tensor->name));
  }
  const Value& v = found->second;
  const bool floats = is_float(b->dtype);
  if (v.shape != b->shape || is_float(v.dtype) != floats || (floats ? v.floats.size() : v.ints.size()) != n) {
    return error_at(program, b->tensor->pos, Code::usage,
                    fmt::format("{} needs a {} of shape {}, got a {} of shape {}", b->tensor->name, dtype_name(b->dtype),
                                shape_text(b->shape), dtype_name(v.dtype), shape_text(v.shape)));
  }
  const auto put = [&](std::int64_t offset) {
    const auto i = static_cast<std::size_t>(offset);
    switch (b->kind) {
      case Kind::f32: b->f32[i] = static_cast<float>(b->dtype == Dtype::f32 ? v.floats[i] : round_to(b->dtype, v.floats[i])); break;
      case Kind::f64: b->f64[i] = exact ? v.floats[i] : round_to(b->dtype, v.floats[i]); break;
      case Kind::i64: b->i64[i] = wrap_integer(b->dtype, v.ints[i]); break;
    }
  };
  if (slice == nullptr) {
    for (std::int64_t i = 0; i < b->size; ++i) put(i);
  } else if (const auto wanted = slice->wanted.find(b->tensor->name); wanted != slice->wanted.end()) {
    visit_box(b->shape, wanted->second, put);
  }
  return {};
}

// The elements of a box, in row-major order; refuses one that was never written.
Result<Value> gather(const Program& program, const Buffer& b, const Box& box) {
  Value v;
  v.dtype = b.dtype;
  for (const IndexSet& set : box) v.shape.push_back(count_of(set));
  std::int64_t missing = -1;
  visit_box(b.shape, box, [&](std::int64_t offset) {
    const auto at = static_cast<std::size_t>(offset);
    if (!b.written[at] && missing < 0) missing = offset;
    switch (b.kind) {
      case Kind::f32: v.floats.push_back(static_cast<double>(b.f32[at])); break;
      case Kind::f64: v.floats.push_back(b.f64[at]); break;
      case Kind::i64: v.ints.push_back(b.i64[at]); break;
    }
  });
  if (missing >= 0) {
    return error_at(program, b.tensor->pos, Code::run,
                    fmt::format("{} is never written; every element of an output must be", interp::element_text(b, missing)));
  }
  return v;
}

Value unload(Buffer&& b) {
  Value v;
  v.dtype = b.dtype;
  v.shape = b.shape;
  switch (b.kind) {
    case Kind::f32: v.floats.assign(b.f32.begin(), b.f32.end()); break;
    case Kind::f64: v.floats = std::move(b.f64); break;
    case Kind::i64: v.ints = std::move(b.i64); break;
  }
  return v;
}
}  // namespace

std::int64_t Value::size() const { return element_count(shape).value_or(0); }

Value Value::zeros(Dtype dtype, const Shape& shape) {
  Value v;
  v.dtype = dtype;
  v.shape = shape;
  const auto n = static_cast<std::size_t>(v.size());
  if (is_float(dtype)) v.floats.assign(n, 0);
  else v.ints.assign(n, 0);
  return v;
}

Result<ValueMap> interpret(const Program& program, const ValueMap& inputs, const InterpOptions& options) {
  interp::CompileOptions compile_options;
  compile_options.random = options.rounding_seed != 0 && !options.in_f64;
  compile_options.wide = options.in_f64 || compile_options.random;
  compile_options.max_bytes = options.max_bytes;
  compile_options.slice = options.slice;
  CAIRN_TRY(interp::Bytecode code, interp::compile(program, compile_options));
  for (Buffer& b : code.buffers) CAIRN_CHECKED(load(program, inputs, options.in_f64, options.slice, &b));
  CAIRN_CHECKED(interp::run(code, options.rounding_seed, options.max_instances));
  ValueMap result;
  for (Buffer& b : code.buffers) {
    const Role role = b.tensor->role;
    const bool output = role == Role::out || role == Role::io;
    if (!output && !(options.keep_temporaries && role == Role::tmp)) continue;
    if (options.sampled != nullptr) {
      const auto box = options.sampled->find(b.tensor->name);
      if (box == options.sampled->end()) continue;
      CAIRN_TRY(Value sample, gather(program, b, box->second));
      result.emplace(b.tensor->name, std::move(sample));
      continue;
    }
    if (output) {
      for (std::size_t i = 0; i < b.written.size(); ++i) {
        if (b.written[i]) continue;
        return error_at(program, b.tensor->pos, Code::run,
                        fmt::format("{} is never written; every element of an output must be",
                                    interp::element_text(b, static_cast<std::int64_t>(i))));
      }
    }
    std::string name = b.tensor->name;
    result.emplace(std::move(name), unload(std::move(b)));
  }
  return result;
}

}  // namespace cairn
