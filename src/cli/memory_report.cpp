// cairn memory report: the memory and a run's search tree as one page.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <map>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "cli/cmd_memory.h"
#include "report/memory_page.h"

namespace cairn {

namespace {

void add_statistics(const NodeStatistics& n, Json* json) {
  json->update(Json{{"tries", n.tries}, {"passed", n.passed}, {"failed", n.failed}, {"improved", n.improved}, {"gain_mean", n.gain_mean},
                    {"gain_variance", n.gain_variance}, {"gain_trend", n.gain_trend}, {"credit_mean", n.credit_mean}});
}

// What docs/formats/memory-page.md calls `memory`.
Json picture_of(const MemoryContent& content, const std::vector<NodeStatistics>& statistics, const std::string& file) {
  using Name = std::pair<std::string, std::string>;
  std::map<Name, NodeStatistics> nodes;   // part and name
  std::map<Name, std::string> rationales;
  for (const NodeStatistics& n : statistics) {
    if (n.lag == 0) nodes[{n.part, n.node}] = n;
  }
  for (const EdgeCard& card : content.edges) rationales[{card.origin, card.node}] = card.rationale;
  std::map<std::string, std::set<std::string>> locals;   // cards, and whatever evidence names
  for (const DirectionCard& card : content.directions) locals[card.name];
  for (const LocalCard& card : content.locals) locals[card.direction].insert(card.name);
  for (const Evidence& row : content.evidence) {
    if (row.kind != EvidenceKind::inner) locals[row.direction].insert(row.local);
  }
  std::vector<std::pair<std::string, std::string>> directions;   // name, intent
  for (const DirectionCard& card : content.directions) directions.emplace_back(card.name, card.intent);
  for (const auto& [name, unused] : locals) {
    const bool known = std::any_of(directions.begin(), directions.end(), [&, n = &name](const auto& d) { return d.first == *n; });
    if (!known) directions.emplace_back(name, "");
  }
  const MemoryTotals totals = count_totals(content);
  Json picture{{"memory", file}, {"rows", totals.rows}, {"tasks", totals.tasks}, {"runs", totals.runs}, {"directions", Json::array()}, {"edges",
      Json::array()}};
  for (const auto& [name, intent] : directions) {
    Json direction{{"name", name}, {"intent", intent}};
    add_statistics(nodes[{"direction", name}], &direction);
    direction["locals"] = Json::array();
    for (const std::string& local : locals[name]) {
      Json json{{"name", local}};
      add_statistics(nodes[{"local", local}], &json);
      direction["locals"].push_back(std::move(json));
    }
    picture["directions"].push_back(std::move(direction));
  }
  for (const NodeStatistics& n : statistics) {
    if (n.part != "direction" || n.lag != 1) continue;
    Json edge{{"from", n.origin}, {"node", n.node}};
    add_statistics(n, &edge);
    if (const auto it = rationales.find({n.origin, n.node}); it != rationales.end()) edge["rationale"] = it->second;
    picture["edges"].push_back(std::move(edge));
  }
  return picture;
}

// The journal that --run names: the file itself, or the one in its directory.
Result<std::string> find_journal(const std::string& run) {
  const std::string hint = "give a directory that 'cairn search --out' wrote, or its journal";
  if (!file_exists(run)) return Error{Code::usage, run + ": no such file or directory", {}, {hint}};
  if (!list_directory(run).ok()) return run;
  const std::string path = join_path(run, "journal.jsonl");
  if (file_exists(path)) return path;
  return Error{Code::usage, run + " is the directory of no run: found no journal.jsonl in it", {}, {hint}};
}

// The lines of a journal; a torn last line belongs to a run that goes on or was killed, and is left out.
Result<Json> read_journal(const std::string& path) {
  CAIRN_TRY(const std::string text, read_file(path));
  Json run{{"header", Json::object()}, {"records", Json::array()}, {"end", ""}};
  for (const auto& [content, number, behind, whole] : split_lines(text)) {
    if (!whole) break;
    const auto parsed = parse_json(content, path);
    if (!parsed.ok() || !parsed->is_object()) {
      return Error{Code::parse, fmt::format("{}:{}: found no JSON object, expected a line of a journal", path, number), {}, {}};
    }
    const Json& line = *parsed;
    if (number == 1 && !line.contains("cairn_journal")) {
      return Error{Code::parse, fmt::format("{}:1: found no key 'cairn_journal', expected the first line of a journal", path), {}, {}};
    }
    if (number == 1) run["header"] = line;
    if (line.contains("n")) run["records"].push_back(line);
    if (line.contains("end")) run["end"] = line["end"];
  }
  return run;
}

}  // namespace

CommandRun setup_memory_report(CLI::App& app) {
  struct Options { std::string run, out; };
  auto options = std::make_shared<Options>();
  app.add_option("--run", options->run, "directory of a search with its journal, or the journal: its tree is drawn too");
  app.add_option("-o", options->out, "page to write (also --out; default memory-report.html)");
  return [options](Session& session) -> Result<int> {
    CAIRN_TRY(const MemoryStore store, open_memory(session, MemoryStore::Mode::read));
    CAIRN_TRY(const MemoryContent content, store.snapshot());
    CAIRN_TRY(const std::vector<NodeStatistics> statistics, store.statistics());
    Json run;
    if (!options->run.empty()) {
      CAIRN_TRY(const std::string journal, find_journal(options->run));
      CAIRN_TRY(run, read_journal(journal));
    }
    std::string out = options->out.empty() ? session.settings.value("out") : options->out;
    if (out.empty()) out = "memory-report.html";
    CAIRN_CHECKED(spare_database(out));
    const std::string memory = session.subject;
    CAIRN_CHECKED(write_file_atomic(out, render_memory_page(picture_of(content, statistics, memory), run)));
    session.subject = out;
    session.answer(Json{{"memory", memory}, {"rows", content.evidence.size()}, {"proposals", run.is_object() ? run["records"].size() : 0}},
                   fmt::format("wrote {}\n", out));
    return 0;
  };
}

}  // namespace cairn
