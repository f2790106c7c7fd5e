#include "memory/store_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <set>

namespace cairn {

namespace {

constexpr std::string_view kEvidenceColumns =
    "id, run, number, parent, task, family, features, bottleneck, direction, local, direction_1, direction_2, local_1, local_2, arguments, "
    "argument_class, gain, credit, kind, outcome, certificate, device, architecture, device_kind, implementer, program, trace, date, trusted";

std::string join_numbers(const std::vector<double>& numbers) {
  std::string text;
  for (const double x : numbers) text += fmt::format("{}{}", text.empty() ? "" : " ", x);
  return text;
}

// What join_numbers wrote; a damaged tail is left out.
std::vector<double> split_numbers(const std::string& text) {
  std::vector<double> numbers;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    double x = 0;
    const auto [next, code] = std::from_chars(at, end, x);
    if (code != std::errc{}) break;
    numbers.push_back(x);
    at = next + 1;
  }
  return numbers;
}

std::string join_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

Result<void> write_evidence(const Database& database, const std::vector<Evidence>& rows) {
  if (rows.empty()) return {};
  CAIRN_TRY(Statement insert, database.prepare(fmt::format(
      "INSERT OR REPLACE INTO evidence ({}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", kEvidenceColumns)));
  for (const Evidence& e : rows) {
    insert.bind(e.id).bind(e.run).bind(static_cast<std::int64_t>(e.number)).bind(static_cast<std::int64_t>(e.parent));
    insert.bind(e.task.name).bind(e.task.family).bind(join_numbers(e.task.features)).bind(e.bottleneck).bind(e.direction).bind(e.local);
    insert.bind(e.directions[0]).bind(e.directions[1]).bind(e.locals[0]).bind(e.locals[1]).bind(e.arguments).bind(e.argument_class);
    insert.bind(e.gain).bind(e.credit).bind(evidence_kind_name(e.kind)).bind(e.outcome).bind(e.certificate);
    insert.bind(e.device.fingerprint).bind(e.device.architecture).bind(e.device.kind).bind(e.implementer).bind(e.program).bind(e.trace);
    insert.bind(e.date).bind(std::int64_t{e.trusted});
    CAIRN_CHECKED(insert.run());
  }
  return {};
}

Result<Evidence> read_row(Statement& s, const Database& database) {
  Evidence e;
  e.id = s.digest();
  e.run = s.text();
  e.number = static_cast<std::uint64_t>(s.integer());
  e.parent = static_cast<std::uint64_t>(s.integer());
  e.task.name = s.text();
  e.task.family = s.text();
  e.task.features = split_numbers(s.text());
  e.bottleneck = s.text();
  e.direction = s.text();
  e.local = s.text();
  for (std::string& text : e.directions) text = s.text();
  for (std::string& text : e.locals) text = s.text();
  e.arguments = s.text();
  e.argument_class = s.text();
  e.gain = s.real();
  e.credit = s.real();
  if (!std::isfinite(e.gain) || !std::isfinite(e.credit)) {
    return Error{Code::parse, fmt::format("{} is damaged: row {} has gain {} and credit {}, expected finite numbers", database.path(), e.id.hex(),
                                          e.gain, e.credit), {}, {}};
  }
  const std::string kind = s.text();
  if (!parse_evidence_kind(kind, &e.kind)) {
    return Error{Code::parse, fmt::format("{} is damaged: row {} has kind '{}'", database.path(), e.id.hex(), kind), {}, {}};
  }
  e.outcome = s.text();
  e.certificate = s.text();
  e.device = {s.text(), s.text(), s.text()};
  e.implementer = s.text();
  e.program = s.digest();
  e.trace = s.digest();
  e.date = s.integer();
  e.trusted = s.integer() != 0;
  return e;
}

template <class Row, class Read>
Result<std::vector<Row>> read_all(const Database& database, std::string_view sql, Read read) {
  CAIRN_TRY(Statement statement, database.prepare(sql));
  std::vector<Row> rows;
  for (;;) {
    CAIRN_TRY(const bool more, statement.step());
    if (!more) return rows;
    rows.push_back(read(statement));
  }
}

}  // namespace

Result<void> write_content(const Database& database, const MemoryContent& content) {
  CAIRN_TRY(Statement direction, database.prepare("INSERT OR REPLACE INTO direction (name, intent, objective, risks, triggers, trusted) "
                                                  "VALUES (?,?,?,?,?,?)"));
  for (const DirectionCard& c : content.directions) {
    direction.bind(c.name).bind(c.intent).bind(c.objective).bind(c.risks).bind(join_words(c.triggers)).bind(std::int64_t{c.trusted});
    CAIRN_CHECKED(direction.run());
  }
  CAIRN_TRY(Statement local, database.prepare("INSERT OR REPLACE INTO local (direction, name, pays, edit, checks, trusted) VALUES (?,?,?,?,?,?)"));
  for (const LocalCard& c : content.locals) {
    local.bind(c.direction).bind(c.name).bind(c.when).bind(c.how).bind(c.checks).bind(std::int64_t{c.trusted});
    CAIRN_CHECKED(local.run());
  }
  CAIRN_TRY(Statement edge, database.prepare("INSERT OR REPLACE INTO edge (origin, node, rationale, risk, applies, trusted) VALUES (?,?,?,?,?,?)"));
  for (const EdgeCard& c : content.edges) {
    edge.bind(c.origin).bind(c.node).bind(c.rationale).bind(c.risk).bind(join_words(c.applies)).bind(std::int64_t{c.trusted});
    CAIRN_CHECKED(edge.run());
  }
  CAIRN_TRY(Statement run, database.prepare("INSERT OR REPLACE INTO run (id, task, family, mode, device, target, seed, started, finished, "
                                            "trusted) VALUES (?,?,?,?,?,?,?,?,?,?)"));
  for (const RunRecord& r : content.runs) {
    run.bind(r.id).bind(r.task).bind(r.family).bind(r.mode).bind(r.device).bind(r.target).bind(static_cast<std::int64_t>(r.seed));
    run.bind(r.started).bind(r.finished).bind(std::int64_t{r.trusted});
    CAIRN_CHECKED(run.run());
  }
  CAIRN_CHECKED(write_evidence(database, content.evidence));
  CAIRN_TRY(Statement decision, database.prepare("INSERT OR REPLACE INTO decision (run, number, document, trusted) VALUES (?,?,?,?)"));
  for (const DecisionRecord& d : content.decisions) {
    decision.bind(d.run).bind(static_cast<std::int64_t>(d.number)).bind(d.document).bind(std::int64_t{d.trusted});
    CAIRN_CHECKED(decision.run());
  }
  return {};
}

Result<MemoryContent> read_content(const Database& database, const EvidenceQuery& query) {
  MemoryContent content;
  CAIRN_TRY(content.directions, read_directions(database));
  CAIRN_TRY(content.locals, read_locals(database));
  CAIRN_TRY(content.edges, read_edges(database));
  CAIRN_TRY(content.runs, read_runs(database));
  CAIRN_TRY(content.evidence, read_evidence(database, query));
  CAIRN_TRY(content.decisions, read_decisions(database));
  return content;
}

Result<std::vector<Evidence>> read_evidence(const Database& database, const EvidenceQuery& query) {
  const RowSelection selection = select_rows(query);
  CAIRN_TRY(Statement select, database.prepare(fmt::format("SELECT {} FROM evidence WHERE {} ORDER BY id", kEvidenceColumns, selection.sql)));
  selection.bind_to(select);
  std::vector<Evidence> rows;
  for (;;) {
    CAIRN_TRY(const bool more, select.step());
    if (!more) return rows;
    CAIRN_TRY(Evidence row, read_row(select, database));
    rows.push_back(std::move(row));
  }
}

Result<std::vector<DirectionCard>> read_directions(const Database& database) {
  return read_all<DirectionCard>(database, "SELECT name, intent, objective, risks, triggers, trusted FROM direction ORDER BY name", [](Statement& s) {
    DirectionCard c{s.text(), s.text(), s.text(), s.text(), {}, true};
    c.triggers = split_words(s.text());
    c.trusted = s.integer() != 0;
    return c;
  });
}

Result<std::vector<LocalCard>> read_locals(const Database& database) {
  return read_all<LocalCard>(database, "SELECT name, direction, pays, edit, checks, trusted FROM local ORDER BY name, direction", [](Statement& s) {
    LocalCard c{s.text(), s.text(), s.text(), s.text(), s.text(), true};
    c.trusted = s.integer() != 0;
    return c;
  });
}

Result<std::vector<EdgeCard>> read_edges(const Database& database) {
  return read_all<EdgeCard>(database, "SELECT origin, node, rationale, risk, applies, trusted FROM edge ORDER BY origin, node", [](Statement& s) {
    EdgeCard c{s.text(), s.text(), s.text(), s.text(), split_words(s.text()), true};
    c.trusted = s.integer() != 0;
    return c;
  });
}

Result<std::vector<RunRecord>> read_runs(const Database& database) {
  return read_all<RunRecord>(database, "SELECT id, task, family, mode, device, target, seed, started, finished, trusted FROM run ORDER BY id",
                             [](Statement& s) {
    RunRecord r{s.text(), s.text(), s.text(), s.text(), s.text(), s.text(), 0, 0, 0, true};
    r.seed = static_cast<std::uint64_t>(s.integer());
    r.started = s.integer();
    r.finished = s.integer();
    r.trusted = s.integer() != 0;
    return r;
  });
}

Result<std::vector<DecisionRecord>> read_decisions(const Database& database) {
  return read_all<DecisionRecord>(database, "SELECT run, number, document, trusted FROM decision ORDER BY run, number", [](Statement& s) {
    DecisionRecord d{s.text(), static_cast<std::uint64_t>(s.integer()), {}, true};
    d.document = s.text();
    d.trusted = s.integer() != 0;
    return d;
  });
}

Result<std::vector<NodeStatistics>> read_statistics(const Database& database) {
  return read_all<NodeStatistics>(
      database, "SELECT part, origin, node, lag, tries, passed, failed, improved, gain_mean, gain_variance, gain_trend, credit_mean FROM statistics "
                "ORDER BY part, origin, node, lag", [](Statement& s) {
        NodeStatistics n{s.text(), s.text(), s.text(), static_cast<int>(s.integer())};
        for (std::uint64_t* count : {&n.tries, &n.passed, &n.failed, &n.improved}) *count = static_cast<std::uint64_t>(s.integer());
        for (double* value : {&n.gain_mean, &n.gain_variance, &n.gain_trend, &n.credit_mean}) *value = s.real();
        return n;
      });
}

Result<std::vector<DeviceRows>> read_devices(const Database& database) {
  return read_all<DeviceRows>(database, "SELECT device, architecture, device_kind, count(*), max(date) FROM evidence "
                                        "GROUP BY device, architecture, device_kind ORDER BY count(*) DESC, device, architecture, device_kind",
                              [](Statement& s) {
    DeviceRows d{{s.text(), s.text(), s.text()}, 0, 0};
    d.rows = static_cast<std::uint64_t>(s.integer());
    d.newest = s.integer();
    return d;
  });
}

Statement& RowSelection::bind_to(Statement& statement) const {
  for (const std::string& text : texts) statement.bind(text);
  for (const std::int64_t value : integers) statement.bind(value);
  return statement;
}

RowSelection select_rows(const EvidenceQuery& query) {
  RowSelection selection{"1", {}, {}};
  const std::pair<const char*, const std::string*> fields[] = {
      {"task", &query.task}, {"family", &query.family}, {"run", &query.run}, {"direction", &query.direction}, {"local", &query.local}};
  for (const auto& [name, value] : fields) {
    if (value->empty()) continue;
    selection.sql += fmt::format(" AND {} = ?", name);
    selection.texts.push_back(*value);
  }
  if (query.newest != 0) {
    selection.sql += " AND date <= ?";
    selection.integers.push_back(query.newest);
  }
  return selection;
}

RowSelection select_prunable(std::int64_t older_than, const EvidenceQuery& query, std::uint64_t keep) {
  RowSelection selection = select_rows(query);
  selection.sql = fmt::format("id IN (SELECT id FROM evidence WHERE {} ORDER BY date DESC, id LIMIT -1 OFFSET ?)", selection.sql);
  selection.integers.push_back(static_cast<std::int64_t>(std::min<std::uint64_t>(keep, INT64_MAX)));
  if (older_than != 0) {
    selection.sql += " AND date < ?";
    selection.integers.push_back(older_than);
  }
  return selection;
}

Result<void> delete_evidence(const Database& database, const RowSelection& selection, std::uint64_t* deleted) {
  CAIRN_TRY(Statement remove, database.prepare("DELETE FROM evidence WHERE " + selection.sql + " RETURNING run"));
  selection.bind_to(remove);
  std::set<std::string> runs;
  for (*deleted = 0;; ++*deleted) {
    CAIRN_TRY(const bool more, remove.step());
    if (!more) break;
    runs.insert(remove.text());
  }
  CAIRN_TRY(Statement decisions, database.prepare("DELETE FROM decision WHERE run = ?1 AND NOT EXISTS (SELECT 1 FROM evidence WHERE run = ?1)"));
  CAIRN_TRY(Statement records, database.prepare("DELETE FROM run WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM evidence WHERE run = ?1)"));
  for (const std::string& run : runs) {
    CAIRN_CHECKED(decisions.bind(run).run());
    CAIRN_CHECKED(records.bind(run).run());
  }
  return {};
}

}  // namespace cairn
