#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include <csignal>
#include <cstdlib>

#include "base/process.h"

namespace cairn {
namespace {

TEST(File, WritesReadsAndReplaces) {
  auto dir = ScratchDir::create();
  ASSERT_TRUE(dir.ok());
  const std::string path = join_path(dir->path(), "a.txt");
  std::string bytes(200000, 'x');
  bytes[7] = '\0';
  ASSERT_TRUE(write_file_atomic(path, bytes).ok());
  ASSERT_TRUE(write_file_atomic(path, bytes + "y").ok());
  auto back = read_file(path);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(*back, bytes + "y");
}

TEST(File, RefusalsNameThePathAndTheReason) {
  auto missing = read_file("/nonexistent/x");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::io);
  EXPECT_NE(missing.error().message.find("/nonexistent/x"), std::string::npos);
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos);
  auto directory = read_file("/");
  ASSERT_FALSE(directory.ok());
  EXPECT_NE(directory.error().message.find("directory"), std::string::npos);
  EXPECT_FALSE(write_file_atomic("/nonexistent/x", "a").ok());
}

// A full disk, for a process of its own: nothing may grow beyond `bytes`.
void limit_files(rlim_t bytes) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  limit.rlim_cur = limit.rlim_max = bytes;
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(File, FullDiskLeavesTheOldFileAndNoTemporary) {
  auto dir = ScratchDir::create();
  ASSERT_TRUE(dir.ok());
  const std::string path = join_path(dir->path(), "keep");
  ASSERT_TRUE(write_file_atomic(path, "old").ok());
  const std::string victim = path;
  EXPECT_EXIT(
      {
        limit_files(1000);
        auto written = write_file_atomic(victim, std::string(5000, 'z'));
        ::_exit(!written.ok() && written.error().code == Code::io ? 3 : 4);
      },
      testing::ExitedWithCode(3), "");
  EXPECT_EQ(read_file(path).value(), "old");
  ProcessSpec list;
  list.argv = {"ls", dir->path()};
  EXPECT_EQ(run_process(list).value().out, "keep\n");
}

TEST(File, AppendLogKeepsWholeLinesAndReportsAFullDisk) {
  auto dir = ScratchDir::create();
  ASSERT_TRUE(dir.ok());
  const std::string path = join_path(dir->path(), "log");
  {
    auto log = AppendLog::open(path);
    ASSERT_TRUE(log.ok());
    ASSERT_TRUE(log->append("one", true).ok());
    ASSERT_TRUE(log->append("two", false).ok());
  }
  EXPECT_EQ(read_file(path).value(), "one\ntwo\n");
  EXPECT_EXIT(
      {
        limit_files(12);
        auto log = AppendLog::open(path);
        ::_exit(log.ok() && !log->append("three and more", false).ok() ? 3 : 4);
      },
      testing::ExitedWithCode(3), "");
  EXPECT_EQ(read_file(path).value(), "one\ntwo\n") << "the torn tail stayed";
  auto full = AppendLog::open("/dev/full");
  if (full.ok()) {
    EXPECT_FALSE(full->append("x", true).ok());
  }
}

TEST(File, ScratchDirectoriesGoAwayAlsoThoseOfTheDead) {
  std::string path;
  {
    auto dir = ScratchDir::create("cairntest");
    ASSERT_TRUE(dir.ok());
    path = dir->path();
    ASSERT_TRUE(make_directories(path + "/a/b").ok());
    ASSERT_TRUE(write_file_atomic(path + "/a/b/c", "x").ok());
    ::chmod((path + "/a").c_str(), 0);
    ScratchDir moved = std::move(*dir);
    EXPECT_EQ(moved.path(), path);
  }
  EXPECT_FALSE(file_exists(path));
  // One whose owner was killed: old and unlocked.
  const char* variable = std::getenv("TMPDIR");
  std::string dead = join_path(variable != nullptr ? variable : "/tmp", "cairntest-XXXXXX");
  ASSERT_NE(::mkdtemp(dead.data()), nullptr);
  utimbuf old{1000, 1000};
  ASSERT_EQ(::utime(dead.c_str(), &old), 0);
  auto other = ScratchDir::create("cairntest");
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(file_exists(dead));
  // A living one stays, however old.
  ASSERT_EQ(::utime(other->path().c_str(), &old), 0);
  auto third = ScratchDir::create("cairntest");
  ASSERT_TRUE(third.ok());
  EXPECT_TRUE(file_exists(other->path()));
}

TEST(File, PathParts) {
  EXPECT_EQ(dirname_of("a"), ".");
  EXPECT_EQ(dirname_of("/a"), "/");
  EXPECT_EQ(dirname_of("/a/b"), "/a");
  EXPECT_EQ(basename_of("/a/b"), "b");
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("a/", "b"), "a/b");
  EXPECT_EQ(join_path("a", "/b"), "/b");
  EXPECT_FALSE(make_directories("/dev/null/x").ok());
}

}  // namespace
}  // namespace cairn
