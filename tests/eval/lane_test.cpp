// The measurement lane between real processes.
#include "eval/lane.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>

#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "eval/evaluator.h"
#include "eval_tasks.h"

namespace cairn {
namespace {

void sleep_milliseconds(long count) {
  const timespec pause{count / 1000, count % 1000 * 1'000'000};
  ::nanosleep(&pause, nullptr);
}

// A process of its own that takes a turn of the lane in `directory` and keeps it until it is killed.
class Holder {
 public:
  explicit Holder(const std::string& directory, const std::string& device) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      MeasureLane lane({directory, {}, {}}, device, system_clock());
      const auto turn = lane.take();
      const char taken = turn.ok() && turn->has_value() ? 'y' : 'n';
      if (::write(ends[1], &taken, 1) != 1) _exit(1);
      for (;;) ::pause();
    }
    char taken = 0;
    EXPECT_EQ(::read(ends[0], &taken, 1), 1);
    EXPECT_EQ(taken, 'y');
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~Holder() { end(); }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
};

class Lane : public testing::Test {
 protected:
  void SetUp() override {
    auto scratch = ScratchDir::create("cairn-lane");
    ASSERT_TRUE(scratch.ok()) << render(scratch.error());
    scratch_.emplace(std::move(*scratch));
  }
  std::string directory() const { return join_path(scratch_->path(), "lanes"); }
  std::optional<ScratchDir> scratch_;
};

struct Visit {
  int who;
  double begin, end;
};

// Takes ten turns and writes down when each began and ended.
[[noreturn]] void take_turns(const std::string& directory, int who, std::FILE* out) {
  MeasureLane lane({directory, {}, {}}, "device", system_clock());
  for (int k = 0; k < 10; ++k) {
    const auto turn = lane.take();
    if (!turn.ok() || !turn->has_value()) _exit(1);
    const double begin = system_clock().now();
    sleep_milliseconds(20);
    std::fprintf(out, "%d %.9f %.9f\n", who, begin, system_clock().now());
    std::fflush(out);
  }
  _exit(0);
}

TEST_F(Lane, TwoProcessesTakeTurns) {
  const std::string path = join_path(scratch_->path(), "visits");
  std::FILE* out = std::fopen(path.c_str(), "a");
  ASSERT_NE(out, nullptr);
  pid_t children[2];
  for (int who = 0; who < 2; ++who) {
    children[who] = ::fork();
    if (children[who] == 0) take_turns(directory(), who, out);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  std::fclose(out);
  std::FILE* in = std::fopen(path.c_str(), "r");
  ASSERT_NE(in, nullptr);
  std::vector<Visit> visits;
  for (Visit v{}; std::fscanf(in, "%d %lf %lf", &v.who, &v.begin, &v.end) == 3;) visits.push_back(v);
  std::fclose(in);
  ASSERT_EQ(visits.size(), 20u);
  std::sort(visits.begin(), visits.end(), [](const Visit& a, const Visit& b) { return a.begin < b.begin; });
  int changes = 0;
  for (std::size_t k = 1; k < visits.size(); ++k) {
    EXPECT_GE(visits[k].begin, visits[k - 1].end);
    changes += visits[k].who != visits[k - 1].who;
  }
  // Each in turn; a busy machine may let one of them come late.
  EXPECT_GE(changes, 8);
}

TEST_F(Lane, AKilledHolderLeavesItFree) {
  Holder holder(directory(), "device");
  int waits = 0;
  MeasureLane lane({directory(), [&](double) { if (++waits == 3) holder.end(); }, {}}, "device", system_clock());
  const auto turn = lane.take();
  ASSERT_TRUE(turn.ok()) << render(turn.error());
  EXPECT_TRUE(turn->has_value());
  EXPECT_GE(waits, 3);
  EXPECT_GT(lane.waited(), 0);
  // Another device has a lane of its own.
  MeasureLane other({directory(), [](double) { FAIL() << "nobody measures there"; }, {}}, "another device", system_clock());
  EXPECT_TRUE(other.take().ok());
}

TEST_F(Lane, AWaiterCanBeInterrupted) {
  Holder holder(directory(), "device");
  install_interrupt_handlers();
  MeasureLane lane({directory(), [](double) { if (interrupted() == 0) ::raise(SIGTERM); }, {}}, "device", system_clock());
  const auto turn = lane.take();
  clear_interrupt();
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  ASSERT_FALSE(turn.ok());
  EXPECT_EQ(turn.error().code, Code::interrupted);
}

TEST_F(Lane, WithoutAPlaceForLocksNobodyWaitsAndItIsSaidOnce) {
  ASSERT_TRUE(write_file_atomic(directory(), "a file where the directory should be").ok());
  std::vector<std::string> notes;
  MeasureLane lane({directory(), {}, [&](const std::string& note) { notes.push_back(note); }}, "device", system_clock());
  for (int k = 0; k < 2; ++k) {
    const auto turn = lane.take();
    ASSERT_TRUE(turn.ok());
    EXPECT_FALSE(turn->has_value());
  }
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].rfind("other processes may measure at the same time: ", 0), 0u) << notes[0];
}

TEST_F(Lane, TheEvaluatorCompilesBeforeItWaits) {
  Holder holder(directory(), name_cpu_lane());
  EvalTask task;
  task.name = "double";
  task.naive = testing_eval::parse_text("in A^{f32}_{64};\nout B^{f32}_{64};\nL^{64}_{i=0}[B^{f32,g}_{i}=A^{f32,g}_{i}*2;];\n");
  const Program naive = task.naive;
  CpuEvalOptions options;
  options.sample_seconds = 0.02;
  options.cache_directory = join_path(scratch_->path(), "cache");
  double waited = 0;
  std::size_t objects = 0;
  options.lane = {directory(), [&](double seconds) {
    waited = seconds;
    if (seconds < 0.3) return;
    objects = list_directory(join_path(options.cache_directory, "objects")).value().size();
    holder.end();
  }, {}};
  const auto evaluator = make_cpu_evaluator(std::move(task), described_target(), options, system_clock());
  ASSERT_TRUE(evaluator.ok()) << render(evaluator.error());
  const double begun = system_clock().now();
  const EvalResult result = evaluator.value()->evaluate(naive);
  EXPECT_TRUE(result.passed()) << result.reason;
  EXPECT_GE(waited, 0.3);
  EXPECT_GT(objects, 0u) << "the kernel was built while another process measured";
  EXPECT_LE(result.run_seconds, system_clock().now() - begun - waited + 0.02) << "waiting is no cost of the result";
}

}  // namespace
}  // namespace cairn
