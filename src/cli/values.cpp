#include "cli/values.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/core.h>

#include "cli/load.h"

namespace cairn {

namespace {

struct FormatRow {
  const char* name;
  Dtype dtype;
};
constexpr std::array<FormatRow, 15> kFormats{{
    {"F64", Dtype::f64}, {"F32", Dtype::f32}, {"F16", Dtype::f16}, {"BF16", Dtype::bf16},
    {"F8_E4M3", Dtype::f8e4m3fn}, {"F8_E5M2", Dtype::f8e5m2},
    {"I64", Dtype::i64}, {"I32", Dtype::i32}, {"I16", Dtype::i16}, {"I8", Dtype::i8},
    {"U64", Dtype::u64}, {"U32", Dtype::u32}, {"U16", Dtype::u16}, {"U8", Dtype::u8}, {"BOOL", Dtype::boolean},
}};

// Value of a small IEEE-like float with the given field widths; no infinity when `finite` (e4m3fn).
double decode_small(std::uint32_t bits, int exponent_bits, int mantissa_bits, bool finite) {
  const std::uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  const std::uint32_t exponent = bits >> mantissa_bits & ((1u << exponent_bits) - 1);
  const bool negative = (bits >> (exponent_bits + mantissa_bits) & 1) != 0;
  const std::uint32_t top = (1u << exponent_bits) - 1;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  double value = 0;
  if (exponent == top && (!finite || mantissa == (1u << mantissa_bits) - 1)) {
    value = mantissa == 0 && !finite ? INFINITY : NAN;
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<double>(mantissa), 1 - bias - mantissa_bits);
  } else {
    value = std::ldexp(static_cast<double>(mantissa | 1u << mantissa_bits), static_cast<int>(exponent) - bias - mantissa_bits);
  }
  return negative ? -value : value;
}

// The bits of a value that the format represents exactly (round_to was applied).
std::uint32_t encode_small(double value, int exponent_bits, int mantissa_bits, bool finite) {
  const std::uint32_t sign = std::signbit(value) ? 1u << (exponent_bits + mantissa_bits) : 0;
  const std::uint32_t top = (1u << exponent_bits) - 1;
  const std::uint32_t full = (1u << mantissa_bits) - 1;
  if (std::isnan(value)) return sign | top << mantissa_bits | (finite ? full : 1u << (mantissa_bits - 1));
  if (std::isinf(value)) return sign | top << mantissa_bits | (finite ? full : 0);
  if (value == 0) return sign;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = 0;
  std::frexp(std::fabs(value), &exponent);
  exponent -= 1;
  if (exponent < 1 - bias) {
    return sign | static_cast<std::uint32_t>(std::ldexp(std::fabs(value), bias - 1 + mantissa_bits));
  }
  const auto scaled = static_cast<std::uint32_t>(std::ldexp(std::fabs(value), mantissa_bits - exponent));
  return sign | static_cast<std::uint32_t>(exponent + bias) << mantissa_bits | (scaled & full);
}

struct SmallFormat { int exponent, mantissa; bool finite; };
SmallFormat small_format(Dtype d) {
  switch (d) {
    case Dtype::f16: return {5, 10, false};
    case Dtype::bf16: return {8, 7, false};
    case Dtype::f8e5m2: return {5, 2, false};
    default: return {4, 3, true};
  }
}

template <class T>
T load(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
void store(std::string* out, T v) {
  out->append(reinterpret_cast<const char*>(&v), sizeof v);
}

}  // namespace

Digest digest_tensor(const TensorData& data) {
  std::string text = data.dtype;
  for (const std::int64_t extent : data.shape) text += fmt::format(",{}", extent);
  text += '\n';
  text += data.bytes;
  return digest_bytes(text);
}

Result<ValueMap> values_of(const std::map<std::string, TensorData>& tensors, const std::string& file) {
  ValueMap values;
  for (const auto& [name, data] : tensors) {
    const FormatRow* row = nullptr;
    for (const FormatRow& r : kFormats) {
      if (data.dtype == r.name) row = &r;
    }
    if (!row) return Error{Code::parse, fmt::format("{}: tensor '{}' has dtype {}, which is not read", file, name, data.dtype), {}, {}};
    Value v = Value::zeros(row->dtype, data.shape);
    const auto n = static_cast<std::size_t>(v.size());
    const auto size = static_cast<std::size_t>(dtype_bytes(row->dtype));
    if (data.bytes.size() != n * size) {
      return Error{Code::parse, fmt::format("{}: tensor '{}' has {} bytes, expected {}", file, name, data.bytes.size(), n * size), {}, {}};
    }
    for (std::size_t i = 0; i < n; ++i) {
      const char* p = data.bytes.data() + i * size;
      switch (row->dtype) {
        case Dtype::f64: v.floats[i] = load<double>(p); break;
        case Dtype::f32: v.floats[i] = static_cast<double>(load<float>(p)); break;
        case Dtype::f16: case Dtype::bf16: {
          const SmallFormat f = small_format(row->dtype);
          v.floats[i] = decode_small(load<std::uint16_t>(p), f.exponent, f.mantissa, f.finite);
          break;
        }
        case Dtype::f8e4m3fn: case Dtype::f8e5m2: {
          const SmallFormat f = small_format(row->dtype);
          v.floats[i] = decode_small(load<std::uint8_t>(p), f.exponent, f.mantissa, f.finite);
          break;
        }
        case Dtype::i64: case Dtype::u64: v.ints[i] = load<std::int64_t>(p); break;
        case Dtype::i32: v.ints[i] = load<std::int32_t>(p); break;
        case Dtype::i16: v.ints[i] = load<std::int16_t>(p); break;
        case Dtype::i8: v.ints[i] = load<std::int8_t>(p); break;
        case Dtype::u32: v.ints[i] = load<std::uint32_t>(p); break;
        case Dtype::u16: v.ints[i] = load<std::uint16_t>(p); break;
        default: v.ints[i] = load<std::uint8_t>(p); break;
      }
    }
    values.emplace(name, std::move(v));
  }
  return values;
}

Result<std::map<std::string, TensorData>> tensors_of(const ValueMap& values) {
  std::map<std::string, TensorData> tensors;
  for (const auto& [name, v] : values) {
    const FormatRow* row = nullptr;
    Dtype dtype = v.dtype == Dtype::tf32 ? Dtype::f32 : v.dtype;
    if (dtype == Dtype::i4) dtype = Dtype::i8;
    if (dtype == Dtype::u4) dtype = Dtype::u8;
    for (const FormatRow& r : kFormats) {
      if (dtype == r.dtype) row = &r;
    }
    if (!row) return Error{Code::usage, fmt::format("tensor '{}' of dtype {} cannot be written to .safetensors", name, dtype_name(v.dtype)), {}, {}};
    TensorData data;
    data.dtype = row->name;
    data.shape = v.shape;
    const auto n = static_cast<std::size_t>(v.size());
    for (std::size_t i = 0; i < n; ++i) {
      switch (row->dtype) {
        case Dtype::f64: store(&data.bytes, v.floats[i]); break;
        case Dtype::f32: store(&data.bytes, static_cast<float>(v.floats[i])); break;
        case Dtype::f16: case Dtype::bf16: {
          const SmallFormat f = small_format(row->dtype);
          store(&data.bytes, static_cast<std::uint16_t>(encode_small(round_to(row->dtype, v.floats[i]), f.exponent, f.mantissa, f.finite)));
          break;
        }
        case Dtype::f8e4m3fn: case Dtype::f8e5m2: {
          const SmallFormat f = small_format(row->dtype);
          store(&data.bytes, static_cast<std::uint8_t>(encode_small(round_to(row->dtype, v.floats[i]), f.exponent, f.mantissa, f.finite)));
          break;
        }
        case Dtype::i64: case Dtype::u64: store(&data.bytes, v.ints[i]); break;
        case Dtype::i32: case Dtype::u32: store(&data.bytes, static_cast<std::uint32_t>(v.ints[i])); break;
        case Dtype::i16: case Dtype::u16: store(&data.bytes, static_cast<std::uint16_t>(v.ints[i])); break;
        default: store(&data.bytes, static_cast<std::uint8_t>(v.ints[i])); break;
      }
    }
    tensors.emplace(name, std::move(data));
  }
  return tensors;
}

Result<ValueMap> read_values(const std::string& path) {
  CAIRN_TRY(const auto tensors, read_safetensors(path));
  return values_of(tensors, path);
}

Result<void> write_values(const std::string& path, const ValueMap& values) {
  CAIRN_TRY(const auto tensors, tensors_of(values));
  return write_safetensors(path, tensors);
}

}  // namespace cairn
