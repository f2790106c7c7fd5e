// cairn verify: certificates that two programs compute the same; --pairs judges a JSONL of pairs.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <map>
#include <mutex>
#include <optional>

#include "base/file.h"
#include "base/progress.h"
#include "cli/load.h"
#include "cli/rows.h"
#include "cli/run_search.h"
#include "cli/verdict.h"
#include "ir/canon.h"
#include "verify/shrink.h"

namespace cairn {

namespace {

struct VerifyOptions {
  VerdictOptions verdict;
  std::string before, after, claim, pairs, reading, keep;
  double shrink_seconds = 3;
};

// The smallest pair that fails as this one does, as text and kept in the directory asked for; empty if none is found.
Result<std::string> show_counter_example(Session& session, const Program& before, const Program& after, const VerifyOptions& options,
                                         const Verdict& verdict, const Target& target) {
  if (options.shrink_seconds <= 0 || (verdict.word != "different" && verdict.word != "malformed")) return std::string();
  ShrinkOptions shrink;
  shrink.seconds = options.shrink_seconds;
  shrink.clock = &session.clock;
  CAIRN_TRY(const std::uint64_t seed, session.settings.number("seed"));
  const std::optional<CounterExample> found = shrink_pair(before, after, verdict.set.claim, target, seed, shrink);
  if (!found) return std::string();
  const ShrinkCase& smallest = found->shrunk.smallest;
  RegressPair pair;
  pair.claim = verdict.set.claim;
  pair.remarks = {found->failure.reason};
  pair.before = print_program(smallest.programs[0]);
  pair.after = print_program(smallest.programs[1]);
  for (const auto& [name, v] : smallest.inputs) {
    std::vector<double> values = v.floats;
    for (const std::int64_t x : v.ints) values.push_back(static_cast<double>(x));
    pair.inputs.emplace_back(name, std::move(values));
  }
  std::string text = print_regress_pair(pair);
  if (!options.keep.empty()) {
    CAIRN_CHECKED(make_directories(options.keep));
    const std::string file = fmt::format("{}-{}.leir-pair", verdict.set.before.hex().substr(0, 12), verdict.set.after.hex().substr(0, 12));
    CAIRN_CHECKED(write_file_atomic(join_path(options.keep, file), text));
  }
  return text;
}

// One program of a pair: its text, parsed by the Step-TP reading unless another was asked for.
Result<Program> parse_side(const Json& row, const char* key, const VerifyOptions& options) {
  CAIRN_TRY(const std::string text, get_string(row, key));
  ParseOptions parse;
  parse.file = key;
  parse.reading = options.reading.empty() ? Reading::steptp : parse_reading(options.reading);
  return parse_program(text, parse);
}

// Verdicts counted by the label that rows carry.
class LabelTable {
 public:
  void add(const Json& row, const std::string& word) {
    const std::string label = row.contains("label") && row["label"].is_string() ? row["label"].get<std::string>() : "";
    const std::lock_guard lock(mutex_);
    if (!label.empty()) ++counts_[label][word];
  }
  std::string text() const {
    if (counts_.empty()) return {};
    constexpr const char* kWords[] = {"equal", "conditional", "different", "malformed", "undecided"};
    std::string out = fmt::format("{:<20}", "label");
    for (const char* word : kWords) out += fmt::format("{:>13}", word);
    out += "\n";
    for (const auto& [label, words] : counts_) {
      out += fmt::format("{:<20}", label);
      for (const char* word : kWords) {
        const auto n = words.find(word);
        out += fmt::format("{:>13}", n == words.end() ? 0 : n->second);
      }
      out += "\n";
    }
    return out;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::map<std::string, int>> counts_;
};

Result<int> verify_pairs(Session& session, const VerifyOptions& options, const Target& target) {
  LabelTable table;
  const auto answer_pair = [&](const Json& row, Json& answer) -> Result<RowVerdict> {
    const auto read = [&]() -> Result<std::pair<Program, Program>> {
      CAIRN_TRY(Program before, parse_side(row, "before", options));
      CAIRN_TRY(Program after, parse_side(row, "after", options));
      return std::make_pair(std::move(before), std::move(after));
    };
    const Result<std::pair<Program, Program>> programs = read();
    if (!programs) {
      table.add(row, "malformed");
      return programs.error();
    }
    const auto& [before, after] = *programs;
    CAIRN_TRY(const Verdict verdict, judge_pair(session, before, after, options.verdict, target));
    table.add(row, verdict.word);
    answer.update(verdict_json(verdict));
    answer["certificates"] = held_rungs(verdict.set);
    if (!options.keep.empty()) CAIRN_CHECKED(show_counter_example(session, before, after, options, verdict, target));
    return verdict.accepted ? RowVerdict::yes : RowVerdict::no;
  };
  const Json fields{{"verdict", "malformed"}, {"class", ""}, {"accepted_under", Json::array()}, {"action", ""},
                    {"certificates", Json::array()}, {"reason", ""}};
  CAIRN_TRY(const unsigned jobs, worker_count(session, target));
  CAIRN_TRY(const Progress::Mode mode, progress_mode(session.settings));
  std::optional<Progress> progress;
  const RowCounter counted = [&](std::size_t done, std::size_t all, std::size_t yes) {
    if (!progress) progress.emplace(session.clock, mode, "verify", all);
    progress->update(done, fmt::format("{} accepted", yes));
  };
  CAIRN_TRY(const RowCounts counts, answer_rows(session, options.pairs, options.verdict.execute ? 1 : jobs, fields, answer_pair, counted));
  progress.reset();   // ends its line
  std::fputs(fmt::format("{}{} of {} pairs accepted\n", table.text(), counts.yes, counts.rows).c_str(), stderr);
  if (counts.worst == RowVerdict::bug) return 70;
  return counts.yes == counts.rows ? 0 : 1;
}

std::string verdict_text(const Verdict& verdict, const std::string& example) {
  std::string text;
  for (const Certificate& c : verdict.set.certificates) {
    text += fmt::format("{} {:<11}{}\n", c.held ? "+" : "-", rung_name(c.rung), c.reason);
    for (const auto& [key, value] : c.facts) text += fmt::format("    {:<16} {}\n", key, value);
  }
  if (!verdict.set.action.empty()) text += fmt::format("step: {}\n", verdict.set.action);
  if (verdict.accepted) {
    text += fmt::format("the programs compute the same ({})\n", verdict.exactness);
    for (const std::string& condition : verdict.accepted_under) text += fmt::format("  where {}\n", condition);
  } else {
    text += fmt::format("not established: {}\n", verdict.reason);
  }
  if (!example.empty()) text += "the smallest pair found that fails so:\n" + example;
  return text;
}

}  // namespace

CommandRun setup_verify(CLI::App& app) {
  auto options = std::make_shared<VerifyOptions>();
  app.add_option("before", options->before, "program A");
  app.add_option("after", options->after, "program B");
  app.add_option("--claim", options->claim, "exact, reassociates, algebraic or changes_precision; default: the strongest of exact and algebraic that holds")
      ->check(CLI::IsMember({"exact", "reassociates", "algebraic", "changes_precision"}));
  app.add_option("--action", options->verdict.action, "the action that is said to lead from A to B: earns 'legal' by replay");
  app.add_option("--pairs", options->pairs, "JSONL of {id, before, after}: one answer a line");
  app.add_option("--reading", options->reading, "of promises: automatic, leir or steptp (default of --pairs)")
      ->check(CLI::IsMember({"automatic", "leir", "steptp"}));
  app.add_flag("--execute", options->verdict.execute, "compile and run both programs too");
  app.add_flag("--conditional", options->verdict.conditional, "accept pairs that are equal only under the conditions named");
  app.add_option("--numeric-seconds", options->verdict.numeric_seconds, "time limit of the numeric rung")
      ->check(CLI::Range(0.01, 3600.0));
  app.add_option("--match-seconds", options->verdict.match_seconds, "time to look for one action that leads from A to B; 0: do not look")
      ->check(CLI::Range(0.0, 3600.0));
  app.add_option("--shrink-seconds", options->shrink_seconds, "time to look for the smallest pair that fails alike; 0: do not look")
      ->check(CLI::Range(0.0, 3600.0));
  app.add_option("--keep", options->keep, "directory to keep the smallest failing pairs in, as .leir-pair");
  return [options](Session& session) -> Result<int> {
    CAIRN_TRY(const Target target, load_target(session));
    options->verdict.claim = parse_exactness(options->claim);
    if (!options->pairs.empty() && (!options->before.empty() || !options->verdict.action.empty())) {
      return Error{Code::usage, "--pairs takes the programs and steps from its file, no program or --action beside it", {}, {}};
    }
    if (!options->pairs.empty()) return verify_pairs(session, *options, target);
    if (options->before.empty() || options->after.empty()) {
      return Error{Code::usage, "two programs are needed", {}, {"cairn verify BEFORE AFTER, or --pairs FILE"}};
    }
    if (options->before == "-" && options->after == "-") {
      return Error{Code::usage, "both programs are -, standard input holds only one", {}, {}};
    }
    const Reading reading = parse_reading(options->reading);
    CAIRN_TRY(const Loaded before, load_program(session, options->before, {}, reading));
    CAIRN_TRY(const Loaded after, load_program(session, options->after, {}, reading));
    CAIRN_TRY(const Verdict verdict, judge_pair(session, before.program, after.program, options->verdict, target));
    CAIRN_TRY(const std::string example, show_counter_example(session, before.program, after.program, *options, verdict, target));
    const auto set = parse_json(serialize(verdict.set));
    Json json = set.ok() ? set.value() : Json();
    json.update(verdict_json(verdict));
    json["counter_example"] = example;
    session.answer(json, verdict_text(verdict, example));
    return verdict.accepted ? 0 : 1;
  };
}

}  // namespace cairn
