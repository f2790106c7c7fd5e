#include "ir/types.h"

#include <array>

namespace cairn {

namespace {
struct DtypeRow {
  Dtype dtype;
  std::string_view name;
  std::int64_t bytes;
  char kind;  // f i b ?
};
constexpr std::array<DtypeRow, 24> kDtypes{{
    {Dtype::f64, "f64", 8, 'f'},
    {Dtype::f32, "f32", 4, 'f'},
    {Dtype::tf32, "tf32", 4, 'f'},
    {Dtype::f16, "f16", 2, 'f'},
    {Dtype::bf16, "bf16", 2, 'f'},
    {Dtype::f8e4m3fn, "f8e4m3fn", 1, 'f'},
    {Dtype::f8e4m3fnuz, "f8e4m3fnuz", 1, 'f'},
    {Dtype::f8e5m2, "f8e5m2", 1, 'f'},
    {Dtype::f8e5m2fnuz, "f8e5m2fnuz", 1, 'f'},
    {Dtype::i64, "i64", 8, 'i'},
    {Dtype::i32, "i32", 4, 'i'},
    {Dtype::i16, "i16", 2, 'i'},
    {Dtype::i8, "i8", 1, 'i'},
    {Dtype::i4, "i4", 1, 'i'},
    {Dtype::u64, "u64", 8, 'i'},
    {Dtype::u32, "u32", 4, 'i'},
    {Dtype::u16, "u16", 2, 'i'},
    {Dtype::u8, "u8", 1, 'i'},
    {Dtype::u4, "u4", 1, 'i'},
    {Dtype::boolean, "bool", 1, 'b'},
    {Dtype::str, "str", 1, '?'},
    {Dtype::c64, "c64", 8, '?'},
    {Dtype::c128, "c128", 16, '?'},
    {Dtype::undef, "undef", 1, '?'},
}};
const DtypeRow& row(Dtype dtype) { return kDtypes[static_cast<std::size_t>(dtype)]; }
}  // namespace

std::string_view dtype_name(Dtype dtype) { return row(dtype).name; }

std::optional<Dtype> parse_dtype(std::string_view text) {
  for (const DtypeRow& r : kDtypes) {
    if (r.name == text) return r.dtype;
  }
  if (text == "f8e5m2fnu") return Dtype::f8e5m2fnuz;  // Step-TP's spelling
  return std::nullopt;
}

std::string_view scope_name(Scope scope) {
  constexpr std::array<std::string_view, 3> names{"g", "s", "l"};
  return names[static_cast<std::size_t>(scope)];
}

std::string_view role_name(Role role) {
  constexpr std::array<std::string_view, 6> names{"in", "param", "const", "io", "out", "tmp"};
  return names[static_cast<std::size_t>(role)];
}

bool is_float(Dtype dtype) { return row(dtype).kind == 'f'; }
bool is_integer(Dtype dtype) { return row(dtype).kind == 'i'; }
std::int64_t dtype_bytes(Dtype dtype) { return row(dtype).bytes; }

ComputeType compute_type(Dtype dtype) {
  if (dtype == Dtype::f64) return ComputeType::f64;
  if (is_float(dtype)) return ComputeType::f32;
  return dtype == Dtype::boolean ? ComputeType::boolean : ComputeType::i64;
}

std::optional<std::int64_t> element_count(const Shape& shape) {
  std::int64_t n = 1;
  for (std::int64_t extent : shape) {
    if (__builtin_mul_overflow(n, extent, &n)) return std::nullopt;
  }
  return n;
}

}  // namespace cairn
