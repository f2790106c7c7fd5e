// What a row of evidence must be to be stored.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "memory/store.h"

namespace cairn {

namespace {

// No quotient of two doubles has a larger logarithm; and the last second of the year 9999.
constexpr double kLargestGain = 1500;
constexpr std::int64_t kLatestDate = 253'402'300'799;
constexpr std::size_t kLongestWord = 120, kLongestText = 4096, kLongestCard = 16384, kLongestDecision = 1 << 20;

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

// UTF-8 without control characters, but for line breaks where those are allowed.
bool is_text(std::string_view text, std::size_t longest, bool breaks) {
  if (text.size() > longest) return false;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const bool control = length == 1 && (static_cast<unsigned char>(text[0]) < ' ' || text[0] == 0x7f);
    if (length == 0 || (control && !(breaks && text[0] == '\n'))) return false;
    text.remove_prefix(length);
  }
  return true;
}
bool is_line(std::string_view text) { return is_text(text, kLongestText, false); }

using Fields = std::initializer_list<std::pair<std::string_view, const std::string*>>;

// Names that must be there, and texts.
Result<void> check_fields(std::string_view what, const Fields& names, const Fields& texts, const std::vector<std::string>& classes) {
  for (const auto& [name, value] : names) {
    if (value->empty() || !is_word(*value)) {
      return Error{Code::parse, fmt::format("{}: \"{}\" is no single word of 1 to {} printable ASCII characters", what, name, kLongestWord), {}, {}};
    }
  }
  for (const auto& [name, value] : texts) {
    if (!is_text(*value, kLongestCard, true)) {
      return Error{Code::parse, fmt::format("{}: \"{}\" is no UTF-8 text without control characters of at most {} bytes", what, name, kLongestCard), {}, {}};
    }
  }
  for (const std::string& word : classes) {
    if (word.empty() || !is_word(word)) return Error{Code::parse, fmt::format("{}: found a bottleneck class that is no single word", what), {}, {}};
  }
  return {};
}

}  // namespace

Result<void> check_evidence(const Evidence& row) {
  const auto finite = [](double x) { return std::isfinite(x); };
  const std::pair<std::string_view, double> numbers[] = {{"gain", row.gain}, {"credit", row.credit}};
  for (const auto& [name, value] : numbers) {
    if (!(std::abs(value) <= kLargestGain)) return refuse(row, name, fmt::format("{}, expected a number from {} to {}", value, -kLargestGain, kLargestGain));
  }
  if (!std::all_of(row.task.features.begin(), row.task.features.end(), finite)) return refuse(row, "features", "not finite everywhere");
  const std::pair<std::string_view, std::uint64_t> counts[] = {{"number", row.number}, {"parent", row.parent}};
  for (const auto& [name, value] : counts) {
    if (value > static_cast<std::uint64_t>(INT64_MAX)) return refuse(row, name, fmt::format("{}, expected at most {}", value, INT64_MAX));
  }
  if (row.date < 0 || row.date > kLatestDate) return refuse(row, "date", fmt::format("{}, expected seconds since 1970 up to {}", row.date, kLatestDate));
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
    if (!is_line(*value)) return refuse(row, name, fmt::format("no line of UTF-8 without control characters of at most {} bytes", kLongestText));
  }
  return {};
}

Result<void> check_card(const DirectionCard& c) {
  return check_fields("direction", {{"name", &c.name}}, {{"intent", &c.intent}, {"objective", &c.objective}, {"risks", &c.risks}}, c.triggers);
}
Result<void> check_card(const LocalCard& c) {
  return check_fields("local", {{"name", &c.name}, {"direction", &c.direction}}, {{"when", &c.when}, {"how", &c.how}, {"checks", &c.checks}}, {});
}
Result<void> check_card(const EdgeCard& c) {
  return check_fields("edge", {{"from", &c.origin}, {"to", &c.node}}, {{"rationale", &c.rationale}, {"risk", &c.risk}}, c.applies);
}
Result<void> check_run(const RunRecord& r) {
  return check_fields("run", {{"id", &r.id}}, {{"task", &r.task}, {"family", &r.family}, {"mode", &r.mode}, {"device", &r.device}, {"target", &r.target}}, {});
}
Result<void> check_decision(const DecisionRecord& d) {
  if (!is_text(d.document, kLongestDecision, true)) {
    return Error{Code::parse, fmt::format("decision: \"document\" is no UTF-8 text without control characters of at most {} bytes", kLongestDecision), {}, {}};
  }
  return check_fields("decision", {{"run", &d.run}}, {}, {});
}

Result<void> check_content(const MemoryContent& content) {
  for (const DirectionCard& card : content.directions) CAIRN_CHECKED(check_card(card));
  for (const LocalCard& card : content.locals) CAIRN_CHECKED(check_card(card));
  for (const EdgeCard& card : content.edges) CAIRN_CHECKED(check_card(card));
  for (const RunRecord& run : content.runs) CAIRN_CHECKED(check_run(run));
  for (const Evidence& row : content.evidence) CAIRN_CHECKED(check_evidence(row));
  for (const DecisionRecord& decision : content.decisions) CAIRN_CHECKED(check_decision(decision));
  return {};
}

}  // namespace cairn
