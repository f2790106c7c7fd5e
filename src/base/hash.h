// Content hashes: 128-bit digests of bytes (xxHash) and a cheap 64-bit mixer for structural hashes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace cairn {

// A 128-bit content hash; compares, prints as 32 hex digits.
struct Digest {
  std::uint64_t hi = 0;
  std::uint64_t lo = 0;
  friend bool operator==(const Digest&, const Digest&) = default;
  friend auto operator<=>(const Digest&, const Digest&) = default;
  std::string hex() const;
};

// Reads what hex() printed; false if the text is not 32 hex digits.
bool parse_digest(std::string_view hex, Digest* out);
// XXH3-128 of the bytes.
Digest digest_bytes(const void* data, std::size_t size);
inline Digest digest_bytes(std::string_view s) { return digest_bytes(s.data(), s.size()); }

// Finalizer of splitmix64 (Steele, Lea, Flood 2014).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}
// Order-dependent combination of two 64-bit hashes.
constexpr std::uint64_t combine64(std::uint64_t a, std::uint64_t b) {
  return mix64(a * 0x9ddfea08eb382d69ULL + mix64(b));
}
// 64-bit hash of a string, stable across runs and machines.
std::uint64_t hash64(std::string_view s);

}  // namespace cairn

template <>
struct std::hash<cairn::Digest> {
  std::size_t operator()(const cairn::Digest& d) const noexcept { return static_cast<std::size_t>(d.lo); }
};
