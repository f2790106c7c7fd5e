#include "memory/store_schema.h"

#include <fmt/core.h>

#include <vector>

#include "memory/store.h"
#include "memory/texts.h"

namespace cairn {

namespace {

// kMigrations[k] leads from version k + 1 to k + 2.
const std::vector<std::string> kMigrations{
    R"sql(
ALTER TABLE evidence ADD COLUMN trusted INTEGER NOT NULL DEFAULT 1;
CREATE TABLE edge (
  origin TEXT NOT NULL, node TEXT NOT NULL, rationale TEXT NOT NULL, risk TEXT NOT NULL, applies TEXT NOT NULL, trusted INTEGER NOT NULL,
  PRIMARY KEY (origin, node)
) STRICT, WITHOUT ROWID;
)sql",
    // Whose a run was, its rows tell.
    R"sql(
ALTER TABLE run ADD COLUMN trusted INTEGER NOT NULL DEFAULT 1;
ALTER TABLE decision ADD COLUMN trusted INTEGER NOT NULL DEFAULT 1;
UPDATE run SET trusted = 0 WHERE EXISTS (SELECT 1 FROM evidence WHERE evidence.run = run.id AND evidence.trusted = 0);
UPDATE decision SET trusted = 0 WHERE EXISTS (SELECT 1 FROM evidence WHERE evidence.run = decision.run AND evidence.trusted = 0);
)sql"};

// Within a transaction: between two reads another process may create the file.
Result<int> read_version(const Database& database) {
  CAIRN_TRY(const std::int64_t application, database.query_integer("PRAGMA application_id"));
  CAIRN_TRY(const std::int64_t version, database.query_integer("PRAGMA user_version"));
  if (application == 0 && version == 0) {
    CAIRN_TRY(const std::int64_t objects, database.query_integer("SELECT count(*) FROM sqlite_schema"));
    if (objects == 0) return 0;
  }
  if (application != kMemoryApplication) {
    return Error{Code::parse, fmt::format("{} is no memory file: found an SQLite database with application id {:#x}, expected {:#x}",
                                          database.path(), application, kMemoryApplication), {}, {}};
  }
  if (version > kMemoryVersion) {
    return Error{Code::parse, fmt::format("{} has memory schema {}, this build reads up to {}", database.path(), version, kMemoryVersion), {},
                 {"a newer cairn wrote it; nothing was changed"}};
  }
  if (version < 1) {
    return Error{Code::parse, fmt::format("{} is damaged: found memory schema {}, expected 1 to {}", database.path(), version, kMemoryVersion), {}, {}};
  }
  return static_cast<int>(version);
}

}  // namespace

Result<int> read_memory_version(const Database& database) {
  CAIRN_TRY(const Transaction transaction, Transaction::begin(database, Transaction::Kind::read));
  return read_version(database);
}

Result<void> migrate_memory(const Database& database) {
  CAIRN_TRY(Transaction transaction, Transaction::begin(database, Transaction::Kind::write));
  CAIRN_TRY(int version, read_version(database));  // somebody else may have been faster
  if (version == kMemoryVersion) return {};
  if (version == 0) {
    CAIRN_CHECKED(database.execute(std::string(memory_schema_text())));
    CAIRN_CHECKED(database.execute(fmt::format("PRAGMA application_id = {}", kMemoryApplication)));
    version = kMemoryVersion;
  }
  for (; version < kMemoryVersion; ++version) {
    CAIRN_CHECKED(database.execute(kMigrations.at(static_cast<std::size_t>(version - 1))));
  }
  CAIRN_CHECKED(database.execute(fmt::format("PRAGMA user_version = {}", version)));
  return transaction.commit();
}

}  // namespace cairn
