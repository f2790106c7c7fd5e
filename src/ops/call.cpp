#include "ops/call.h"

#include <algorithm>
#include <fmt/core.h>

namespace cairn {
namespace {

// Sums and products of clamped integers and extents stay within 64 bits; larger ones (slices to the end) mean the same.
std::int64_t clamp_integer(std::int64_t value) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 60;
  return std::clamp(value, -kLimit, kLimit);
}

std::string show(const Shape& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    text += (axis == 0 ? "" : ", ") + std::to_string(shape[axis]);
  }
  return text + "]";
}

}  // namespace

Error Call::error(const std::string& message) const {
  Error error;
  error.code = Code::parse;
  error.message = node_.op + ": " + message;
  error.where = node_.place;
  return error;
}

bool Call::has(std::string_view name) const {
  const auto found = node_.args.find(name);
  return found != node_.args.end() && found->second.kind != Arg::Kind::none;
}

Result<const Arg*> Call::find(std::string_view name, const char* wanted) const {
  const auto found = node_.args.find(name);
  if (found == node_.args.end() || found->second.kind == Arg::Kind::none) {
    return error(fmt::format("argument {} is missing, expected {}", name, wanted));
  }
  return &found->second;
}

Result<Operand> Call::operand(const Arg& arg, std::string_view name) const {
  if (arg.kind != Arg::Kind::tensor) return error(fmt::format("argument {} is not a tensor", name));
  const auto found = values_.find(arg.text);
  if (found == values_.end()) return error(fmt::format("argument {} names unknown tensor '{}'", name, arg.text));
  return found->second;
}

Result<Operand> Call::tensor(std::string_view name) const {
  CAIRN_TRY(const Arg* arg, find(name, "a tensor"));
  return operand(*arg, name);
}

Result<std::vector<std::optional<Operand>>> Call::maybe_tensors(std::string_view name) const {
  CAIRN_TRY(const Arg* arg, find(name, "a list of tensors"));
  if (arg->kind != Arg::Kind::list) return error(fmt::format("argument {} is not a list", name));
  std::vector<std::optional<Operand>> out;
  for (const Arg& item : arg->items) {
    if (item.kind == Arg::Kind::none) {
      out.emplace_back();
      continue;
    }
    CAIRN_TRY(Operand one, operand(item, name));
    out.emplace_back(std::move(one));
  }
  return out;
}

Result<std::vector<Operand>> Call::tensors(std::string_view name) const {
  CAIRN_TRY(auto list, maybe_tensors(name));
  std::vector<Operand> out;
  for (auto& item : list) {
    if (!item) return error(fmt::format("argument {} holds a null", name));
    out.push_back(*std::move(item));
  }
  return out;
}

Result<std::int64_t> Call::integer(std::string_view name) const {
  CAIRN_TRY(const Arg* arg, find(name, "an integer"));
  if (arg->kind != Arg::Kind::integer) return error(fmt::format("argument {} is not an integer", name));
  return clamp_integer(arg->integer);
}

Result<Scalar> Call::scalar(std::string_view name) const {
  CAIRN_TRY(const Arg* arg, find(name, "a number"));
  switch (arg->kind) {
    case Arg::Kind::integer: return Scalar{true, static_cast<double>(arg->integer), arg->integer};
    case Arg::Kind::boolean: return Scalar{true, arg->boolean ? 1.0 : 0.0, arg->boolean ? 1 : 0};
    case Arg::Kind::number: return Scalar{false, arg->number, 0};
    default: return error(fmt::format("argument {} is not a number", name));
  }
}

Result<double> Call::number(std::string_view name) const {
  CAIRN_TRY(const Scalar value, scalar(name));
  return value.number;
}

Result<std::vector<std::int64_t>> Call::integers(std::string_view name) const {
  CAIRN_TRY(const Arg* arg, find(name, "a list of integers"));
  if (arg->kind == Arg::Kind::integer) return std::vector<std::int64_t>{clamp_integer(arg->integer)};
  if (arg->kind != Arg::Kind::list) return error(fmt::format("argument {} is not a list of integers", name));
  std::vector<std::int64_t> out;
  for (const Arg& item : arg->items) {
    if (item.kind != Arg::Kind::integer) return error(fmt::format("argument {} is not a list of integers", name));
    out.push_back(clamp_integer(item.integer));
  }
  return out;
}

Result<bool> Call::flag(std::string_view name) const {
  if (!has(name)) return false;
  CAIRN_TRY(const Arg* arg, find(name, "a bool"));
  if (arg->kind != Arg::Kind::boolean) return error(fmt::format("argument {} is not a bool", name));
  return arg->boolean;
}

Result<std::string> Call::text(std::string_view name) const {
  CAIRN_TRY(const Arg* arg, find(name, "a string"));
  if (arg->kind != Arg::Kind::text) return error(fmt::format("argument {} is not a string", name));
  return arg->text;
}

Result<std::size_t> Call::choice(std::string_view name, std::initializer_list<std::string_view> words) const {
  CAIRN_TRY(const Arg* arg, find(name, "a string"));
  std::string list;
  std::size_t at = 0;
  for (std::string_view word : words) {
    if (arg->kind == Arg::Kind::text && arg->text == word) return at;
    list += (at++ == 0 ? "" : " or ") + std::string(word);
  }
  return error(fmt::format("argument {} is '{}', expected {}", name, arg->text, list));
}

Result<std::size_t> Call::check_axis(std::int64_t axis, std::size_t rank) const {
  const auto span = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  if (axis < -span || axis >= span) {
    return error(fmt::format("axis {} is out of range, expected {} to {}", axis, -span, span - 1));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + span : axis);
}

Result<std::size_t> Call::axis(std::string_view name, std::size_t rank) const {
  CAIRN_TRY(const std::int64_t value, integer(name));
  return check_axis(value, rank);
}

Result<std::vector<std::size_t>> Call::axes(std::string_view name, std::size_t rank) const {
  std::vector<std::size_t> out;
  if (has(name)) {
    CAIRN_TRY(const auto list, integers(name));
    for (std::int64_t value : list) {
      CAIRN_TRY(const std::size_t one, check_axis(value, rank));
      if (rank > 0) out.push_back(one);
    }
  }
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end()) return error("an axis is given twice");
  if (out.empty()) {
    for (std::size_t one = 0; one < rank; ++one) out.push_back(one);
  }
  return out;
}

Dtype Call::dtype(std::size_t i) const { return i < node_.outputs.size() ? node_.outputs[i].dtype : Dtype::undef; }

const Shape& Call::shape(std::size_t i) const {
  static const Shape kNone;
  return i < node_.outputs.size() ? node_.outputs[i].shape : kNone;
}

Result<void> Call::finish(const Operand& value, std::size_t i) {
  if (i >= node_.outputs.size()) return error(fmt::format("the graph lists no result {}", i));
  const NodeOutput& output = node_.outputs[i];
  if (value.shape != output.shape) {
    return error(fmt::format("result {} has shape {}, the graph says {}", i, show(value.shape), show(output.shape)));
  }
  if (value.dtype != output.dtype) {
    return error(fmt::format("result {} has dtype {}, the graph says {}", i, dtype_name(value.dtype),
                             dtype_name(output.dtype)));
  }
  if (!output.name.empty()) values_[output.name] = value;
  return {};
}

Result<void> Call::finish_compute(const std::function<ExprPtr(const Index&)>& element) {
  if (node_.outputs.empty()) return error("the graph lists no result");
  return finish(emit.compute(dtype(), shape(), element));
}

}  // namespace cairn
