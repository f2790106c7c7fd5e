// What a row of evidence must be to be stored.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "memory/store.h"

namespace cairn {

namespace {

constexpr std::size_t kLongestWord = 120, kLongestText = 4096;

Error refuse(const Evidence& row, std::string_view field, const std::string& what) {
  return {Code::parse, fmt::format("evidence {}: \"{}\" is {}", row.id.hex(), field, what), {}, {}};
}

// Names are single words, so that they cannot carry sentences into a prompt or break a table.
bool is_word(std::string_view text) {
  return text.size() <= kLongestWord && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

// Bytes of the UTF-8 sequence at the start, 0 if it is none (RFC 3629: shortest form, no surrogates, at most U+10FFFF).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xc0) != 0x80) return 0;
  }
  const bool bad = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) || (first == 0xf0 && byte(1) < 0x90) ||
                   (first == 0xf4 && byte(1) > 0x8f);
  return bad ? 0 : length;
}

bool is_line(std::string_view text) {
  if (text.size() > kLongestText) return false;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0 || (length == 1 && (text[0] < ' ' || text[0] == 0x7f))) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace

Result<void> check_evidence(const Evidence& row) {
  const auto finite = [](double x) { return std::isfinite(x); };
  const std::pair<std::string_view, double> numbers[] = {{"gain", row.gain}, {"credit", row.credit}};
  for (const auto& [name, value] : numbers) {
    if (!finite(value)) return refuse(row, name, fmt::format("{}, expected a finite number", value));
  }
  if (!std::all_of(row.task.features.begin(), row.task.features.end(), finite)) return refuse(row, "features", "not finite everywhere");
  const std::pair<std::string_view, std::uint64_t> counts[] = {{"number", row.number}, {"parent", row.parent}};
  for (const auto& [name, value] : counts) {
    if (value > static_cast<std::uint64_t>(INT64_MAX)) return refuse(row, name, fmt::format("{}, expected at most {}", value, INT64_MAX));
  }
  const std::pair<std::string_view, const std::string*> needed[] = {{"run", &row.run}, {"direction", &row.direction}, {"local", &row.local}};
  for (const auto& [name, value] : needed) {
    if (value->empty()) return refuse(row, name, "empty");
  }
  const std::pair<std::string_view, const std::string*> words[] = {
      {"run", &row.run}, {"family", &row.task.family}, {"bottleneck", &row.bottleneck}, {"direction", &row.direction}, {"local", &row.local},
      {"directions", &row.directions[0]}, {"directions", &row.directions[1]}, {"locals", &row.locals[0]}, {"locals", &row.locals[1]},
      {"outcome", &row.outcome}, {"certificate", &row.certificate}, {"architecture", &row.device.architecture}, {"kind of device", &row.device.kind}};
  for (const auto& [name, value] : words) {
    if (!is_word(*value)) return refuse(row, name, fmt::format("no single word of at most {} printable ASCII characters", kLongestWord));
  }
  const std::pair<std::string_view, const std::string*> lines[] = {
      {"task", &row.task.name}, {"arguments", &row.arguments}, {"argument_class", &row.argument_class}, {"device", &row.device.fingerprint},
      {"implementer", &row.implementer}};
  for (const auto& [name, value] : lines) {
    if (!is_line(*value)) return refuse(row, name, fmt::format("no line of UTF-8 of at most {} bytes", kLongestText));
  }
  return {};
}

}  // namespace cairn
