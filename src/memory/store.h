// The memory file: one SQLite database (WAL, versioned, migrated, several processes), docs/formats/memory.md.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "memory/evidence.h"

namespace cairn {

// Version of the schema that this build writes; older files are migrated, newer ones refused.
inline constexpr int kMemoryVersion = 3;
// "CRN1" in the file's header tells memory files from other databases.
inline constexpr std::int32_t kMemoryApplication = 0x43524e31;

// A direction's static knowledge: seeded from directions.json, extended by users.
struct DirectionCard {
  std::string name, intent, objective, risks;
  std::vector<std::string> triggers;   // bottleneck classes that make it promising
  bool trusted = true;                 // false: imported text, enters no prompt
  friend bool operator==(const DirectionCard&, const DirectionCard&) = default;
};
// A local strategy's static knowledge: seeded from its page, or a card of its own.
struct LocalCard {
  std::string name, direction, when, how, checks;
  bool trusted = true;                 // false: imported text, enters no prompt
  friend bool operator==(const LocalCard&, const LocalCard&) = default;
};
// What is known of going from one direction (or START) to another; without a card an edge always applies.
struct EdgeCard {
  std::string origin, node, rationale, risk;
  std::vector<std::string> applies;    // bottleneck classes; empty: always
  bool trusted = true;
  friend bool operator==(const EdgeCard&, const EdgeCard&) = default;
};

// A run that wrote here. `started` is the `now` that it reads evidence with.
struct RunRecord {
  std::string id, task, family, mode, device, target;
  std::uint64_t seed = 0;
  std::int64_t started = 0, finished = 0;   // seconds since 1970; finished is 0 until the run ends
  bool trusted = true;                      // false: imported; its task's name enters no prompt
  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

// A decision of a run as the JSON document of decision_json.h.
struct DecisionRecord {
  std::string run;
  std::uint64_t number = 0;
  std::string document;
  bool trusted = true;                 // false: imported; its texts enter no prompt
  friend bool operator==(const DecisionRecord&, const DecisionRecord&) = default;
};

// What a reader may ask for. Empty fields match everything.
struct EvidenceQuery {
  std::string task, family, run, direction, local;
  std::int64_t newest = 0;             // rows up to this date; 0: all
};

// All of a memory at one instant, each list in the order of its keys; also what one transaction writes.
struct MemoryContent {
  std::vector<DirectionCard> directions;
  std::vector<LocalCard> locals;
  std::vector<EdgeCard> edges;
  std::vector<RunRecord> runs;
  std::vector<Evidence> evidence;
  std::vector<DecisionRecord> decisions;
};

// Counts of a node (origin empty, lag 0) or of an edge from the step `lag` before. Host and inner rows are not counted; gains
// and credits are of passed rows, the trend is the mean gain of the ten newest less that of all.
struct NodeStatistics {
  std::string part;                    // "direction" or "local"
  std::string origin, node;
  int lag = 0;
  std::uint64_t tries = 0, passed = 0, failed = 0, improved = 0;
  double gain_mean = 0, gain_variance = 0, gain_trend = 0, credit_mean = 0;
};

// Rows of one device.
struct DeviceRows {
  DeviceMark device;
  std::uint64_t rows = 0;
  std::int64_t newest = 0;             // date of the newest row
};

// What a merge did with each kind of entry.
struct MergeCounts {
  struct Part { std::uint64_t added = 0, replaced = 0; };
  Part evidence, cards, runs, decisions;
};

// One connection; for one thread at a time. Every call is one transaction: it has happened or it has not.
class MemoryStore {
 public:
  enum class Mode : std::uint8_t { read, write };
  // Opens or (write) creates the file with the cards that are built in, migrates older schemas, refuses newer ones; a file that is no memory, a read-only
  // place or a full disk is a clear error and nothing is lost. Waits up to 30 s for other writers.
  static Result<MemoryStore> open(const std::string& path, Mode mode);
  MemoryStore(MemoryStore&&) noexcept;
  MemoryStore& operator=(MemoryStore&&) noexcept;
  ~MemoryStore();

  // Writes everything or nothing. What exists under the same key is replaced. Refuses rows that check_evidence refuses.
  Result<void> put(const MemoryContent& content);
  Result<void> put(const std::vector<Evidence>& rows);
  Result<void> put_cards(const std::vector<DirectionCard>& directions, const std::vector<LocalCard>& locals);
  Result<void> put_run(const RunRecord& run);
  Result<void> put_decision(const std::string& run, std::uint64_t number, const std::string& json);
  // Takes over what is new and what outranks an entry of the same key (merge.h), in one transaction.
  Result<MergeCounts> merge(const MemoryContent& from);

  // The memory as it is at this moment, whoever writes meanwhile; the query selects evidence.
  Result<MemoryContent> snapshot(const EvidenceQuery& query = {}) const;
  // Rows in the order of their ids.
  Result<std::vector<Evidence>> read(const EvidenceQuery& query = {}) const;
  Result<std::vector<DirectionCard>> directions() const;
  Result<std::vector<LocalCard>> locals() const;
  Result<std::vector<EdgeCard>> edges() const;
  Result<std::vector<RunRecord>> runs() const;
  Result<std::uint64_t> count_decisions(const std::string& run) const;
  // no_site if the run or its decision is not here.
  Result<DecisionRecord> decision(const std::string& run, std::uint64_t number) const;
  // Nodes, then edges, by part, origin, node, lag.
  Result<std::vector<NodeStatistics>> statistics() const;
  Result<std::vector<DeviceRows>> devices() const;

  // Of the rows that match the query, the `keep` newest stay; of the others those older than a date (0: any) are deleted, with
  // the decisions of runs that have no rows left. Returns how many rows went.
  Result<std::uint64_t> prune(std::int64_t older_than, const EvidenceQuery& query, std::uint64_t keep = 0);
  // How many rows prune would delete.
  Result<std::uint64_t> count_prunable(std::int64_t older_than, const EvidenceQuery& query, std::uint64_t keep = 0) const;
  const std::string& path() const;

 private:
  struct Impl;
  explicit MemoryStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Refuses (parse) a row that cannot be stored: numbers that are not finite or too large, names that are no words, texts with
// control characters or invalid UTF-8.
Result<void> check_evidence(const Evidence& row);
// The same for cards (names and classes are words, texts of at most 16 KiB), runs and decisions; put refuses what these do.
Result<void> check_card(const DirectionCard& card);
Result<void> check_card(const LocalCard& card);
Result<void> check_card(const EdgeCard& card);
Result<void> check_run(const RunRecord& run);
Result<void> check_decision(const DecisionRecord& decision);
Result<void> check_content(const MemoryContent& content);

// The file in the user's data directory: $XDG_DATA_HOME/cairn/memory.db.
std::string default_memory_path();

}  // namespace cairn
