// cairn memory show, stats, why.
#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "cli/cmd_memory.h"
#include "cli/counts.h"
#include "cli/load.h"
#include "eval/compile.h"
#include "eval/evaluator.h"
#include "memory/decision_json.h"
#include "memory/evidence_sums.h"
#include "memory/guide.h"

namespace cairn {

namespace {

Json statistics_json(const NodeStatistics& n) {
  return {{"part", n.part}, {"from", n.origin}, {"node", n.node}, {"lag", n.lag}, {"tries", n.tries}, {"passed", n.passed}, {"failed", n.failed},
          {"improved", n.improved}, {"gain_mean", n.gain_mean}, {"gain_variance", n.gain_variance}, {"gain_trend", n.gain_trend},
          {"credit_mean", n.credit_mean}};
}

std::string name_of(const NodeStatistics& n) {
  return n.lag == 0 ? n.node : fmt::format("{} -> {}{}", n.origin, n.node, n.lag == 1 ? "" : " (two steps on)");
}

constexpr const char* kNumbersHead = "  tries passed improved     gain    trend   credit";
std::string numbers_text(const NodeStatistics& n) {
  return fmt::format("{:>7} {:>6} {:>8} {:>+8.4f} {:>+8.4f} {:>+8.4f}", n.tries, n.passed, n.improved, n.gain_mean, n.gain_trend, n.credit_mean);
}

// Statistics of nodes by part and name; zeros for what was never tried.
class Nodes {
 public:
  explicit Nodes(std::vector<NodeStatistics> all) : all_(std::move(all)) {}
  NodeStatistics find(const std::string& part, const std::string& node) const {
    for (const NodeStatistics& n : all_) {
      if (n.lag == 0 && n.part == part && n.node == node) return n;
    }
    NodeStatistics none;
    none.part = part;
    none.node = node;
    return none;
  }
  std::vector<NodeStatistics> edges_of(const std::string& part, const std::string& name) const {
    std::vector<NodeStatistics> edges;
    std::copy_if(all_.begin(), all_.end(), std::back_inserter(edges),
                 [&](const NodeStatistics& n) { return n.lag > 0 && n.part == part && (n.node == name || n.origin == name); });
    return edges;
  }
  const std::vector<NodeStatistics>& all() const { return all_; }

 private:
  std::vector<NodeStatistics> all_;
};

std::string totals_text(const Session& session, const MemoryTotals& t) {
  const std::string inner = t.inner == 0 ? "" : fmt::format(", and {} actions inside composites", t.inner);
  return fmt::format("{}: {} rows of {} tasks in {} runs{}\n", session.subject, t.rows, t.tasks, t.runs, inner);
}

const char* trust_note(bool trusted) { return trusted ? "" : "  (imported; enters no prompt)"; }

Json rows_json(const std::vector<Evidence>& rows) {
  Json list = Json::array();
  for (const Evidence& e : rows) {
    list.push_back({{"run", e.run}, {"number", e.number}, {"task", e.task.name}, {"family", e.task.family}, {"bottleneck", e.bottleneck},
                    {"direction", e.direction}, {"local", e.local}, {"arguments", e.arguments}, {"kind", std::string(evidence_kind_name(e.kind))},
                    {"outcome", e.outcome}, {"certificate", e.certificate}, {"gain", e.gain}, {"credit", e.credit}, {"date", print_utc(e.date)},
                    {"trusted", e.trusted}});
  }
  return list;
}

std::string rows_text(const std::vector<Evidence>& rows) {
  std::string text;
  for (const Evidence& e : rows) {
    text += fmt::format("{}  {:<12} #{:<5} {:<20} {:<8} {:<7} {:>+8.4f} {:>+8.4f}  {} {}\n", print_utc(e.date).substr(0, 10), e.run.substr(0, 12), e.number,
                        e.task.name,
                        e.bottleneck, evidence_kind_name(e.kind), e.gain, e.credit, e.local, e.arguments);
  }
  return text;
}

// The newest rows, newest first; actions inside a composite, where wanted, after it.
std::vector<Evidence> newest_rows(std::vector<Evidence> rows, std::size_t limit, bool inner) {
  if (!inner) std::erase_if(rows, [](const Evidence& row) { return row.kind == EvidenceKind::inner; });
  std::sort(rows.begin(), rows.end(), [](const Evidence& a, const Evidence& b) {
    const bool a_inner = a.kind == EvidenceKind::inner, b_inner = b.kind == EvidenceKind::inner;
    return std::tie(b.date, b.run, b.number, a_inner, b.id) < std::tie(a.date, a.run, a.number, b_inner, a.id);
  });
  if (rows.size() > limit) rows.resize(limit);
  return rows;
}

// Locals of a direction, with a card or seen in evidence, and whether their texts are trusted.
std::map<std::string, bool> locals_of(const MemoryContent& content, const std::string& direction) {
  std::map<std::string, bool> locals;
  for (const LocalCard& card : content.locals) {
    if (card.direction == direction) locals[card.name] = card.trusted;
  }
  for (const Evidence& row : content.evidence) {
    if (row.direction == direction) locals.try_emplace(row.local, true);
  }
  return locals;
}

Result<int> show_all(Session& session, const MemoryContent& content, const Nodes& nodes, bool all) {
  Json directions = Json::array();
  std::string text = totals_text(session, count_totals(content)) + fmt::format("\n{:<34}{}\n", "", kNumbersHead);
  for (const DirectionCard& card : content.directions) {
    const NodeStatistics own = nodes.find("direction", card.name);
    Json locals = Json::array();
    text += fmt::format("{:<34}{}  at {}{}\n", card.name, numbers_text(own), fmt::join(card.triggers, " "), trust_note(card.trusted));
    for (const auto& [local, trusted] : locals_of(content, card.name)) {
      const NodeStatistics n = nodes.find("local", local);
      Json row = statistics_json(n);
      row["trusted"] = trusted;
      locals.push_back(std::move(row));
      if (n.tries > 0 || all) text += fmt::format("  {:<32}{}{}\n", local, numbers_text(n), trust_note(trusted));
    }
    Json row = statistics_json(own);
    row["intent"] = card.intent;
    row["triggers"] = card.triggers;
    row["trusted"] = card.trusted;
    row["locals"] = std::move(locals);
    directions.push_back(std::move(row));
  }
  const MemoryTotals t = count_totals(content);
  session.answer(Json{{"rows", t.rows}, {"inner", t.inner}, {"tasks", t.tasks}, {"runs", t.runs}, {"directions", directions}}, text);
  return 0;
}

std::string edges_text(const std::vector<NodeStatistics>& edges) {
  if (edges.empty()) return {};
  std::string text = fmt::format("\n{:<50}{}\n", "edges", kNumbersHead);
  for (const NodeStatistics& e : edges) text += fmt::format("{:<50}{}\n", name_of(e), numbers_text(e));
  return text;
}

// One direction or local strategy: what is known, what it gained, what came before and after, its newest rows.
Result<int> show_one(Session& session, const MemoryContent& content, const Nodes& nodes, const std::string& name, std::size_t limit, bool all) {
  Json cards = Json::array();
  std::string text, part;
  for (const DirectionCard& c : content.directions) {
    if (c.name != name) continue;
    part = "direction";
    text += fmt::format("direction {}{}\nintent     {}\nobjective  {}\nrisks      {}\ntriggers   {}\n", c.name, trust_note(c.trusted), c.intent, c.objective,
                        c.risks, fmt::join(c.triggers, " "));
    cards.push_back({{"card", part}, {"name", c.name}, {"intent", c.intent}, {"objective", c.objective}, {"risks", c.risks}, {"triggers", c.triggers},
                     {"trusted", c.trusted}});
  }
  for (const LocalCard& c : content.locals) {
    if (c.name != name) continue;
    part = "local";
    text += fmt::format("local {} of {}{}\nwhen    {}\nhow     {}\nchecks  {}\n", c.name, c.direction, trust_note(c.trusted), c.when, c.how, c.checks);
    cards.push_back({{"card", part}, {"name", c.name}, {"direction", c.direction}, {"when", c.when}, {"how", c.how}, {"checks", c.checks},
                     {"trusted", c.trusted}});
  }
  std::vector<Evidence> rows;
  for (const Evidence& row : content.evidence) {
    if (row.local == name) rows.push_back(row), part = "local";
    else if (row.direction == name) rows.push_back(row), part = "direction";
  }
  if (part.empty()) {
    return Error{Code::usage, fmt::format("{} knows no direction and no local strategy '{}'", session.subject, name), {},
                 {"'cairn memory show --all' lists them"}};
  }
  if (cards.empty()) text += fmt::format("{} {}: known from evidence, it has no card\n", part, name);
  const NodeStatistics own = nodes.find(part, name);
  const std::vector<NodeStatistics> edges = nodes.edges_of(part, name);
  const std::vector<Evidence> newest = newest_rows(std::move(rows), limit, all);
  text += fmt::format("\n{:<50}{}\n{:<50}{}\n", "", kNumbersHead, name, numbers_text(own)) + edges_text(edges);
  if (!newest.empty()) text += "\nnewest rows (gain, credit)\n" + rows_text(newest);
  Json edge_list = Json::array();
  for (const NodeStatistics& e : edges) edge_list.push_back(statistics_json(e));
  session.answer(Json{{"name", name}, {"cards", cards}, {"statistics", statistics_json(own)}, {"edges", edge_list}, {"newest", rows_json(newest)}}, text);
  return 0;
}

// The device that runs candidates here, without making an evaluator.
Result<DeviceMark> device_here(Session& session) {
  CAIRN_TRY(const Target target, load_target(session));
  const auto compiler = Compiler::create({}, 30);
  return mark_device(describe_cpu_device(target, compiler.ok() ? (*compiler)->version() : std::string()), target);
}

struct DeviceWeight {
  DeviceRows rows;
  double each = 0;    // of a fresh passed row with the best certificate
  double sum = 0;     // of its rows as they are
};

std::vector<DeviceWeight> weigh_devices(const std::vector<DeviceRows>& devices, const std::vector<Evidence>& evidence, const DeviceMark& here,
                                        std::int64_t now) {
  const PolicyParameters parameters;
  std::vector<DeviceWeight> weights;
  for (const DeviceRows& d : devices) {
    DeviceWeight w{d, 0, 0};
    Evidence fresh;
    fresh.device = d.device;
    fresh.certificate = "executed";
    fresh.date = now;
    w.each = weigh_evidence(fresh, here, now, parameters);
    for (const Evidence& row : evidence) {
      const bool counts = row.kind == EvidenceKind::passed || row.kind == EvidenceKind::failed;
      if (counts && row.device == d.device) w.sum += weigh_evidence(row, here, now, parameters);
    }
    weights.push_back(std::move(w));
  }
  return weights;
}

// Probabilities are there if one was drawn by them; else the largest score was taken.
bool is_drawn(const std::vector<Scored>& list) {
  return std::any_of(list.begin(), list.end(), [](const Scored& s) { return s.probability > 0; });
}

std::string scored_text(std::vector<Scored> list, const std::string& chosen) {
  const bool drawn = is_drawn(list);
  // The order of what was drawn from is the order of its intervals.
  if (!drawn) std::stable_sort(list.begin(), list.end(), [](const Scored& a, const Scored& b) { return a.score > b.score; });
  std::string text;
  for (const Scored& s : list) {
    const std::string probability = drawn ? fmt::format("{:.4f}", s.probability) : "-";
    std::string terms;
    for (const Term& t : s.terms) terms += fmt::format("{}{} {:+.4f}", terms.empty() ? "" : ", ", t.name, t.value);
    text += fmt::format("{} {:<32} {:>+9.4f} {:>11}  {}\n", s.name == chosen ? '>' : ' ', s.name, s.score, probability, terms);
  }
  return text;
}

// Which part of [0, 1) leads to the chosen name.
std::string draw_text(double draw, const std::vector<Scored>& list, const std::string& chosen) {
  double low = 0;
  for (const Scored& s : list) {
    if (s.name == chosen) return fmt::format("draw {:.4f} lies in [{:.4f}, {:.4f}) of {}\n", draw, low, low + s.probability, chosen);
    low += s.probability;
  }
  return fmt::format("draw {:.4f}\n", draw);
}

std::string decision_text(const StoredDecision& stored, const DecisionRecord& record) {
  const Decision& d = stored.decision;
  const DecisionState& s = stored.state;
  std::string shares, before;
  for (const auto& [name, share] : s.time_shares) shares += fmt::format("{}{} {:.2f}", shares.empty() ? "" : ", ", name, share);
  for (std::size_t k = 0; k < s.directions.size(); ++k) {
    if (s.directions[k].empty()) continue;
    before += fmt::format("{}{}", before.empty() ? "" : ", before that ", s.directions[k]);
    if (s.locals[k] != s.directions[k] && !s.locals[k].empty()) before += "/" + s.locals[k];
  }
  std::string text = fmt::format("run {}, decision {}: {}/{}{}\ntask   {} ({}) on {}\nlimit  {} ({})\nafter  {}\n", record.run, record.number,
                                 d.direction, d.local, trust_note(record.trusted), s.task.name, s.task.family, s.device.fingerprint, s.bottleneck, shares,
                                 before);
  if (!s.closed.empty()) text += fmt::format("closed {}\n", fmt::join(s.closed, " "));
  constexpr const char* kHead = "\n  {:<32} {:>9} {:>11}  {}\n";
  if (!d.directions.empty()) {
    text += fmt::format(kHead, "direction", "score", "probability", "terms") + scored_text(d.directions, d.direction) +
            draw_text(d.draw, d.directions, d.direction);
  }
  if (!d.locals.empty()) {
    text += fmt::format(kHead, "local", "score", "probability", "terms") + scored_text(d.locals, d.local);
    if (is_drawn(d.locals)) text += draw_text(d.draw, d.locals, d.local);
    else if (d.locals.size() > 1) text += "the largest score was taken; \"noise\" is its random draw\n";
  }
  return text;
}

// The run whose id is or begins with the text; the error names the newest runs that decided by memory.
Result<std::string> find_run(const MemoryStore& store, const std::string& text) {
  CAIRN_TRY(std::vector<RunRecord> runs, store.runs());
  std::sort(runs.begin(), runs.end(), [](const RunRecord& a, const RunRecord& b) { return std::tie(b.started, a.id) < std::tie(a.started, b.id); });
  std::vector<const RunRecord*> named;
  for (const RunRecord& r : runs) {
    if (r.id == text) return text;
    if (!text.empty() && r.id.rfind(text, 0) == 0) named.push_back(&r);
  }
  if (named.size() == 1) return named[0]->id;
  Error error{Code::usage, fmt::format("{} has no run '{}'", store.path(), text), {}, {}};
  if (!named.empty()) error.message = fmt::format("{} runs of {} begin with '{}', expected more of the id", named.size(), store.path(), text);
  std::size_t listed = 0;
  for (const RunRecord& r : runs) {
    if ((!named.empty() && std::find(named.begin(), named.end(), &r) == named.end()) || listed == 5) continue;
    CAIRN_TRY(const std::uint64_t decisions, store.count_decisions(r.id));
    if (decisions == 0 && named.empty()) continue;
    error.notes.push_back(fmt::format("run {} of {}: {}, {} decisions", r.id, print_utc(r.started), r.task, decisions));
    ++listed;
  }
  return error;
}

}  // namespace

CommandRun setup_memory_show(CLI::App& app) {
  struct Options { std::string name; EvidenceQuery query; bool all = false; std::size_t limit = 20; };
  auto options = std::make_shared<Options>();
  app.add_option("name", options->name, "a direction or a local strategy");
  add_query_options(app, &options->query);
  app.add_flag("--all", options->all, "also what was never tried, and actions inside composites");
  app.add_option("--limit", options->limit, "rows shown")->check(whole_number());
  return [options](Session& session) -> Result<int> {
    CAIRN_TRY(const MemoryStore store, open_memory(session, MemoryStore::Mode::read));
    if (!options->query.run.empty()) {
      CAIRN_TRY(options->query.run, find_run(store, options->query.run));
    }
    CAIRN_TRY(const MemoryContent content, store.snapshot(options->query));
    CAIRN_TRY(std::vector<NodeStatistics> statistics, store.statistics());
    const Nodes nodes(std::move(statistics));
    if (!options->name.empty()) return show_one(session, content, nodes, options->name, options->limit, options->all);
    const EvidenceQuery& q = options->query;
    if (q.task.empty() && q.family.empty() && q.run.empty() && q.direction.empty() && q.local.empty()) return show_all(session, content, nodes, options->all);
    const std::vector<Evidence> rows = newest_rows(content.evidence, options->limit, options->all);
    const MemoryTotals t = count_totals(content);
    session.answer(Json{{"rows", t.rows}, {"inner", t.inner}, {"tasks", t.tasks}, {"runs", t.runs},
                        {"newest", rows_json(rows)}}, totals_text(session, t) + rows_text(rows));
    return 0;
  };
}

CommandRun setup_memory_stats(CLI::App&) {
  return [](Session& session) -> Result<int> {
    CAIRN_TRY(const MemoryStore store, open_memory(session, MemoryStore::Mode::read));
    CAIRN_TRY(const MemoryContent content, store.snapshot());
    CAIRN_TRY(const std::vector<NodeStatistics> statistics, store.statistics());
    CAIRN_TRY(const std::vector<DeviceRows> devices, store.devices());
    CAIRN_TRY(const DeviceMark here, device_here(session));
    std::map<std::string, std::uint64_t> kinds;
    for (const Evidence& row : content.evidence) ++kinds[std::string(evidence_kind_name(row.kind))];
    const MemoryTotals t = count_totals(content);
    std::string text = totals_text(session, t);
    for (const auto& [kind, count] : kinds) text += fmt::format("  {:<8} {}\n", kind, count);
    Json nodes = Json::array();
    const std::pair<const char*, bool> tables[] = {{"direction", false}, {"local", false}, {"direction", true}, {"local", true}};
    for (const auto& [part, edges] : tables) {
      text += fmt::format("\n{:<60}{}\n", fmt::format("{}{}", part, edges ? " to " + std::string(part) : "s"), kNumbersHead);
      for (const NodeStatistics& n : statistics) {
        if (n.part != part || (n.lag > 0) != edges) continue;
        nodes.push_back(statistics_json(n));
        text += fmt::format("{:<60}{}\n", name_of(n), numbers_text(n));
      }
    }
    text += fmt::format("\nhere: {} ({}, {})\n{:>8} {:>12} {:>10}  {:<10}  device\n", here.fingerprint, here.architecture, here.kind, "rows", "weight each",
                        "all weigh", "newest");
    Json weights = Json::array();
    for (const DeviceWeight& w : weigh_devices(devices, content.evidence, here, session.clock.epoch())) {
      weights.push_back({{"device", w.rows.device.fingerprint}, {"architecture", w.rows.device.architecture}, {"kind", w.rows.device.kind},
                         {"rows", w.rows.rows}, {"newest", print_utc(w.rows.newest)}, {"weight_each", w.each}, {"weight", w.sum}});
      text += fmt::format("{:>8} {:>12.2f} {:>10.2f}  {:<10}  {}\n", w.rows.rows, w.each, w.sum, print_utc(w.rows.newest).substr(0, 10),
                          w.rows.device.fingerprint);
    }
    session.answer(Json{{"rows", t.rows}, {"inner", t.inner}, {"tasks", t.tasks}, {"runs", t.runs}, {"kinds", kinds}, {"nodes", nodes},
                        {"here", here.fingerprint},
                        {"devices", weights}}, text);
    return 0;
  };
}

CommandRun setup_memory_why(CLI::App& app) {
  struct Options { std::string run; std::uint64_t number = 0; };
  auto options = std::make_shared<Options>();
  app.add_option("run", options->run, "id of a run, or how the id of one begins")->required();
  app.add_option("number", options->number, "number of the proposal that the decision led to")->required()->check(whole_number());
  return [options](Session& session) -> Result<int> {
    CAIRN_TRY(const MemoryStore store, open_memory(session, MemoryStore::Mode::read));
    CAIRN_TRY(const std::string run, find_run(store, options->run));
    CAIRN_TRY(const DecisionRecord record, store.decision(run, options->number));
    CAIRN_TRY(const StoredDecision stored, parse_decision(record.document));
    CAIRN_TRY(const Json json, parse_json(record.document));
    session.answer(Json{{"run", run}, {"number", options->number}, {"trusted", record.trusted}, {"decision", json}}, decision_text(stored, record));
    return 0;
  };
}

}  // namespace cairn
