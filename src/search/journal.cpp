#include "search/journal.h"

#include <fmt/core.h>

#include "base/json.h"
#include "base/text.h"

namespace cairn {

namespace {

Json header_json(const JournalHeader& header) {
  Json json{{"cairn_journal", kJournalVersion}, {"task", header.task},
            {"program", header.program.hex()},  {"algorithm", header.algorithm},
            {"proposer", header.proposer},      {"seed", header.seed},
            {"lookahead", header.lookahead},    {"target", header.target},
            {"device", header.device}};
  if (!header.memory.empty()) json["memory"] = header.memory;
  json["budget"] = print_budget(header.budget);
  return json;
}

// Compares every key of the header but the budget.
std::string header_difference(const Json& found, const Json& expected) {
  for (const auto& [key, value] : expected.items()) {
    if (key == "budget") continue;
    if (!found.contains(key) || found[key] != value) {
      return fmt::format("{} is {} in the journal, {} in this run", key,
                         found.contains(key) ? dump_json(found[key]) : "absent", dump_json(value));
    }
  }
  return {};
}

}  // namespace

std::string print_record(const JournalRecord& r) {
  Json j{{"n", r.number},       {"parent", r.parent},
         {"origin", r.origin},  {"template", r.template_name},
         {"actions", r.actions}, {"hash", r.hash.hex()},
         {"predicted_s", r.predicted_seconds}, {"outcome", std::string(outcome_name(r.result.outcome))},
         {"score", r.score},    {"wall_s", r.wall_seconds},
         {"compile_s", r.result.compile_seconds}, {"run_s", r.result.run_seconds},
         {"cached", r.result.from_cache}};
  if (!r.result.reason.empty()) j["reason"] = r.result.reason;
  if (r.result.time) {
    const Timing& t = *r.result.time;
    j["time"] = Json{{"median", t.median}, {"q25", t.q25}, {"q75", t.q75}, {"lo", t.lo}, {"hi", t.hi}, {"samples", t.samples}};
    j["floor_s"] = r.result.floor_seconds;
    j["max_ulp"] = r.result.max_ulp;
    j["relative_l2"] = r.result.relative_l2;
  }
  return dump_json(j);
}

Result<JournalRecord> parse_record(const std::string& line) {
  CAIRN_TRY(const Json j, parse_json(line, "journal"));
  JournalRecord r;
  CAIRN_TRY(const std::int64_t number, get_int(j, "n"));
  CAIRN_TRY(const std::int64_t parent, get_int(j, "parent"));
  r.number = static_cast<std::uint64_t>(number);
  r.parent = static_cast<std::uint64_t>(parent);
  CAIRN_TRY(r.origin, get_string(j, "origin"));
  CAIRN_TRY(r.template_name, get_string(j, "template"));
  CAIRN_TRY(const std::string hash, get_string(j, "hash"));
  CAIRN_TRY(const std::string outcome, get_string(j, "outcome"));
  const auto known = parse_outcome(outcome);
  if (!parse_digest(hash, &r.hash) || !known) {
    return Error{Code::parse, fmt::format("record {} has a bad hash or outcome '{}'", number, outcome), {}, {}};
  }
  r.result.outcome = *known;
  if (j.contains("actions") && j["actions"].is_array()) {
    for (const Json& a : j["actions"]) {
      if (a.is_string()) r.actions.push_back(a.get<std::string>());
    }
  }
  CAIRN_TRY(r.predicted_seconds, get_double(j, "predicted_s"));
  CAIRN_TRY(r.score, get_double(j, "score"));
  CAIRN_TRY(r.wall_seconds, get_double(j, "wall_s"));
  CAIRN_TRY(r.result.compile_seconds, get_double(j, "compile_s"));
  CAIRN_TRY(r.result.run_seconds, get_double(j, "run_s"));
  CAIRN_TRY(r.result.from_cache, get_bool(j, "cached"));
  if (j.contains("reason")) {
    CAIRN_TRY(r.result.reason, get_string(j, "reason"));
  }
  if (j.contains("time")) {
    const Json& t = j["time"];
    Timing time;
    CAIRN_TRY(time.median, get_double(t, "median"));
    CAIRN_TRY(time.q25, get_double(t, "q25"));
    CAIRN_TRY(time.q75, get_double(t, "q75"));
    CAIRN_TRY(time.lo, get_double(t, "lo"));
    CAIRN_TRY(time.hi, get_double(t, "hi"));
    CAIRN_TRY(const std::int64_t samples, get_int(t, "samples"));
    time.samples = static_cast<int>(samples);
    r.result.time = time;
    CAIRN_TRY(r.result.floor_seconds, get_double(j, "floor_s"));
    CAIRN_TRY(r.result.max_ulp, get_double(j, "max_ulp"));
    CAIRN_TRY(r.result.relative_l2, get_double(j, "relative_l2"));
  }
  return r;
}

Journal Journal::in_memory() { return Journal{}; }

Result<Journal> Journal::open(const std::string& path, const JournalHeader& header) {
  Journal journal;
  const Json expected = header_json(header);
  bool fresh = true;
  if (file_exists(path)) {
    CAIRN_TRY(const std::string text, read_file(path));
    std::size_t good = 0;
    for (const auto& [line, line_number, behind, whole] : split_lines(text)) {
      if (!whole) break;
      auto parsed = parse_json(line, path);
      if (!parsed.ok()) {
        return Error{Code::parse, fmt::format("{}:{}: journal line is not JSON: {}", path, line_number,
                                              parsed.error().message), {}, {"move the file away to start afresh"}};
      }
      if (line_number == 1) {
        const std::string difference = header_difference(parsed.value(), expected);
        if (!difference.empty()) {
          return Error{Code::usage, fmt::format("{} belongs to another run: {}", path, difference), {},
                       {"give another --out, or the options of that run"}};
        }
        fresh = false;
      } else if (parsed->contains("n")) {
        CAIRN_TRY(JournalRecord record, parse_record(std::string(line)));
        journal.records_[record.number] = std::move(record);
      }
      good = behind;
    }
    if (good < text.size()) {
      journal.notes_.push_back(fmt::format("{}: a torn last line of {} bytes was dropped", path, text.size() - good));
      CAIRN_CHECKED(write_file_atomic(path, std::string_view(text).substr(0, good)));
    }
  }
  CAIRN_TRY(AppendLog log, AppendLog::open(path));
  journal.log_ = std::move(log);
  if (fresh) CAIRN_CHECKED(journal.log_->append(dump_json(expected), true));
  return journal;
}

const JournalRecord* Journal::replayed(std::uint64_t number, const Digest& hash) const {
  const auto it = records_.find(number);
  return it != records_.end() && it->second.hash == hash ? &it->second : nullptr;
}

Result<void> Journal::append(const JournalRecord& record) {
  if (!log_) return {};
  return log_->append(print_record(record), true);
}

Result<void> Journal::append_end(const std::string& reason, const Ledger& ledger) {
  if (!log_) return {};
  return log_->append(dump_json(Json{{"end", reason}, {"evaluations", ledger.evaluations},
                                     {"proposals", ledger.proposals}, {"wall_s", ledger.wall_seconds}}), true);
}

}  // namespace cairn
