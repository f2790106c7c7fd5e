#include "base/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/lock.h"

namespace cairn {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(OwnedFd, ClosesWhatItOwnsOnce) {
  int number = -1;
  {
    OwnedFd first = open_retry("/dev/null", O_RDONLY);
    ASSERT_TRUE(first.held());
    number = first.get();
    EXPECT_NE(::fcntl(number, F_GETFD) & FD_CLOEXEC, 0);
    const OwnedFd second = std::move(first);
    EXPECT_FALSE(first.held());
    EXPECT_EQ(second.get(), number);
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
  EXPECT_FALSE(open_retry("/nonexistent", O_RDONLY).held());
}

TEST(OwnedFd, AnAssignedOneClosesWhatItHeldAtOnce) {
  OwnedFd first = open_retry("/dev/null", O_RDONLY), second = open_retry("/dev/null", O_RDONLY);
  const int old = first.get(), kept = second.get();
  first = std::move(second);
  EXPECT_FALSE(is_open(old));
  EXPECT_TRUE(is_open(kept));
  first.reset();
  EXPECT_FALSE(is_open(kept));
}

TEST(OwnedFd, ALockThatIsAssignedToFreesItsFile) {
  const auto one = ScratchDir::create(), two = ScratchDir::create();
  ASSERT_TRUE(one.ok() && two.ok());
  // Directories beside the scratch directories, which are locked themselves.
  const std::string a = join_path(one->path(), "a"), b = join_path(two->path(), "b");
  ASSERT_TRUE(make_directories(a).ok() && make_directories(b).ok());
  auto first = FileLock::try_take(a), second = FileLock::try_take(b);
  ASSERT_TRUE(first.ok() && first->has_value() && second.ok() && second->has_value());
  **first = std::move(**second);
  EXPECT_TRUE(FileLock::try_take(a)->has_value());
  EXPECT_FALSE(FileLock::try_take(b)->has_value());
}

}  // namespace
}  // namespace cairn
