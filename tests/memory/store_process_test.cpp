// Several processes on one memory file: writers at once, killed in the middle of writing, out of disk.
#include <gtest/gtest.h>
#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "base/file.h"
#include "memory/store.h"
#include "memory/store_rows.h"
#include "memory/store_rows_make.h"
#include "memory/store_schema.h"

namespace cairn {
namespace {

using Mode = MemoryStore::Mode;
constexpr std::uint64_t kBatch = 10;

std::vector<Evidence> batch_of(const std::string& run, std::uint64_t batch) {
  Rng rng(hash64(run) + batch);
  std::vector<Evidence> rows;
  for (std::uint64_t k = 0; k < kBatch; ++k) rows.push_back(random_evidence(rng, run, batch * kBatch + k));
  return rows;
}

// Runs `body` in a child; its exit status.
template <class Body>
pid_t start_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::string integrity(const std::string& path) {
  const auto database = Database::open(path, Database::Access::write);
  if (!database.ok()) return render(database.error());
  const auto text = database->query_text("PRAGMA integrity_check");
  return text.ok() ? text.value() : render(text.error());
}

// Number of batches of a run; fails unless they are whole and the first ones.
std::uint64_t count_batches(const std::string& path, const std::string& run) {
  auto store = MemoryStore::open(path, Mode::read);
  EXPECT_TRUE(store.ok()) << render(store.error());
  if (!store.ok()) return 0;
  EvidenceQuery query;
  query.run = run;
  const auto rows = store->read(query);
  EXPECT_TRUE(rows.ok()) << render(rows.error());
  if (!rows.ok()) return 0;
  std::map<std::uint64_t, std::string> found;
  for (const Evidence& row : *rows) found[row.number] = describe(row);
  EXPECT_EQ(found.size() % kBatch, 0u);
  for (std::uint64_t batch = 0; batch < found.size() / kBatch; ++batch) {
    for (const Evidence& row : batch_of(run, batch)) EXPECT_EQ(found[row.number], describe(row));
  }
  return found.size() / kBatch;
}

class StoreProcess : public testing::Test {
 protected:
  void SetUp() override {
    auto scratch = ScratchDir::create("cairn-store");
    ASSERT_TRUE(scratch.ok()) << render(scratch.error());
    scratch_ = std::make_unique<ScratchDir>(*std::move(scratch));
    path_ = join_path(scratch_->path(), "new/memory.db");
  }
  std::unique_ptr<ScratchDir> scratch_;
  std::string path_;
};

TEST_F(StoreProcess, ManyCreateAndWriteAtOnce) {
  constexpr int kWriters = 6;
  constexpr std::uint64_t kBatches = 12;
  std::vector<pid_t> children;
  for (int writer = 0; writer < kWriters; ++writer) {
    children.push_back(start_child([&] {
      const std::string run = "run-" + std::to_string(writer);
      for (std::uint64_t batch = 0; batch < kBatches; ++batch) {
        auto store = MemoryStore::open(path_, Mode::write);   // anew each time: creation and migration race too
        if (!store.ok()) return fputs((render(store.error()) + "\n").c_str(), stderr), 1;
        const auto put = store->put(batch_of(run, batch));
        if (!put.ok()) return fputs((render(put.error()) + "\n").c_str(), stderr), 2;
        const auto snapshot = store->snapshot();
        if (!snapshot.ok() || snapshot->evidence.size() % kBatch != 0) return 3;   // no reader sees half a transaction
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  EXPECT_EQ(integrity(path_), "ok");
  for (int writer = 0; writer < kWriters; ++writer) EXPECT_EQ(count_batches(path_, "run-" + std::to_string(writer)), kBatches);
}

TEST_F(StoreProcess, ReadersKeepTheirSnapshot) {
  auto writer = MemoryStore::open(path_, Mode::write);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->put(batch_of("run-a", 0)).ok());
  auto database = Database::open(path_, Database::Access::read);
  ASSERT_TRUE(database.ok());
  auto transaction = Transaction::begin(*database, Transaction::Kind::read);
  ASSERT_TRUE(transaction.ok());
  EXPECT_EQ(read_evidence(*database, {}).value().size(), kBatch);
  ASSERT_TRUE(writer->put(batch_of("run-a", 1)).ok());    // a reader does not hold a writer up
  EXPECT_EQ(read_evidence(*database, {}).value().size(), kBatch);
  ASSERT_TRUE(transaction->commit().ok());
  EXPECT_EQ(read_evidence(*database, {}).value().size(), 2 * kBatch);
}

TEST_F(StoreProcess, KilledWritersLoseOnlyTheTransactionInFlight) {
  Rng rng(1);
  for (int round = 0; round < 25; ++round) {
    const std::string run = "run-" + std::to_string(round);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = start_child([&] {
      auto store = MemoryStore::open(path_, Mode::write);
      if (!store.ok()) return 1;
      for (std::uint64_t batch = 0; batch < 100'000; ++batch) {
        if (!store->put(batch_of(run, batch)).ok()) return 2;
        if (write(ends[1], "+", 1) != 1) return 3;            // told: committed
      }
      return 0;
    });
    close(ends[1]);
    usleep(static_cast<useconds_t>(rng.below(30'000)));       // also before the file is made
    ASSERT_EQ(kill(child, SIGKILL), 0);
    EXPECT_EQ(wait_for(child), -SIGKILL);
    std::uint64_t told = 0;
    char byte;
    while (read(ends[0], &byte, 1) == 1) ++told;
    close(ends[0]);
    if (!file_exists(path_)) continue;
    const std::uint64_t found = count_batches(path_, run);
    EXPECT_GE(found, told);
    EXPECT_LE(found, told + 1);
  }
  EXPECT_EQ(integrity(path_), "ok");
  EXPECT_TRUE(MemoryStore::open(path_, Mode::write).ok());
}

// The largest file a process may write stands for the end of the disk.
TEST_F(StoreProcess, AFullDiskLosesNothing) {
  for (const rlim_t limit : {rlim_t{0}, rlim_t{3000}, rlim_t{60'000}, rlim_t{100'000}, rlim_t{300'000}}) {
    SCOPED_TRACE(limit);
    const std::string run = "run-" + std::to_string(limit);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = start_child([&] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit bound{limit, limit};
      if (setrlimit(RLIMIT_FSIZE, &bound) != 0) return 1;
      auto store = MemoryStore::open(path_, Mode::write);
      if (!store.ok()) return exit_code(store.error().code) == 4 ? 42 : 2;
      for (std::uint64_t batch = 0; batch < 10'000; ++batch) {
        const auto put = store->put(batch_of(run, batch));
        if (!put.ok()) {
          // Reading still works, and what is there is whole.
          const auto rows = store->read();
          if (!rows.ok() || rows->size() % kBatch != 0) return 3;
          return exit_code(put.error().code) == 4 && put.error().message.find(path_) != std::string::npos ? 42 : 4;
        }
        if (write(ends[1], "+", 1) != 1) return 5;
      }
      return 0;
    });
    close(ends[1]);
    EXPECT_EQ(wait_for(child), 42);
    std::uint64_t told = 0;
    char byte;
    while (read(ends[0], &byte, 1) == 1) ++told;
    close(ends[0]);
    // With room again the next writer goes on where the last transaction ended.
    auto store = MemoryStore::open(path_, Mode::write);
    ASSERT_TRUE(store.ok()) << render(store.error());
    EXPECT_EQ(count_batches(path_, run), told);
    ASSERT_TRUE(store->put(batch_of(run, told)).ok());
    EXPECT_EQ(count_batches(path_, run), told + 1);
    EXPECT_EQ(integrity(path_), "ok");
  }
}

TEST_F(StoreProcess, AFullDatabaseRollsBack) {
  auto store = MemoryStore::open(path_, Mode::write);
  ASSERT_TRUE(store.ok());
  ASSERT_TRUE(store->put(batch_of("run-a", 0)).ok());
  auto database = Database::open(path_, Database::Access::write);
  ASSERT_TRUE(database.ok());
  const std::int64_t pages = database->query_integer("PRAGMA page_count").value();
  ASSERT_TRUE(database->execute("PRAGMA max_page_count = " + std::to_string(pages + 2)).ok());
  MemoryContent content;
  for (std::uint64_t batch = 0; batch < 50; ++batch) {
    for (Evidence& row : batch_of("run-b", batch)) content.evidence.push_back(std::move(row));
  }
  {
    auto transaction = Transaction::begin(*database, Transaction::Kind::write);
    ASSERT_TRUE(transaction.ok());
    const auto written = write_content(*database, content);
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().code, Code::io);
    EXPECT_EQ(written.error().message, path_ + ": the disk is full; nothing was written");
  }
  EXPECT_EQ(count_batches(path_, "run-a"), 1u);
  EXPECT_EQ(count_batches(path_, "run-b"), 0u);
  EXPECT_TRUE(store->put(batch_of("run-b", 0)).ok());
}

}  // namespace
}  // namespace cairn
