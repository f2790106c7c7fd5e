#include "memory/evidence.h"

#include <fmt/core.h>

#include <iterator>

namespace cairn {

namespace {
constexpr std::string_view kKinds[] = {"passed", "failed", "host", "inner"};
}  // namespace

std::string_view evidence_kind_name(EvidenceKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

bool parse_evidence_kind(std::string_view name, EvidenceKind* out) {
  for (std::size_t k = 0; k < std::size(kKinds); ++k) {
    if (kKinds[k] != name) continue;
    *out = static_cast<EvidenceKind>(k);
    return true;
  }
  return false;
}

Digest evidence_id(std::string_view run, std::uint64_t number, std::string_view inner) {
  return digest_bytes(fmt::format("{}\n{}\n{}", run, number, inner));
}

}  // namespace cairn
