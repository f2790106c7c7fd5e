#include "base/hash.h"

#include <fmt/core.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cairn {

std::string Digest::hex() const { return fmt::format("{:016x}{:016x}", hi, lo); }

bool parse_digest(std::string_view hex, Digest* out) {
  if (hex.size() != 32) return false;
  std::uint64_t parts[2] = {0, 0};
  for (std::size_t i = 0; i < 32; ++i) {
    const char c = hex[i];
    unsigned digit = 0;
    if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0');
    else if (c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a') + 10;
    else return false;
    parts[i / 16] = parts[i / 16] << 4 | digit;
  }
  *out = {parts[0], parts[1]};
  return true;
}

Digest digest_bytes(const void* data, std::size_t size) {
  const XXH128_hash_t h = XXH3_128bits(data, size);
  return {h.high64, h.low64};
}

std::uint64_t hash64(std::string_view s) { return XXH3_64bits(s.data(), s.size()); }

}  // namespace cairn
