// What is no memory file, too new, too old, read-only or damaged: a clear refusal, and the file stays as it was.
#include <gtest/gtest.h>

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "memory/cards.h"
#include "memory/store.h"
#include "memory/store_rows_make.h"
#include "memory/store_schema.h"
#include "memory/store_sqlite.h"

namespace cairn {
namespace {

using Mode = MemoryStore::Mode;

std::string text_of(const std::string& path) {
  const auto text = read_file(path);
  return text.ok() ? text.value() : "";
}

class StoreOpen : public testing::Test {
 protected:
  void SetUp() override {
    auto scratch = ScratchDir::create("cairn-store");
    ASSERT_TRUE(scratch.ok()) << render(scratch.error());
    scratch_ = std::make_unique<ScratchDir>(*std::move(scratch));
    path_ = join_path(scratch_->path(), "memory.db");
  }
  // A file that SQL makes.
  void make(const std::string& sql) const { make_at(path_, sql); }
  static void make_at(const std::string& path, const std::string& sql) {
    auto database = Database::open(path, Database::Access::create);
    ASSERT_TRUE(database.ok()) << render(database.error());
    const auto made = database->execute("BEGIN;" + sql + ";COMMIT");
    ASSERT_TRUE(made.ok()) << render(made.error());
  }
  // Both modes refuse with the code and the text, and leave the bytes alone.
  void expect_refused(Code code, int exit, const std::string& expected) const {
    const std::string before = text_of(path_);
    for (const Mode mode : {Mode::read, Mode::write}) {
      const auto store = MemoryStore::open(path_, mode);
      ASSERT_FALSE(store.ok());
      EXPECT_EQ(store.error().code, code) << render(store.error());
      EXPECT_EQ(exit_code(store.error().code), exit);
      EXPECT_NE(render(store.error()).find(expected), std::string::npos) << render(store.error());
      EXPECT_EQ(text_of(path_), before);
    }
  }
  std::vector<Evidence> rows(std::uint64_t seed, std::uint64_t count) const {
    Rng rng(seed);
    std::vector<Evidence> all;
    for (std::uint64_t k = 0; k < count; ++k) all.push_back(random_evidence(rng, "run-a", k));
    return all;
  }
  std::unique_ptr<ScratchDir> scratch_;
  std::string path_;
};

TEST_F(StoreOpen, RefusesAMissingFileForReadingOnly) {
  const auto store = MemoryStore::open(path_, Mode::read);
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, Code::usage);
  EXPECT_FALSE(file_exists(path_));
  EXPECT_TRUE(MemoryStore::open(path_, Mode::write).ok());
  EXPECT_TRUE(MemoryStore::open(path_, Mode::read).ok());
}

TEST_F(StoreOpen, RefusesTexts) {
  ASSERT_TRUE(write_file_atomic(path_, std::string(5000, 'x')).ok());
  expect_refused(Code::parse, 3, "found something that is no SQLite database");
}

TEST_F(StoreOpen, RefusesOtherDatabases) {
  make("CREATE TABLE t (x); INSERT INTO t VALUES (1); PRAGMA user_version = 2");
  expect_refused(Code::parse, 3, "application id 0x0, expected 0x43524e31");
}

TEST_F(StoreOpen, RefusesANewerSchema) {
  { ASSERT_TRUE(MemoryStore::open(path_, Mode::write).ok()); }
  make("PRAGMA user_version = 99; CREATE TABLE future (x)");
  expect_refused(Code::parse, 3, "has memory schema 99, this build reads up to");
}

TEST_F(StoreOpen, RefusesADirectory) {
  ASSERT_TRUE(make_directories(path_).ok());
  expect_refused(Code::usage, 2, "is a directory, expected a memory file");
}

TEST_F(StoreOpen, RefusesAMemoryWithoutItsTables) {
  { ASSERT_TRUE(MemoryStore::open(path_, Mode::write).ok()); }
  make("DROP TABLE edge");
  const auto writer = MemoryStore::open(path_, Mode::write);
  const auto reader = MemoryStore::open(path_, Mode::read);
  ASSERT_FALSE(writer.ok());
  ASSERT_TRUE(reader.ok());
  const auto content = reader->snapshot();
  ASSERT_FALSE(content.ok());
  for (const Error& error : {writer.error(), content.error()}) {
    EXPECT_EQ(error.code, Code::parse);
    EXPECT_NE(error.message.find("is damaged: no such table: edge"), std::string::npos) << error.message;
  }
}

TEST_F(StoreOpen, FillsAnEmptyFile) {
  ASSERT_TRUE(write_file_atomic(path_, "").ok());
  auto store = MemoryStore::open(path_, Mode::write);
  ASSERT_TRUE(store.ok()) << render(store.error());
  EXPECT_TRUE(store->put(rows(1, 3)).ok());
}

TEST_F(StoreOpen, MigratesSchemaOne) {
  const std::string old = text_of(CAIRN_SOURCE_DIR "/tests/memory/files/memory_v1.sql");
  ASSERT_FALSE(old.empty());
  for (const Mode mode : {Mode::read, Mode::write}) {
    remove_tree(path_);
    make(old);
    auto store = MemoryStore::open(path_, mode);
    ASSERT_TRUE(store.ok()) << render(store.error());
    const auto content = store->snapshot();
    ASSERT_TRUE(content.ok()) << render(content.error());
    EXPECT_EQ(content->directions, built_in_cards().directions);   // what stood there was an older build's
    EXPECT_EQ(describe(without_built_in(*content)),
              "run run-old | level1/1_mm | product | htam | cpu 9f | host | 7 1700000000 1700000100 true\n"
              "evidence 000102030405060708090a0b0c0d0e0f run-old 3 1 | level1/1_mm | product | 1 2.5 | memory fusion operator_fusion | START  START  | "
              "operator_fusion(first=0, second=1) | parallel 5 | 0.25 0.5 passed ok executed | cpu 9f | avx512 | cpu | strategy@47d2882 | "
              "101112131415161718191a1b1c1d1e1f 202122232425262728292a2b2c2d2e2f 1700000042 true\n"
              "decision run-old 3 | {} true\n");
    EXPECT_EQ(store->statistics().value().size(), 4u);
  }
}

// Runs and decisions got a mark of their own in schema 3: it is that of their rows.
TEST_F(StoreOpen, MigratesSchemaTwo) {
  make(text_of(CAIRN_SOURCE_DIR "/tests/memory/files/memory_v2.sql"));
  auto store = MemoryStore::open(path_, Mode::write);
  ASSERT_TRUE(store.ok()) << render(store.error());
  const auto content = store->snapshot();
  ASSERT_TRUE(content.ok()) << render(content.error());
  ASSERT_EQ(content->runs.size(), 2u);
  ASSERT_EQ(content->decisions.size(), 2u);
  ASSERT_EQ(content->evidence.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    const bool own = content->runs[k].id == "run-own";
    EXPECT_EQ(content->runs[k].trusted, own) << content->runs[k].id;
    EXPECT_EQ(content->decisions[k].trusted, content->decisions[k].run == "run-own");
    EXPECT_EQ(content->runs[k].finished, 1700000100);
    EXPECT_EQ(content->decisions[k].document, "{}");
  }
  EXPECT_EQ(store->statistics().value().size(), 4u);
}

// A migrated file and a new one have the same tables.
TEST_F(StoreOpen, MigratesToTheSchemaOfNewFiles) {
  const std::string query = "SELECT group_concat(t.name || ' ' || c.cid || ' ' || c.name || ' ' || c.type || ' ' || c.\"notnull\" || ' ' || c.pk, char(10)) "
                            "FROM (SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name) t, pragma_table_info(t.name) c";
  std::string tables[3];
  for (int k = 0; k < 3; ++k) {
    const std::string path = path_ + std::to_string(k);
    if (k > 0) make_at(path, text_of(fmt::format("{}/tests/memory/files/memory_v{}.sql", CAIRN_SOURCE_DIR, k)));
    ASSERT_TRUE(MemoryStore::open(path, Mode::write).ok());
    auto database = Database::open(path, Database::Access::read);
    ASSERT_TRUE(database.ok());
    auto text = database->query_text(query);
    ASSERT_TRUE(text.ok()) << render(text.error());
    tables[k] = *text;
  }
  EXPECT_GT(tables[0].size(), 1000u);
  EXPECT_EQ(tables[0], tables[1]);
  EXPECT_EQ(tables[0], tables[2]);
}

// Acts as a user without rights on what root owns.
class AsNobody {
 public:
  AsNobody() : active_(geteuid() == 0 && seteuid(65534) == 0) {}
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() {
    if (active_ && seteuid(0) != 0) ADD_FAILURE() << "the user did not come back";
  }
 private:
  bool active_;
};

TEST_F(StoreOpen, ReadsAndRefusesToWriteInReadOnlyPlaces) {
  const std::string directory = join_path(scratch_->path(), "locked");
  path_ = join_path(directory, "memory.db");
  {
    auto store = MemoryStore::open(path_, Mode::write);
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE(store->put(rows(2, 10)).ok());
  }
  ASSERT_FALSE(file_exists(path_ + "-wal"));
  ASSERT_EQ(chmod(scratch_->path().c_str(), 0755), 0);
  ASSERT_EQ(chmod(path_.c_str(), 0444), 0);
  ASSERT_EQ(chmod(directory.c_str(), 0555), 0);
  const std::string before = text_of(path_);
  {
    const AsNobody nobody;
    auto reader = MemoryStore::open(path_, Mode::read);
    ASSERT_TRUE(reader.ok()) << render(reader.error());
    EXPECT_EQ(reader->read().value().size(), 10u);
    for (const std::string& path : {path_, join_path(directory, "new.db"), join_path(directory, "sub/new.db")}) {
      const auto writer = MemoryStore::open(path, Mode::write);
      ASSERT_FALSE(writer.ok()) << path;
      EXPECT_EQ(exit_code(writer.error().code), 4) << render(writer.error());
      EXPECT_NE(writer.error().message.find(directory), std::string::npos) << render(writer.error());
    }
  }
  ASSERT_EQ(chmod(directory.c_str(), 0755), 0);
  EXPECT_EQ(text_of(path_), before);
}

TEST_F(StoreOpen, SaysThatAnOlderMemoryNeedsAPlaceToWrite) {
  const std::string directory = join_path(scratch_->path(), "locked");
  ASSERT_TRUE(make_directories(directory).ok());
  path_ = join_path(directory, "memory.db");
  make(text_of(CAIRN_SOURCE_DIR "/tests/memory/files/memory_v1.sql"));
  ASSERT_EQ(chmod(scratch_->path().c_str(), 0755), 0);
  ASSERT_EQ(chmod(path_.c_str(), 0444), 0);
  ASSERT_EQ(chmod(directory.c_str(), 0555), 0);
  const std::string before = text_of(path_);
  {
    const AsNobody nobody;
    const auto reader = MemoryStore::open(path_, Mode::read);
    ASSERT_FALSE(reader.ok());
    EXPECT_EQ(reader.error().code, Code::io);
    EXPECT_NE(render(reader.error()).find(fmt::format("it has memory schema 1, this build needs {}: open it once where it can be written", kMemoryVersion)),
              std::string::npos) << render(reader.error());
  }
  ASSERT_EQ(chmod(directory.c_str(), 0755), 0);
  EXPECT_EQ(text_of(path_), before);
}

// Flipped and cut files are read, or refused as input or place; nothing else happens.
TEST_F(StoreOpen, SurvivesDamage) {
  {
    auto store = MemoryStore::open(path_, Mode::write);
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE(store->put(rows(3, 60)).ok());
  }
  const std::string whole = text_of(path_);
  ASSERT_GT(whole.size(), 20'000u);
  Rng rng(4);
  int refused = 0;
  for (int round = 0; round < 60; ++round) {
    std::string bytes = whole;
    if (round % 4 == 0) bytes.resize(rng.below(bytes.size()));
    for (std::uint64_t k = round % 4 == 0 ? 0 : 1 + rng.below(40); k > 0; --k) bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
    for (const char* tail : {"-wal", "-shm"}) remove_tree(path_ + tail);
    ASSERT_TRUE(write_file_atomic(path_, bytes).ok());
    auto store = MemoryStore::open(path_, round % 2 == 0 ? Mode::read : Mode::write);
    Error error;
    if (!store.ok()) {
      error = store.error();
      EXPECT_EQ(text_of(path_), bytes);
    } else {
      const auto content = store->snapshot();
      const auto statistics = store->statistics();
      if (content.ok() && statistics.ok()) continue;
      error = content.ok() ? statistics.error() : content.error();
    }
    ++refused;
    EXPECT_TRUE(error.code == Code::parse || error.code == Code::io) << render(error);
    EXPECT_NE(error.message.find(path_), std::string::npos) << render(error);
  }
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace cairn
