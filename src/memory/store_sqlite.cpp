#include "memory/store_sqlite.h"

#include <fmt/core.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstring>

#include "base/check.h"
#include "base/file.h"

namespace cairn {

namespace {

// search-and-memory.md: several writers wait for each other so long.
constexpr int kBusyMilliseconds = 30'000;
constexpr int kRetryMilliseconds = 20;
constexpr std::size_t kDigestBytes = 16;

// A path as the file name of a URI, so that parameters can follow it.
std::string uri_of(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    else uri += c;
  }
  return uri;
}

Error describe_failure(const std::string& path, int code, int system_error, const std::string& detail) {
  const std::string reason = system_error == 0 ? std::string() : fmt::format(": {}", std::strerror(system_error));
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return {Code::parse, fmt::format("{} is no memory file: found something that is no SQLite database", path), {}, {}};
    case SQLITE_CORRUPT:
      return {Code::parse, fmt::format("{} is damaged: {}", path, detail), {},
              {fmt::format("nothing was changed; 'sqlite3 {} .recover' shows what can be saved", path)}};
    case SQLITE_FULL:
      return {Code::io, fmt::format("{}: the disk is full; nothing was written", path), {}, {}};
    case SQLITE_READONLY:
      return {Code::io, fmt::format("{} cannot be written: the file or its directory is read-only", path), {}, {}};
    case SQLITE_BUSY: case SQLITE_LOCKED:
      return {Code::io, fmt::format("{}: another process has been writing for {} s; nothing was written", path, kBusyMilliseconds / 1000), {}, {}};
    case SQLITE_IOERR:
      return {Code::io, fmt::format("{} cannot be read or written: {}{}", path, detail, reason), {},
              {"nothing was changed; the disk may be full or failing"}};
    case SQLITE_CANTOPEN: case SQLITE_PERM:
      return {Code::io, fmt::format("{}: {}{}", path, detail, reason), {}, {}};
    case SQLITE_NOMEM:
      return {Code::environment, fmt::format("{}: out of memory", path), {}, {}};
    case SQLITE_ERROR:
      if (detail.find("no such") != std::string::npos) {   // a table or a column that the version promises
        return {Code::parse, fmt::format("{} is damaged: {}", path, detail), {}, {}};
      }
      [[fallthrough]];
    default: return {Code::io, fmt::format("{}: {}", path, detail), {}, {}};
  }
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* handle) const { sqlite3_close(handle); }

Statement::Statement(const Database* database, sqlite3_stmt* statement) : statement_(statement), database_(database) {}

Statement& Statement::bind(std::string_view text) {
  const int code = sqlite3_bind_text64(statement_.get(), ++parameter_, text.data() ? text.data() : "", text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  CAIRN_CHECK(code == SQLITE_OK);
  return *this;
}
Statement& Statement::bind(std::int64_t value) {
  CAIRN_CHECK(sqlite3_bind_int64(statement_.get(), ++parameter_, value) == SQLITE_OK);
  return *this;
}
Statement& Statement::bind(double value) {
  CAIRN_CHECK(sqlite3_bind_double(statement_.get(), ++parameter_, value) == SQLITE_OK);
  return *this;
}
Statement& Statement::bind(const Digest& digest) {
  unsigned char bytes[kDigestBytes];
  for (std::size_t k = 0; k < kDigestBytes; ++k) {
    bytes[k] = static_cast<unsigned char>((k < 8 ? digest.hi : digest.lo) >> (56 - 8 * (k % 8)));
  }
  CAIRN_CHECK(sqlite3_bind_blob(statement_.get(), ++parameter_, bytes, static_cast<int>(kDigestBytes), SQLITE_TRANSIENT) == SQLITE_OK);
  return *this;
}

Result<bool> Statement::step() {
  const int code = damaged_ ? SQLITE_CORRUPT : sqlite3_step(statement_.get());
  column_ = 0;
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) {
    Error error = database_->failure(code, damaged_ ? "a digest has the wrong length" : std::string_view());
    sqlite3_reset(statement_.get());
    return error;
  }
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  parameter_ = 0;
  return false;
}

Result<void> Statement::run() {
  for (bool more = true; more;) {
    CAIRN_TRY(more, step());
  }
  return {};
}

std::string Statement::text() {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column_));
  const int size = sqlite3_column_bytes(statement_.get(), column_++);
  return bytes ? std::string(bytes, static_cast<std::size_t>(size)) : std::string();
}
std::int64_t Statement::integer() { return sqlite3_column_int64(statement_.get(), column_++); }
double Statement::real() { return sqlite3_column_double(statement_.get(), column_++); }

Digest Statement::digest() {
  const auto* bytes = static_cast<const unsigned char*>(sqlite3_column_blob(statement_.get(), column_));
  const int size = sqlite3_column_bytes(statement_.get(), column_++);
  Digest digest;
  if (bytes == nullptr || size != static_cast<int>(kDigestBytes)) {
    damaged_ = true;
    return digest;
  }
  for (std::size_t k = 0; k < kDigestBytes; ++k) {
    std::uint64_t& half = k < 8 ? digest.hi : digest.lo;
    half = half << 8 | bytes[k];
  }
  return digest;
}

Result<Database> Database::open(const std::string& path, Access access) {
  sqlite3* handle = nullptr;
  const std::string uri = uri_of(path) + (access == Access::immutable ? "?immutable=1" : "");
  const int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (access == Access::create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                     : access == Access::write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
  const int code = sqlite3_open_v2(uri.c_str(), &handle, flags, nullptr);
  Database database(path, handle);
  if (code != SQLITE_OK) return database.failure(code);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  // Views and triggers of a file that somebody gave us call no functions with side effects.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  return database;
}

Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return failure(code);
  return Statement(this, statement);
}

Result<void> Database::execute(const std::string& sql) const {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failure(code);
  return {};
}

Result<std::int64_t> Database::query_integer(std::string_view sql) const {
  CAIRN_TRY(Statement statement, prepare(sql));
  CAIRN_TRY(const bool found, statement.step());
  return found ? statement.integer() : 0;
}

Result<std::string> Database::query_text(std::string_view sql) const {
  CAIRN_TRY(Statement statement, prepare(sql));
  CAIRN_TRY(const bool found, statement.step());
  return found ? statement.text() : std::string();
}

std::uint64_t Database::changes() const { return static_cast<std::uint64_t>(sqlite3_changes64(handle_.get())); }

Result<void> Database::use_wal() const {
  // The switch takes an exclusive lock without asking the busy handler.
  int code = SQLITE_OK;
  for (int waited = 0;; waited += kRetryMilliseconds) {
    code = sqlite3_exec(handle_.get(), "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    const bool busy = (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED;
    if (!busy || waited >= kBusyMilliseconds) break;
    sqlite3_sleep(kRetryMilliseconds);
  }
  if (code != SQLITE_OK) return failure(code);
  CAIRN_TRY(const std::string mode, query_text("PRAGMA journal_mode"));
  if (mode == "wal") return {};
  return Error{Code::environment, fmt::format("{}: the file system cannot keep a write-ahead log (journal mode '{}')", path_, mode), {},
               {"network file systems cannot; put the memory file on a local disk"}};
}

Error Database::failure(int code, std::string_view detail) const {
  const std::string text = !detail.empty() ? std::string(detail) : handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  return describe_failure(path_, code, handle_ ? sqlite3_system_errno(handle_.get()) : 0, text);
}

Result<Transaction> Transaction::begin(const Database& database, Kind kind) {
  CAIRN_CHECKED(database.execute(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN"));
  return Transaction(&database);
}

Transaction::~Transaction() {
  // SQLite may have rolled back by itself (full disk); then there is nothing left to do.
  if (database_) (void)database_->execute("ROLLBACK").ok();
}

Result<void> Transaction::commit() {
  CAIRN_CHECKED(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace cairn
