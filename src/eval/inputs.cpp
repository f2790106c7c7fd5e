#include "eval/inputs.h"

#include <cmath>
#include <cstring>

#include "base/check.h"

namespace cairn {

namespace {
// Layout of a small float: exponent and significand bits, exponent bias, and what the top codes mean.
struct SmallFormat {
  int exponent_bits, fraction_bits, bias;
  enum class Top { ieee, one_nan, no_negative_zero } top;  // one_nan: only all ones; no_negative_zero: only 0x80
};
SmallFormat small_format(Dtype dtype) {
  using Top = SmallFormat::Top;
  switch (dtype) {
    case Dtype::f16: return {5, 10, 15, Top::ieee};
    case Dtype::bf16: return {8, 7, 127, Top::ieee};
    case Dtype::f8e4m3fn: return {4, 3, 7, Top::one_nan};
    case Dtype::f8e4m3fnuz: return {4, 3, 8, Top::no_negative_zero};
    case Dtype::f8e5m2: return {5, 2, 15, Top::ieee};
    case Dtype::f8e5m2fnuz: return {5, 2, 16, Top::no_negative_zero};
    default: break;
  }
  CAIRN_CHECK_MSG(false, "no small float");
  return {};
}

template <class T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_element(std::string& out, Dtype dtype, double x) {
  switch (dtype) {
    case Dtype::f64: append(out, x); return;
    case Dtype::f32: case Dtype::tf32: append(out, static_cast<float>(x)); return;
    case Dtype::f16: case Dtype::bf16: append(out, static_cast<std::uint16_t>(encode_small_float(dtype, x))); return;
    default: append(out, static_cast<std::uint8_t>(encode_small_float(dtype, x))); return;
  }
}

void append_integer(std::string& out, Dtype dtype, std::int64_t x) {
  const auto bytes = static_cast<std::size_t>(dtype_bytes(dtype));
  out.append(reinterpret_cast<const char*>(&x), bytes);  // little endian: the low bytes come first
}

template <class T>
T load(const unsigned char* bytes, std::int64_t i) {
  T x;
  std::memcpy(&x, bytes + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
  return x;
}
}  // namespace

std::uint32_t encode_small_float(Dtype dtype, double value) {
  const SmallFormat f = small_format(dtype);
  const std::uint32_t sign = (std::signbit(value) ? 1u : 0u) << (f.exponent_bits + f.fraction_bits);
  const std::uint32_t top = (1u << f.exponent_bits) - 1;
  if (std::isnan(value)) {
    if (f.top == SmallFormat::Top::no_negative_zero) return 0x80;
    return f.top == SmallFormat::Top::one_nan ? 0x7f : (top << f.fraction_bits) | (1u << (f.fraction_bits - 1));
  }
  if (std::isinf(value)) return sign | (top << f.fraction_bits);
  if (value == 0) return f.top == SmallFormat::Top::no_negative_zero ? 0 : sign;
  int exponent = std::max(std::ilogb(value), 1 - f.bias);
  const auto significand = static_cast<std::uint32_t>(std::ldexp(std::fabs(value), f.fraction_bits - exponent));
  const bool normal = significand >> f.fraction_bits != 0;
  const auto code = static_cast<std::uint32_t>(normal ? exponent + f.bias : 0);
  return sign | (code << f.fraction_bits) | (significand & ((1u << f.fraction_bits) - 1));
}

double decode_small_float(Dtype dtype, std::uint32_t bits) {
  const SmallFormat f = small_format(dtype);
  const std::uint32_t top = (1u << f.exponent_bits) - 1;
  const std::uint32_t code = (bits >> f.fraction_bits) & top;
  const std::uint32_t fraction = bits & ((1u << f.fraction_bits) - 1);
  const double sign = (bits >> (f.exponent_bits + f.fraction_bits)) & 1 ? -1 : 1;
  if (f.top == SmallFormat::Top::ieee && code == top) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  if (f.top == SmallFormat::Top::one_nan && code == top && fraction == (1u << f.fraction_bits) - 1) return std::nan("");
  if (f.top == SmallFormat::Top::no_negative_zero && bits == 0x80) return std::nan("");
  const int exponent = code == 0 ? 1 - f.bias : static_cast<int>(code) - f.bias;
  const double significand = static_cast<double>(fraction) + (code == 0 ? 0 : static_cast<double>(1u << f.fraction_bits));
  return sign * std::ldexp(significand, exponent - f.fraction_bits);
}

std::string encode_value(const Value& value) {
  std::string out;
  out.reserve(static_cast<std::size_t>(value.size() * dtype_bytes(value.dtype)));
  if (is_float(value.dtype)) {
    for (const double x : value.floats) append_element(out, value.dtype, x);
  } else {
    for (const std::int64_t x : value.ints) append_integer(out, value.dtype, x);
  }
  return out;
}

std::string encode_wide(const Value& value) {
  const auto bytes = [](const auto& list) {
    return std::string(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(list[0]));
  };
  return is_float(value.dtype) ? bytes(value.floats) : bytes(value.ints);
}

ElementReader::ElementReader(Dtype dtype, const unsigned char* bytes) : dtype_(dtype), bytes_(bytes) {}

double ElementReader::operator()(std::int64_t i) const {
  switch (dtype_) {
    case Dtype::f64: return load<double>(bytes_, i);
    case Dtype::f32: case Dtype::tf32: return static_cast<double>(load<float>(bytes_, i));
    case Dtype::f16: case Dtype::bf16: return decode_small_float(dtype_, load<std::uint16_t>(bytes_, i));
    case Dtype::f8e4m3fn: case Dtype::f8e4m3fnuz: case Dtype::f8e5m2: case Dtype::f8e5m2fnuz:
      return decode_small_float(dtype_, bytes_[i]);
    case Dtype::i64: return static_cast<double>(load<std::int64_t>(bytes_, i));
    case Dtype::i32: return load<std::int32_t>(bytes_, i);
    case Dtype::i16: return load<std::int16_t>(bytes_, i);
    case Dtype::i8: case Dtype::i4: return load<std::int8_t>(bytes_, i);
    case Dtype::u64: return static_cast<double>(load<std::uint64_t>(bytes_, i));
    case Dtype::u32: return load<std::uint32_t>(bytes_, i);
    case Dtype::u16: return load<std::uint16_t>(bytes_, i);
    default: return bytes_[i];
  }
}

}  // namespace cairn
