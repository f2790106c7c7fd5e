#include "memory/store.h"

#include <fmt/core.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "memory/cards.h"
#include "memory/merge.h"
#include "memory/store_rows.h"
#include "memory/store_schema.h"
#include "memory/store_sqlite.h"

namespace cairn {

namespace {

// Reading a WAL file needs its shared-memory file. Where nobody can make one, nobody writes: then no locks are needed.
Result<Database> open_readable(const std::string& path) {
  CAIRN_TRY(Database database, Database::open(path, Database::Access::read));
  const auto probe = database.query_integer("PRAGMA user_version");
  if (probe.ok() || file_exists(path + "-wal") || faccessat(AT_FDCWD, dirname_of(path).c_str(), W_OK, AT_EACCESS) == 0) {
    if (!probe.ok()) return probe.error();
    return database;
  }
  return Database::open(path, Database::Access::immutable);
}

// A memory holds the built-in cards of the build that wrote last.
Result<void> seed_cards(const Database& database) {
  const MemoryContent& seeds = built_in_cards();
  const auto is_held = [&]() -> Result<bool> {
    CAIRN_TRY(const auto directions, read_directions(database));
    CAIRN_TRY(const auto locals, read_locals(database));
    CAIRN_TRY(const auto edges, read_edges(database));
    const auto within = [](const auto& few, const auto& all) {
      return std::all_of(few.begin(), few.end(), [&](const auto& card) { return std::find(all.begin(), all.end(), card) != all.end(); });
    };
    return within(seeds.directions, directions) && within(seeds.locals, locals) && within(seeds.edges, edges);
  };
  CAIRN_TRY(const bool held, is_held());
  if (held) return {};
  CAIRN_TRY(Transaction transaction, Transaction::begin(database, Transaction::Kind::write));
  CAIRN_CHECKED(write_content(database, seeds));
  return transaction.commit();
}

Result<Database> open_writable(const std::string& path) {
  CAIRN_CHECKED(make_directories(dirname_of(path)));
  CAIRN_TRY(Database database, Database::open(path, Database::Access::create));
  // Looked at before anything is changed: the journal mode of a foreign file stays what it is.
  CAIRN_TRY(const int version, read_memory_version(database));
  CAIRN_CHECKED(database.use_wal());
  CAIRN_CHECKED(database.execute("PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 16777216"));
  if (version != kMemoryVersion) CAIRN_CHECKED(migrate_memory(database));
  CAIRN_CHECKED(seed_cards(database));
  return database;
}

}  // namespace

struct MemoryStore::Impl {
  Database database;
  bool writable = false;

  // Everything that `work` reads is of one instant.
  template <class Work>
  auto read(Work work) const -> decltype(work(database)) {
    CAIRN_TRY(const Transaction transaction, Transaction::begin(database, Transaction::Kind::read));
    return work(database);
  }
  template <class Work>
  Result<void> write(Work work) {
    if (!writable) return Error{Code::io, fmt::format("{} was opened for reading", database.path()), {}, {}};
    CAIRN_TRY(Transaction transaction, Transaction::begin(database, Transaction::Kind::write));
    CAIRN_CHECKED(work(database));
    return transaction.commit();
  }
};

Result<MemoryStore> MemoryStore::open(const std::string& path, Mode mode) {
  if (is_directory(path)) return Error{Code::usage, path + ": is a directory, expected a memory file", {}, {}};
  if (mode == Mode::write) {
    CAIRN_TRY(Database database, open_writable(path));
    return MemoryStore(std::make_unique<Impl>(Impl{std::move(database), true}));
  }
  if (!file_exists(path)) {
    return Error{Code::usage, fmt::format("{}: no such memory file", path), {}, {"'cairn optimize' makes it, 'cairn memory import' fills it"}};
  }
  CAIRN_TRY(Database database, open_readable(path));
  CAIRN_TRY(const int version, read_memory_version(database));
  if (version != kMemoryVersion) {
    // Older: brought up to date where that is possible.
    auto migrated = open_writable(path);
    if (!migrated.ok()) {
      migrated.error().notes.push_back(fmt::format("it has memory schema {}, this build needs {}: open it once where it can be written", version,
                                                   kMemoryVersion));
      return migrated.error();
    }
    return MemoryStore(std::make_unique<Impl>(Impl{*std::move(migrated), false}));
  }
  return MemoryStore(std::make_unique<Impl>(Impl{std::move(database), false}));
}

MemoryStore::MemoryStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MemoryStore::MemoryStore(MemoryStore&&) noexcept = default;
MemoryStore& MemoryStore::operator=(MemoryStore&&) noexcept = default;
MemoryStore::~MemoryStore() = default;

const std::string& MemoryStore::path() const { return impl_->database.path(); }

Result<void> MemoryStore::put(const MemoryContent& content) {
  CAIRN_CHECKED(check_content(content));
  return impl_->write([&](const Database& database) { return write_content(database, content); });
}

Result<void> MemoryStore::put(const std::vector<Evidence>& rows) {
  MemoryContent content;
  content.evidence = rows;
  return put(content);
}

Result<void> MemoryStore::put_cards(const std::vector<DirectionCard>& directions, const std::vector<LocalCard>& locals) {
  MemoryContent content;
  content.directions = directions;
  content.locals = locals;
  return put(content);
}

Result<void> MemoryStore::put_run(const RunRecord& run) {
  MemoryContent content;
  content.runs = {run};
  return put(content);
}

Result<void> MemoryStore::put_decision(const std::string& run, std::uint64_t number, const std::string& json) {
  MemoryContent content;
  content.decisions = {{run, number, json}};
  return put(content);
}

Result<MergeCounts> MemoryStore::merge(const MemoryContent& from) {
  CAIRN_CHECKED(check_content(from));
  MergeCounts counts;
  CAIRN_CHECKED(impl_->write([&](const Database& database) -> Result<void> {
    CAIRN_TRY(const MemoryContent held, read_content(database, {}));
    return write_content(database, select_winners(held, from, &counts));
  }));
  return counts;
}

Result<MemoryContent> MemoryStore::snapshot(const EvidenceQuery& query) const {
  return impl_->read([&](const Database& database) { return read_content(database, query); });
}

Result<std::vector<Evidence>> MemoryStore::read(const EvidenceQuery& query) const { return read_evidence(impl_->database, query); }
Result<std::vector<DirectionCard>> MemoryStore::directions() const { return read_directions(impl_->database); }
Result<std::vector<LocalCard>> MemoryStore::locals() const { return read_locals(impl_->database); }
Result<std::vector<EdgeCard>> MemoryStore::edges() const { return read_edges(impl_->database); }
Result<std::vector<RunRecord>> MemoryStore::runs() const { return read_runs(impl_->database); }
Result<std::vector<NodeStatistics>> MemoryStore::statistics() const { return read_statistics(impl_->database); }
Result<std::vector<DeviceRows>> MemoryStore::devices() const { return read_devices(impl_->database); }

Result<DecisionRecord> MemoryStore::decision(const std::string& run, std::uint64_t number) const {
  CAIRN_TRY(Statement select, impl_->database.prepare("SELECT document, trusted FROM decision WHERE run = ? AND number = ?"));
  CAIRN_TRY(const bool found, select.bind(run).bind(static_cast<std::int64_t>(number)).step());
  if (found) {
    DecisionRecord record{run, number, select.text()};
    record.trusted = select.integer() != 0;
    return record;
  }
  CAIRN_TRY(Statement range, impl_->database.prepare("SELECT count(*), coalesce(min(number), 0), coalesce(max(number), 0) FROM decision WHERE run = ?"));
  CAIRN_TRY(const bool counted, range.bind(run).step());
  const std::int64_t count = counted ? range.integer() : 0;
  if (count == 0) {
    return Error{Code::no_site, fmt::format("{} holds no decisions of run '{}'", path(), run), {},
                 {"a run decides by memory if its proposer is 'memory'; recalled traces are no decisions"}};
  }
  const std::int64_t first = range.integer(), last = range.integer();
  return Error{Code::no_site, fmt::format("run '{}' has no decision {}, found {} of them from {} to {}", run, number, count, first, last), {}, {}};
}

Result<std::uint64_t> MemoryStore::count_decisions(const std::string& run) const {
  CAIRN_TRY(Statement count, impl_->database.prepare("SELECT count(*) FROM decision WHERE run = ?"));
  CAIRN_TRY(const bool found, count.bind(run).step());
  return found ? static_cast<std::uint64_t>(count.integer()) : 0;
}

Result<std::uint64_t> MemoryStore::prune(std::int64_t older_than, const EvidenceQuery& query, std::uint64_t keep) {
  const RowSelection selection = select_prunable(older_than, query, keep);
  std::uint64_t deleted = 0;
  CAIRN_CHECKED(impl_->write([&](const Database& database) { return delete_evidence(database, selection, &deleted); }));
  // Gives the space back; where another process reads or the disk is full, the next one does.
  if (deleted != 0) (void)impl_->database.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)").ok();
  return deleted;
}

Result<std::uint64_t> MemoryStore::count_prunable(std::int64_t older_than, const EvidenceQuery& query, std::uint64_t keep) const {
  const RowSelection selection = select_prunable(older_than, query, keep);
  CAIRN_TRY(Statement count, impl_->database.prepare("SELECT count(*) FROM evidence WHERE " + selection.sql));
  CAIRN_TRY(const bool found, selection.bind_to(count).step());
  return found ? static_cast<std::uint64_t>(count.integer()) : 0;
}

std::string default_memory_path() {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data) return join_path(data, "cairn/memory.db");
  const char* home = std::getenv("HOME");
  return join_path(home && *home ? home : "/tmp", ".local/share/cairn/memory.db");
}

}  // namespace cairn
