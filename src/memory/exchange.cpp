#include "memory/exchange.h"

#include <fmt/core.h>

#include <limits>

#include "base/json.h"
#include "base/text.h"
#include "memory/cards.h"

namespace cairn {

namespace {

Json json_of(const DirectionCard& c) {
  return {{"row", "direction"}, {"name", c.name}, {"intent", c.intent}, {"objective", c.objective}, {"risks", c.risks}, {"triggers", c.triggers}};
}
Json json_of(const LocalCard& c) {
  return {{"row", "local"}, {"name", c.name}, {"direction", c.direction}, {"when", c.when}, {"how", c.how}, {"checks", c.checks}};
}
Json json_of(const EdgeCard& c) {
  return {{"row", "edge"}, {"from", c.origin}, {"to", c.node}, {"rationale", c.rationale}, {"risk", c.risk}, {"applies", c.applies}};
}
Json json_of(const RunRecord& r) {
  return {{"row", "run"}, {"id", r.id}, {"task", r.task}, {"family", r.family}, {"mode", r.mode}, {"device", r.device}, {"target", r.target},
          {"seed", r.seed}, {"started", r.started}, {"finished", r.finished}};
}
Json json_of(const Evidence& e) {
  return {{"row", "evidence"}, {"id", e.id.hex()}, {"run", e.run}, {"number", e.number}, {"parent", e.parent}, {"task", e.task.name},
          {"family", e.task.family}, {"features", e.task.features}, {"bottleneck", e.bottleneck}, {"direction", e.direction}, {"local", e.local},
          {"directions", e.directions}, {"locals", e.locals}, {"arguments", e.arguments}, {"argument_class", e.argument_class}, {"gain", e.gain},
          {"credit", e.credit}, {"kind", std::string(evidence_kind_name(e.kind))}, {"outcome", e.outcome}, {"certificate", e.certificate},
          {"device", e.device.fingerprint}, {"architecture", e.device.architecture}, {"device_kind", e.device.kind}, {"implementer", e.implementer},
          {"program", e.program.hex()}, {"trace", e.trace.hex()}, {"date", e.date}};
}
// The document stays text: what was stored is what `why` reads.
Json json_of(const DecisionRecord& d) {
  return {{"row", "decision"}, {"run", d.run}, {"number", d.number}, {"document", d.document}};
}

Error expected(const char* key, const char* what) { return {Code::parse, fmt::format("\"{}\" is no {}", key, what), {}, {}}; }

Result<std::uint64_t> get_count(const Json& row, const char* key) {
  const auto it = row.find(key);
  if (it == row.end() || !it->is_number_integer() || (!it->is_number_unsigned() && it->get<std::int64_t>() < 0)) return expected(key, "count");
  return it->get<std::uint64_t>();
}

Result<Digest> get_digest(const Json& row, const char* key) {
  CAIRN_TRY(const std::string text, get_string(row, key));
  Digest digest;
  if (!parse_digest(text, &digest)) return expected(key, "digest of 32 hexadecimal digits");
  return digest;
}

Result<std::vector<std::string>> get_words(const Json& row, const char* key) {
  const auto it = row.find(key);
  if (it == row.end() || !it->is_array()) return expected(key, "list of words");
  std::vector<std::string> words;
  for (const Json& word : *it) {
    if (!word.is_string()) return expected(key, "list of words");
    words.push_back(word.get<std::string>());
  }
  return words;
}

Result<Prefix> get_prefix(const Json& row, const char* key) {
  CAIRN_TRY(std::vector<std::string> words, get_words(row, key));
  Prefix prefix;
  if (words.size() != prefix.size()) return expected(key, "pair of words");
  std::move(words.begin(), words.end(), prefix.begin());
  return prefix;
}

Result<Evidence> read_evidence_row(const Json& j) {
  Evidence e;
  CAIRN_TRY(e.id, get_digest(j, "id"));
  CAIRN_TRY(e.run, get_string(j, "run"));
  CAIRN_TRY(e.number, get_count(j, "number"));
  CAIRN_TRY(e.parent, get_count(j, "parent"));
  CAIRN_TRY(e.task.name, get_string(j, "task"));
  CAIRN_TRY(e.task.family, get_string(j, "family"));
  const auto features = j.find("features");
  if (features == j.end() || !features->is_array()) return expected("features", "list of numbers");
  for (const Json& x : *features) {
    if (!x.is_number()) return expected("features", "list of numbers");
    e.task.features.push_back(x.get<double>());
  }
  CAIRN_TRY(e.bottleneck, get_string(j, "bottleneck"));
  CAIRN_TRY(e.direction, get_string(j, "direction"));
  CAIRN_TRY(e.local, get_string(j, "local"));
  CAIRN_TRY(e.directions, get_prefix(j, "directions"));
  CAIRN_TRY(e.locals, get_prefix(j, "locals"));
  CAIRN_TRY(e.arguments, get_string(j, "arguments"));
  CAIRN_TRY(e.argument_class, get_string(j, "argument_class"));
  CAIRN_TRY(e.gain, get_double(j, "gain"));
  CAIRN_TRY(e.credit, get_double(j, "credit"));
  CAIRN_TRY(const std::string kind, get_string(j, "kind"));
  if (!parse_evidence_kind(kind, &e.kind)) return expected("kind", "kind of evidence: passed, failed, host or inner");
  CAIRN_TRY(e.outcome, get_string(j, "outcome"));
  CAIRN_TRY(e.certificate, get_string(j, "certificate"));
  CAIRN_TRY(e.device.fingerprint, get_string(j, "device"));
  CAIRN_TRY(e.device.architecture, get_string(j, "architecture"));
  CAIRN_TRY(e.device.kind, get_string(j, "device_kind"));
  CAIRN_TRY(e.implementer, get_string(j, "implementer"));
  CAIRN_TRY(e.program, get_digest(j, "program"));
  CAIRN_TRY(e.trace, get_digest(j, "trace"));
  CAIRN_TRY(e.date, get_int(j, "date"));
  e.gain += 0.0;   // no negative zero: the file keeps none
  e.credit += 0.0;
  CAIRN_CHECKED(check_evidence(e));
  return e;
}

Result<void> read_card(const Json& j, const std::string& row, MemoryContent* content) {
  if (row == "direction") {
    DirectionCard c;
    CAIRN_TRY(c.name, get_string(j, "name"));
    CAIRN_TRY(c.intent, get_string(j, "intent"));
    CAIRN_TRY(c.objective, get_string(j, "objective"));
    CAIRN_TRY(c.risks, get_string(j, "risks"));
    CAIRN_TRY(c.triggers, get_words(j, "triggers"));
    CAIRN_CHECKED(check_card(c));
    content->directions.push_back(std::move(c));
  } else if (row == "local") {
    LocalCard c;
    CAIRN_TRY(c.name, get_string(j, "name"));
    CAIRN_TRY(c.direction, get_string(j, "direction"));
    CAIRN_TRY(c.when, get_string(j, "when"));
    CAIRN_TRY(c.how, get_string(j, "how"));
    CAIRN_TRY(c.checks, get_string(j, "checks"));
    CAIRN_CHECKED(check_card(c));
    content->locals.push_back(std::move(c));
  } else {
    EdgeCard c;
    CAIRN_TRY(c.origin, get_string(j, "from"));
    CAIRN_TRY(c.node, get_string(j, "to"));
    CAIRN_TRY(c.rationale, get_string(j, "rationale"));
    CAIRN_TRY(c.risk, get_string(j, "risk"));
    CAIRN_TRY(c.applies, get_words(j, "applies"));
    CAIRN_CHECKED(check_card(c));
    content->edges.push_back(std::move(c));
  }
  return {};
}

Result<void> read_entry(const Json& j, MemoryContent* content) {
  CAIRN_TRY(const std::string row, get_string(j, "row"));
  if (row == "direction" || row == "local" || row == "edge") return read_card(j, row, content);
  if (row == "evidence") {
    CAIRN_TRY(Evidence e, read_evidence_row(j));
    content->evidence.push_back(std::move(e));
  } else if (row == "run") {
    RunRecord r;
    CAIRN_TRY(r.id, get_string(j, "id"));
    CAIRN_TRY(r.task, get_string(j, "task"));
    CAIRN_TRY(r.family, get_string(j, "family"));
    CAIRN_TRY(r.mode, get_string(j, "mode"));
    CAIRN_TRY(r.device, get_string(j, "device"));
    CAIRN_TRY(r.target, get_string(j, "target"));
    CAIRN_TRY(r.seed, get_count(j, "seed"));
    CAIRN_TRY(r.started, get_int(j, "started"));
    CAIRN_TRY(r.finished, get_int(j, "finished"));
    CAIRN_CHECKED(check_run(r));
    content->runs.push_back(std::move(r));
  } else if (row == "decision") {
    DecisionRecord d;
    CAIRN_TRY(d.run, get_string(j, "run"));
    CAIRN_TRY(d.number, get_count(j, "number"));
    CAIRN_TRY(d.document, get_string(j, "document"));
    CAIRN_CHECKED(check_decision(d));
    content->decisions.push_back(std::move(d));
  } else {
    return Error{Code::parse, fmt::format("unknown row '{}', expected direction, local, edge, run, evidence or decision", row), {}, {}};
  }
  return {};
}

Result<void> read_first_line(const Json& j) {
  CAIRN_TRY(const std::int64_t version, get_int(j, "cairn_memory"));
  if (version < 1 || version > kExchangeVersion) {
    return Error{Code::parse, fmt::format("found version {} of the exchange format, this build reads up to {}", version, kExchangeVersion), {}, {}};
  }
  return {};
}

Error at_line(Error error, const std::string& file, std::size_t number) {
  error.where = {file, static_cast<std::uint32_t>(number), 1, {}};
  return error;
}

}  // namespace

std::string print_exchange(const MemoryContent& content) {
  std::string text = dump_json(Json{{"cairn_memory", kExchangeVersion}}) + "\n";
  const auto add = [&](const auto& entries) {
    for (const auto& entry : entries) text += dump_json(json_of(entry)) + "\n";
  };
  const auto add_cards = [&](const auto& cards) {
    for (const auto& card : cards) {
      if (!is_built_in(card)) text += dump_json(json_of(card)) + "\n";
    }
  };
  add_cards(content.directions);
  add_cards(content.locals);
  add_cards(content.edges);
  add(content.runs);
  add(content.evidence);
  add(content.decisions);
  return text;
}

Result<MemoryContent> parse_exchange(const std::string& text, const std::string& file) {
  MemoryContent content;
  const std::vector<TextLine> lines = split_lines(text);
  for (const auto& [line, number, behind, whole] : lines) {
    if (trim(line).empty()) continue;
    auto json = parse_json(line, file);
    if (!json.ok()) {
      json.error().where.line = static_cast<std::uint32_t>(number);
      return json.error();
    }
    const auto read = number == 1 ? read_first_line(*json) : read_entry(*json, &content);
    if (!read.ok()) return at_line(read.error(), file, number);
  }
  if (lines.empty()) return at_line({Code::parse, "found an empty file, expected the line {\"cairn_memory\": 1}", {}, {}}, file, 1);
  return content;
}

}  // namespace cairn
