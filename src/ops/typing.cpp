#include "ops/typing.h"

#include <algorithm>

#include "ops/build.h"

namespace cairn {
namespace {

// bool < integers < floats, as PyTorch's categories.
int category(Dtype dtype) { return dtype == Dtype::boolean ? 0 : is_float(dtype) ? 2 : 1; }

Dtype promote_dtypes(Dtype a, Dtype b) {
  if (a == b) return a;
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  if (category(a) == 2) {
    if (a == Dtype::f64 || b == Dtype::f64) return Dtype::f64;
    return Dtype::f32;  // f16 with bf16, or either with f32
  }
  const bool unsigned_a = a == Dtype::u8 || a == Dtype::u16 || a == Dtype::u32 || a == Dtype::u64;
  const bool unsigned_b = b == Dtype::u8 || b == Dtype::u16 || b == Dtype::u32 || b == Dtype::u64;
  if (unsigned_a != unsigned_b && dtype_bytes(a) == dtype_bytes(b)) {
    return dtype_bytes(a) == 1 ? Dtype::i16 : dtype_bytes(a) == 2 ? Dtype::i32 : Dtype::i64;
  }
  return dtype_bytes(a) >= dtype_bytes(b) ? a : b;
}

}  // namespace

Dtype wide_dtype(Dtype dtype) { return dtype == Dtype::f16 || dtype == Dtype::bf16 ? Dtype::f32 : dtype; }

Dtype promote(const Operand& a, const Operand& b) {
  if ((a.rank() == 0) != (b.rank() == 0)) {
    const Operand& tensor = a.rank() == 0 ? b : a;
    const Operand& single = a.rank() == 0 ? a : b;
    if (category(single.dtype) <= category(tensor.dtype)) return tensor.dtype;
    return promote_dtypes(single.dtype, tensor.dtype);
  }
  return promote_dtypes(a.dtype, b.dtype);
}

Dtype promote(const Operand& a, const Scalar& b) {
  if (!b.integral && !is_float(a.dtype)) return Dtype::f32;
  if (b.integral && a.dtype == Dtype::boolean) return Dtype::i64;
  return a.dtype;
}

ExprPtr as_dtype(ExprPtr value, Dtype from, Dtype to) {
  if (from == to) return value;
  // Widening between floats is exact and LEIR's own. Integers are cast: among themselves they would stay i64.
  const bool narrow = to == Dtype::f16 || to == Dtype::bf16;
  if (is_float(to) && !narrow) return is_float(from) ? value : make_cast(to, std::move(value));
  if (is_integer(to) && !is_float(from) && dtype_bytes(from) <= dtype_bytes(to)) return value;
  return make_cast(to, std::move(value));
}

ExprPtr scalar_literal(const Scalar& value, Dtype to) {
  if (!is_float(to)) return build::num(value.integral ? value.integer : static_cast<std::int64_t>(value.number));
  return build::tidy(value.number);
}

ExprPtr as_condition(ExprPtr value, Dtype from) {
  if (from == Dtype::boolean) return value;
  return build::ne(std::move(value), build::num(0));
}

}  // namespace cairn
