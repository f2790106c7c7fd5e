#include "base/lock.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace cairn {
namespace {

TEST(FileLock, OneAtATimeAndFreeAfterwards) {
  const auto scratch = ScratchDir::create("cairn-lock");
  ASSERT_TRUE(scratch.ok());
  const std::string directory = join_path(scratch->path(), "run");
  ASSERT_TRUE(make_directories(directory).ok());
  {
    const auto first = FileLock::try_take(directory);
    ASSERT_TRUE(first.ok()) << render(first.error());
    ASSERT_TRUE(first->has_value());
    const auto second = FileLock::try_take(directory);
    ASSERT_TRUE(second.ok());
    EXPECT_FALSE(second->has_value());
  }
  EXPECT_TRUE(FileLock::try_take(directory)->has_value());
}

TEST(FileLock, MakesItsFileWhereThatIsAskedFor) {
  const auto scratch = ScratchDir::create("cairn-lock");
  ASSERT_TRUE(scratch.ok());
  const std::string path = join_path(scratch->path(), "lane");
  {
    const auto first = FileLock::try_make(path);
    ASSERT_TRUE(first.ok()) << render(first.error());
    EXPECT_TRUE(first->has_value());
    EXPECT_FALSE(FileLock::try_make(path)->has_value());
  }
  EXPECT_TRUE(file_exists(path));
  EXPECT_TRUE(FileLock::try_make(path)->has_value());
  EXPECT_EQ(FileLock::try_make(join_path(path, "below a file")).error().code, Code::io);
}

TEST(FileLock, ReportsAPlaceThatIsNotThere) {
  const auto lock = FileLock::try_take("/nonexistent/run");
  ASSERT_FALSE(lock.ok());
  EXPECT_EQ(lock.error().code, Code::io);
}

}  // namespace
}  // namespace cairn
