// cairn memory export, import, merge, prune.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <charconv>
#include <set>

#include "base/file.h"
#include "cli/cmd_memory.h"
#include "cli/counts.h"
#include "cli/load.h"
#include "memory/exchange.h"
#include "memory/merge.h"

namespace cairn {

namespace {

Json counts_json(const MergeCounts& counts) {
  const auto part = [](const MergeCounts::Part& p) { return Json{{"added", p.added}, {"replaced", p.replaced}}; };
  return {{"evidence", part(counts.evidence)}, {"cards", part(counts.cards)}, {"runs", part(counts.runs)}, {"decisions", part(counts.decisions)}};
}

void add_counts(const MergeCounts& more, MergeCounts* sum) {
  for (MergeCounts::Part MergeCounts::*part : {&MergeCounts::evidence, &MergeCounts::cards, &MergeCounts::runs, &MergeCounts::decisions}) {
    (sum->*part).added += (more.*part).added;
    (sum->*part).replaced += (more.*part).replaced;
  }
}

std::string counts_text(const MergeCounts& c, bool trusted) {
  std::string text;
  const std::pair<const char*, const MergeCounts::Part*> parts[] = {
      {"rows of evidence", &c.evidence}, {"cards", &c.cards}, {"runs", &c.runs}, {"decisions", &c.decisions}};
  std::uint64_t taken = 0;
  for (const auto& [name, part] : parts) {
    text += fmt::format("{:<17} {:>8} new {:>8} replaced\n", name, part->added, part->replaced);
    taken += part->added + part->replaced;
  }
  if (!trusted && taken > 0) text += "their texts enter no prompt; --trust lets them\n";
  return text;
}

// Runs and decisions that the evidence left in `content` belongs to.
void drop_other_runs(MemoryContent* content) {
  std::set<std::string> runs;
  for (const Evidence& row : content->evidence) runs.insert(row.run);
  std::erase_if(content->runs, [&](const RunRecord& r) { return runs.count(r.id) == 0; });
  std::erase_if(content->decisions, [&](const DecisionRecord& d) { return runs.count(d.run) == 0; });
}

bool selects_all(const EvidenceQuery& q) {
  return q.task.empty() && q.family.empty() && q.run.empty() && q.direction.empty() && q.local.empty() && q.newest == 0;
}

// A date, or an age before now such as 90d, 12h, 8w.
Result<std::int64_t> parse_age(const std::string& text, std::int64_t now) {
  if (const auto date = parse_utc(text)) return *date;
  std::int64_t count = 0;
  const auto [unit, code] = std::from_chars(text.data(), text.data() + text.size(), count);
  static constexpr std::pair<char, std::int64_t> kUnits[] = {{'h', 3600}, {'d', 86400}, {'w', 7 * 86400}};
  for (const auto& [letter, seconds] : kUnits) {
    if (code == std::errc{} && count >= 0 && count < 1'000'000 && unit + 1 == text.data() + text.size() && *unit == letter) return now - count * seconds;
  }
  return Error{Code::usage, fmt::format("--older-than is '{}', expected an age such as 90d, 12h, 8w or a date such as 2026-01-31", text), {}, {}};
}

}  // namespace

CommandRun setup_memory_export(CLI::App& app) {
  struct Options { std::string file = "-"; EvidenceQuery query; bool no_decisions = false; };
  auto options = std::make_shared<Options>();
  app.add_option("file", options->file, "JSONL file to write (- for stdout)");
  add_query_options(app, &options->query);
  app.add_flag("--no-decisions", options->no_decisions, "leave the stored decisions out");
  return [options](Session& session) -> Result<int> {
    CAIRN_TRY(const MemoryStore store, open_memory(session, MemoryStore::Mode::read));
    CAIRN_TRY(MemoryContent content, store.snapshot(options->query));
    if (!selects_all(options->query)) drop_other_runs(&content);
    if (options->no_decisions) content.decisions.clear();
    const std::string text = print_exchange(content);
    if (options->file == "-") {
      session.print(text);
      return 0;
    }
    CAIRN_CHECKED(spare_database(options->file));
    CAIRN_CHECKED(write_file_atomic(options->file, text));
    session.answer(Json{{"written", options->file}, {"evidence", content.evidence.size()}, {"runs", content.runs.size()},
                        {"decisions", content.decisions.size()}},
                   fmt::format("wrote {}: {} rows, {} runs, {} decisions\n", options->file, content.evidence.size(), content.runs.size(),
                               content.decisions.size()));
    return 0;
  };
}

CommandRun setup_memory_import(CLI::App& app) {
  struct Options { std::vector<std::string> files; bool trust = false; };
  auto options = std::make_shared<Options>();
  app.add_option("files", options->files, "JSONL files that 'cairn memory export' wrote (- for stdin)")->required();
  app.add_flag("--trust", options->trust, "let texts of these files enter prompts");
  return [options](Session& session) -> Result<int> {
    MemoryContent content;   // read whole before anything is written
    const auto append = [](auto& list, auto& more) { list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end())); };
    for (const std::string& file : options->files) {
      CAIRN_TRY(const std::string text, read_input(file));
      CAIRN_TRY(MemoryContent part, parse_exchange(text, file == "-" ? "<stdin>" : file));
      append(content.directions, part.directions);
      append(content.locals, part.locals);
      append(content.edges, part.edges);
      append(content.runs, part.runs);
      append(content.evidence, part.evidence);
      append(content.decisions, part.decisions);
    }
    if (!options->trust) distrust(&content);
    CAIRN_TRY(MemoryStore store, open_memory(session, MemoryStore::Mode::write));
    CAIRN_TRY(const MergeCounts counts, store.merge(content));
    Json json = counts_json(counts);
    json["trusted"] = options->trust;
    session.answer(json, counts_text(counts, options->trust));
    return 0;
  };
}

CommandRun setup_memory_merge(CLI::App& app) {
  struct Options { std::vector<std::string> files; std::string out; bool trust = false; };
  auto options = std::make_shared<Options>();
  app.add_option("files", options->files, "INTO FROM...: the first takes over what the others hold; with -o a new file takes all")->required();
  app.add_option("-o", options->out, "new memory file (also --out)");
  app.add_flag("--trust", options->trust, "let texts of the other files enter prompts");
  return [options](Session& session) -> Result<int> {
    std::vector<std::string> from = options->files;
    std::string into = options->out;
    if (const auto it = session.line.flags.find("out"); into.empty() && it != session.line.flags.end()) into = it->second;
    if (!into.empty() && file_exists(into)) {
      return Error{Code::usage, fmt::format("{}: the file is there, expected a new one", into), {},
                   {fmt::format("'cairn memory merge {} FILES' adds to it", into)}};
    }
    if (into.empty()) {
      into = from.front();
      from.erase(from.begin());
      CAIRN_CHECKED(expect_file(into));
    }
    if (from.empty()) return Error{Code::usage, "found one memory file, expected INTO and at least one more to take over", {}, {}};
    // All are read before anything is written.
    std::vector<MemoryContent> parts;
    for (const std::string& file : from) {
      CAIRN_CHECKED(expect_file(file));
      CAIRN_TRY(const MemoryStore store, MemoryStore::open(file, MemoryStore::Mode::read));
      CAIRN_TRY(MemoryContent part, store.snapshot());
      if (!options->trust) distrust(&part);
      parts.push_back(std::move(part));
    }
    session.subject = into;
    CAIRN_TRY(MemoryStore store, MemoryStore::open(into, MemoryStore::Mode::write));
    MergeCounts sum;
    for (const MemoryContent& part : parts) {
      CAIRN_TRY(const MergeCounts counts, store.merge(part));
      add_counts(counts, &sum);
    }
    Json json = counts_json(sum);
    json["trusted"] = options->trust;
    session.answer(json, counts_text(sum, options->trust));
    return 0;
  };
}

CommandRun setup_memory_prune(CLI::App& app) {
  struct Options { EvidenceQuery query; std::string older_than; std::uint64_t keep = 0; bool dry_run = false; };
  auto options = std::make_shared<Options>();
  add_query_options(app, &options->query);
  app.add_option("--older-than", options->older_than, "rows older than an age (90d, 12h, 8w) or before a date (2026-01-31)");
  app.add_option("--keep", options->keep, "the newest N of the selected rows stay")->check(whole_number());
  app.add_flag("--dry-run", options->dry_run, "count only");
  return [options](Session& session) -> Result<int> {
    if (selects_all(options->query) && options->older_than.empty() && options->keep == 0) {
      return Error{Code::usage, "found no condition, expected at least one of --older-than, --keep, --task, --family, --run, --direction, --local", {},
                   {"to start afresh remove the file"}};
    }
    std::int64_t before = 0;
    if (!options->older_than.empty()) {
      CAIRN_TRY(before, parse_age(options->older_than, session.clock.epoch()));
    }
    CAIRN_TRY(const std::string path, find_memory(session));
    CAIRN_CHECKED(expect_file(path));
    CAIRN_TRY(MemoryStore store, open_memory(session, options->dry_run ? MemoryStore::Mode::read : MemoryStore::Mode::write));
    CAIRN_TRY(const std::uint64_t rows, options->dry_run ? store.count_prunable(before, options->query, options->keep)
                                                         : store.prune(before, options->query, options->keep));
    session.answer(Json{{"rows", rows}, {"deleted", !options->dry_run}},
                   fmt::format("{} {} rows of evidence\n", options->dry_run ? "would delete" : "deleted", rows));
    return 0;
  };
}

}  // namespace cairn
