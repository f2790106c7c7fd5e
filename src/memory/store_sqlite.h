// SQLite for the memory file: typed statements, transactions, refusals that name the file. sqlite3.h stays in the .cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace cairn {

class Database;

// A prepared statement. Binding and reading go from the first parameter and column on, in order.
class Statement {
 public:
  Statement& bind(std::string_view text);
  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(const Digest& digest);   // 16 bytes, most significant first
  // Moves to the next row; false at the end, where the statement is ready to be bound again.
  Result<bool> step();
  // Runs a statement that gives no rows.
  Result<void> run();
  std::string text();
  std::int64_t integer();
  double real();
  // A blob of another length is a damaged file: ok() of the next step() reports it.
  Digest digest();

 private:
  friend class Database;
  Statement(const Database* database, sqlite3_stmt* statement);
  struct Finalize { void operator()(sqlite3_stmt* statement) const; };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  const Database* database_;
  int parameter_ = 0, column_ = 0;
  bool damaged_ = false;
};

class Database {
 public:
  // `immutable` reads without locks: only for places where nobody can write.
  enum class Access : std::uint8_t { read, immutable, write, create };
  static Result<Database> open(const std::string& path, Access access);
  Database(Database&&) noexcept = default;
  Database& operator=(Database&&) noexcept = default;

  Result<Statement> prepare(std::string_view sql) const;
  // Runs several statements without parameters or rows.
  Result<void> execute(const std::string& sql) const;
  // The integer or the text that a query gives.
  Result<std::int64_t> query_integer(std::string_view sql) const;
  Result<std::string> query_text(std::string_view sql) const;
  // Rows that the last statement changed.
  std::uint64_t changes() const;
  // Sets the journal to WAL, waiting for others; environment error where the file system cannot do it.
  Result<void> use_wal() const;
  const std::string& path() const { return path_; }
  // The refusal for the last failed call.
  Error failure(int code, std::string_view detail = {}) const;

 private:
  Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}
  struct Close { void operator()(sqlite3* handle) const; };
  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// Rolls back at its end unless committed.
class Transaction {
 public:
  enum class Kind : std::uint8_t { read, write };
  static Result<Transaction> begin(const Database& database, Kind kind);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&& other) noexcept {
    std::swap(database_, other.database_);
    return *this;
  }
  ~Transaction();
  Result<void> commit();

 private:
  explicit Transaction(const Database* database) : database_(database) {}
  const Database* database_;
};

}  // namespace cairn
