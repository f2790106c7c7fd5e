#include "base/process.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"

namespace cairn {
namespace {

ProcessSpec shell(const std::string& text) {
  ProcessSpec spec;
  spec.argv = {"sh", "-c", text};
  spec.limits.wall_seconds = 20;
  return spec;
}

TEST(Process, CarriesInputOutputAndStatus) {
  ProcessSpec spec = shell("cat; echo err >&2; exit 7");
  spec.stdin_bytes = std::string(300000, 'q');
  const auto r = run_process(spec);
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->out, spec.stdin_bytes);
  EXPECT_EQ(r->err, "err\n");
  EXPECT_EQ(r->exit_status, 7);
  EXPECT_FALSE(r->succeeded());
}

TEST(Process, EnvironmentAndDirectory) {
  auto dir = ScratchDir::create();
  ProcessSpec spec = shell("pwd; echo $CAIRN_X; env | grep -c CAIRN_LEAK");
  ::setenv("CAIRN_LEAK", "1", 1);
  spec.clean_env = true;
  spec.directory = dir->path();
  spec.extra_env["CAIRN_X"] = "yes";
  const auto r = run_process(spec);
  ::unsetenv("CAIRN_LEAK");
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->out, dir->path() + "\nyes\n0\n");
}

TEST(Process, ACrashIsAValue) {
  const auto r = run_process(shell("kill -SEGV $$"));
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->signal, SIGSEGV);
}

TEST(Process, AHangEndsAtTheLimitWithItsWholeGroup) {
  auto dir = ScratchDir::create();
  ProcessSpec spec = shell("(sleep 1.2; touch late) & sleep 30");
  spec.directory = dir->path();
  spec.limits.wall_seconds = 0.3;
  const auto r = run_process(spec);
  ASSERT_TRUE(r.ok());
  EXPECT_TRUE(r->timed_out);
  EXPECT_LT(r->wall_seconds, 1.1);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_FALSE(file_exists(dir->path() + "/late")) << "a grandchild outlived the limit";
}

TEST(Process, NothingAppearsOnceItHasReturned) {
  for (int round = 0; round < 10; ++round) {
    const auto dir = ScratchDir::create();
    ProcessSpec spec = shell("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do (n=0; while :; do : > $i.$n; n=$((n+1)); done) & done; wait");
    spec.directory = dir->path();
    spec.limits.wall_seconds = 0.1;
    ASSERT_TRUE(run_process(spec).ok());
    const std::vector<std::string> names = list_directory(dir->path()).value();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(list_directory(dir->path()).value().size(), names.size()) << "round " << round;
  }
}

TEST(Process, AnOrphanHoldingThePipeDoesNotDelayTheEnd) {
  const auto r = run_process(shell("sleep 30 & echo done"));
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->out, "done\n");
  EXPECT_LT(r->wall_seconds, 5);
}

TEST(Process, AFloodIsCutAndEnded) {
  ProcessSpec spec = shell("yes");
  spec.limits.output_bytes = 100000;
  const auto r = run_process(spec);
  ASSERT_TRUE(r.ok());
  EXPECT_TRUE(r->output_truncated);
  EXPECT_EQ(r->out.size(), 100000u);
  EXPECT_LT(r->wall_seconds, 5);
}

TEST(Process, LimitsOfFilesAndCpu) {
  auto dir = ScratchDir::create();
  ProcessSpec spec = shell("head -c 100000 /dev/zero > big");
  spec.directory = dir->path();
  spec.limits.file_bytes = 1000;
  const auto r = run_process(spec);
  ASSERT_TRUE(r.ok());
  EXPECT_FALSE(r->succeeded());
  EXPECT_LE(read_file(dir->path() + "/big").value().size(), 1000u);
  ProcessSpec busy = shell("while :; do :; done");
  busy.limits.cpu_seconds = 1;
  const auto b = run_process(busy);
  ASSERT_TRUE(b.ok());
  EXPECT_NE(b->signal, 0);
  EXPECT_FALSE(b->timed_out);
}

TEST(Process, MissingProgramsAreNamed) {
  ProcessSpec spec;
  spec.argv = {"cairn-no-such-program"};
  const auto r = run_process(spec);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, Code::environment);
  EXPECT_NE(r.error().message.find("cairn-no-such-program"), std::string::npos);
  spec.argv = {"/etc/passwd"};
  EXPECT_FALSE(run_process(spec).ok());
  EXPECT_EQ(find_program("sh").value().substr(0, 1), "/");
}

TEST(Process, InterruptEndsTheChild) {
  install_interrupt_handlers();
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ::kill(::getpid(), SIGINT);
  });
  const double start = system_clock().now();
  const auto r = run_process(shell("sleep 30"));
  later.join();
  clear_interrupt();
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, Code::interrupted);
  EXPECT_LT(system_clock().now() - start, 5);
}

TEST(Process, RunsFromSeveralThreads) {
  std::vector<std::thread> threads;
  std::vector<std::string> outs(8);
  for (std::size_t i = 0; i < outs.size(); ++i) {
    threads.emplace_back([&outs, i] { outs[i] = run_process(shell("echo " + std::to_string(i))).value().out; });
  }
  for (auto& t : threads) t.join();
  for (std::size_t i = 0; i < outs.size(); ++i) EXPECT_EQ(outs[i], std::to_string(i) + "\n");
}

}  // namespace
}  // namespace cairn
