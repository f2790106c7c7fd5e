#include "ops/tensor_data.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/core.h>
#include <type_traits>

namespace cairn {
namespace {

struct NamedDtype {
  Dtype dtype;
  std::string_view name;
};
constexpr NamedDtype kNames[] = {
    {Dtype::f64, "F64"}, {Dtype::f32, "F32"},  {Dtype::f16, "F16"}, {Dtype::bf16, "BF16"},
    {Dtype::i64, "I64"}, {Dtype::i32, "I32"},  {Dtype::i16, "I16"}, {Dtype::i8, "I8"},
    {Dtype::u64, "U64"}, {Dtype::u32, "U32"},  {Dtype::u16, "U16"}, {Dtype::u8, "U8"},
    {Dtype::boolean, "BOOL"},
};

double half_to_double(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const double fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

// The value is representable: no rounding here.
std::uint16_t half_of_double(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return 0x7e00;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (magnitude < std::ldexp(1.0, -14)) {
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::ldexp(magnitude, 24)));
  }
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);  // in [0.5, 1)
  const auto low = static_cast<int>(std::ldexp(fraction, 11)) - 1024;
  return static_cast<std::uint16_t>(sign | ((exponent + 14) << 10) | low);
}

double bfloat_to_double(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
}
std::uint16_t bfloat_of_double(double value) {
  if (std::isnan(value)) return 0x7fc0;
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
}

template <class Raw, class Convert>
void decode(const std::string& bytes, Convert convert) {
  for (std::size_t at = 0; at + sizeof(Raw) <= bytes.size(); at += sizeof(Raw)) {
    Raw raw;
    std::memcpy(&raw, bytes.data() + at, sizeof(Raw));
    convert(raw);
  }
}

template <class Raw>
void put(std::string& bytes, Raw raw) {
  char buffer[sizeof(Raw)];
  std::memcpy(buffer, &raw, sizeof(Raw));
  bytes.append(buffer, sizeof(Raw));
}

// Calls fn with a value of the C++ type of an integer dtype.
template <class Fn>
void with_integer_type(Dtype dtype, Fn fn) {
  switch (dtype) {
    case Dtype::i64: return fn(std::int64_t{});
    case Dtype::i32: return fn(std::int32_t{});
    case Dtype::i16: return fn(std::int16_t{});
    case Dtype::i8: return fn(std::int8_t{});
    case Dtype::u64: return fn(std::uint64_t{});
    case Dtype::u32: return fn(std::uint32_t{});
    case Dtype::u16: return fn(std::uint16_t{});
    default: return fn(std::uint8_t{});
  }
}

}  // namespace

std::string_view safetensors_name(Dtype dtype) {
  for (const NamedDtype& one : kNames) {
    if (one.dtype == dtype) return one.name;
  }
  return {};
}

Result<Value> value_of_tensor(const TensorData& tensor, const std::string& path) {
  const auto fault = [&](std::string message) {
    Error error;
    error.code = Code::parse;
    error.message = std::move(message);
    error.where.file = path;
    return error;
  };
  const NamedDtype* found = nullptr;
  for (const NamedDtype& one : kNames) {
    if (one.name == tensor.dtype) found = &one;
  }
  if (found == nullptr) return fault(fmt::format("dtype {} is not supported", tensor.dtype));
  const auto count = element_count(tensor.shape);
  const auto size = static_cast<std::size_t>(dtype_bytes(found->dtype));
  if (!count || static_cast<std::size_t>(*count) * size != tensor.bytes.size()) {
    return fault(fmt::format("{} bytes do not fit the shape", tensor.bytes.size()));
  }
  Value value;
  value.dtype = found->dtype;
  value.shape = tensor.shape;
  const auto real = [&](double x) { value.floats.push_back(x); };
  switch (value.dtype) {
    case Dtype::f64: decode<double>(tensor.bytes, real); break;
    case Dtype::f32: decode<float>(tensor.bytes, [&](float x) { real(static_cast<double>(x)); }); break;
    case Dtype::f16: decode<std::uint16_t>(tensor.bytes, [&](std::uint16_t x) { real(half_to_double(x)); }); break;
    case Dtype::bf16: decode<std::uint16_t>(tensor.bytes, [&](std::uint16_t x) { real(bfloat_to_double(x)); }); break;
    default:
      with_integer_type(value.dtype, [&](auto kind) {
        decode<decltype(kind)>(tensor.bytes, [&](auto x) { value.ints.push_back(static_cast<std::int64_t>(x)); });
      });
  }
  return value;
}

Result<TensorData> tensor_of_value(const Value& value) {
  TensorData out;
  out.dtype = safetensors_name(value.dtype);
  out.shape = value.shape;
  if (out.dtype.empty()) {
    Error error;
    error.code = Code::usage;
    error.message = fmt::format("a safetensors file cannot hold dtype {}", dtype_name(value.dtype));
    return error;
  }
  for (double x : value.floats) {
    switch (value.dtype) {
      case Dtype::f64: put(out.bytes, x); break;
      case Dtype::f32: put(out.bytes, static_cast<float>(x)); break;
      case Dtype::f16: put(out.bytes, half_of_double(x)); break;
      default: put(out.bytes, bfloat_of_double(x)); break;
    }
  }
  for (std::int64_t x : value.ints) {
    with_integer_type(value.dtype, [&](auto kind) { put(out.bytes, static_cast<decltype(kind)>(x)); });
  }
  return out;
}

Digest tensor_digest(const TensorData& tensor) {
  std::string text = tensor.dtype;
  for (std::int64_t extent : tensor.shape) text += " " + std::to_string(extent);
  text.push_back('\n');
  text += tensor.bytes;
  return digest_bytes(text);
}

}  // namespace cairn
