// Tensor values as the bytes that kernels and references see.
#pragma once
#include <string>

#include "ir/interp.h"
#include "ir/program.h"

namespace cairn {

// The bytes of a value in C's layout of its dtype (lower/c.h: bool and 4-bit integers one byte, tf32 as f32).
std::string encode_value(const Value& value);
// The same with every float as f64 and every integer as i64: a reference's layout.
std::string encode_wide(const Value& value);
// Element i of bytes in C's layout, as a double; integers beyond 2^53 lose their last bits.
class ElementReader {
 public:
  ElementReader(Dtype dtype, const unsigned char* bytes);
  double operator()(std::int64_t i) const;

 private:
  Dtype dtype_;
  const unsigned char* bytes_;
};

// Float formats of 8 and 16 bits: the bits of a representable value, and back.
std::uint32_t encode_small_float(Dtype dtype, double value);
double decode_small_float(Dtype dtype, std::uint32_t bits);

}  // namespace cairn
