// The journal of a run: append-only JSONL (docs/formats/journal.md). It survives kill -9 and resumes a run.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "eval/evaluator.h"
#include "search/budget.h"
#include "search/proposer.h"

namespace cairn {

inline constexpr int kJournalVersion = 1;

// First line: everything that determines the run. A journal resumes only a run with an equal header.
struct JournalHeader {
  std::string task;
  Digest program;          // canonical hash of the root
  std::string algorithm, proposer;
  std::uint64_t seed = 1;
  int lookahead = 4;
  Budget budget;           // may grow on resume; not compared
  std::string target;      // target digest
  std::string device;
  std::string memory;      // what the memory's snapshot was (cli/memory_run.h mark()); empty: none
};

// One committed proposal.
struct JournalRecord {
  std::uint64_t number = 0;
  std::uint64_t parent = 0;
  std::string origin, template_name;
  std::vector<std::string> actions;
  Digest hash;
  double predicted_seconds = 0;
  double score = 0;
  double wall_seconds = 0;      // of the run when committed
  EvalResult result;
};

std::string print_record(const JournalRecord& record);
Result<JournalRecord> parse_record(const std::string& line);

// A journal opened for one run: replays what it holds, appends what is new.
class Journal {
 public:
  // Opens or creates. An existing file must have an equal header (else Code::usage naming the difference);
  // a torn last line is cut off and reported in notes().
  static Result<Journal> open(const std::string& path, const JournalHeader& header);
  // A journal in memory only.
  static Journal in_memory();

  // The recorded result of proposal `number`, if the journal has it for this program.
  const JournalRecord* replayed(std::uint64_t number, const Digest& hash) const;
  std::size_t replayable() const { return records_.size(); }
  Result<void> append(const JournalRecord& record);
  // Last line: why the run stopped.
  Result<void> append_end(const std::string& reason, const Ledger& ledger);
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::map<std::uint64_t, JournalRecord> records_;
  std::vector<std::string> notes_;
  std::optional<AppendLog> log_;
};

}  // namespace cairn
