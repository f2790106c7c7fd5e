// Dtypes, scopes, roles and shapes of LEIR (leir.md "Text").
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

// Element types; the enumerators are spelled as in LEIR (boolean prints as "bool").
enum class Dtype : std::uint8_t {
  f64, f32, tf32, f16, bf16, f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz,
  i64, i32, i16, i8, i4, u64, u32, u16, u8, u4,
  boolean,
  str, c64, c128, undef,  // read from Step-TP texts, refused by the verifier
};

// Storage: g one copy, s one a block, l one a thread.
enum class Scope : std::uint8_t { g, s, l };

// How a tensor meets the outside; in, param and constant are never written.
enum class Role : std::uint8_t { in, param, constant, io, out, tmp };

// Type in which an expression is computed (leir.md "Types").
enum class ComputeType : std::uint8_t { i64, f32, f64, boolean };

// Extents, outermost first; rank 0 is the empty vector.
using Shape = std::vector<std::int64_t>;

std::string_view dtype_name(Dtype dtype);
std::optional<Dtype> parse_dtype(std::string_view text);
std::string_view scope_name(Scope scope);
std::string_view role_name(Role role);  // in param const io out tmp

bool is_float(Dtype dtype);
bool is_integer(Dtype dtype);  // not bool
// Bytes of one stored element (i4, u4, tf32: 1, 1, 4).
std::int64_t dtype_bytes(Dtype dtype);
// f64 -> f64; f32 tf32 f16 bf16 and 8-bit floats -> f32; integers -> i64; bool -> boolean.
ComputeType compute_type(Dtype dtype);
// Product of the extents; nullopt on 64-bit overflow.
std::optional<std::int64_t> element_count(const Shape& shape);

}  // namespace cairn
