// The CPU evaluator end to end: programs in, outcomes, times and certificates out.
#include "eval/evaluator.h"

#include <dirent.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "base/interrupt.h"
#include "eval_tasks.h"

namespace cairn {
namespace {
using testing_eval::parse_text;

constexpr const char* kMatmul = "in  A^{f32}_{64,96};\nin  B^{f32}_{96,80};\nout C^{f32}_{64,80};\n";
constexpr const char* kNaive = "L^{64}_{i=0}L^{80}_{j=0}L^{96}_{k=0}[C^{f32,g}_{i,j}=C^{f32,g}_{i,j}+A^{f32,g}_{i,k}*B^{f32,g}_{k,j};];\n";
constexpr const char* kReordered = "P^{64}_{i=0}L^{96}_{k=0}L^{80}_{j=0}[C^{f32,g}_{i,j}=C^{f32,g}_{i,j}+A^{f32,g}_{i,k}*B^{f32,g}_{k,j};];\n";

class CpuEvaluator : public testing::Test {
 protected:
  static std::unique_ptr<Evaluator> make(const std::string& cache = "") {
    EvalTask task;
    task.name = "matmul";
    task.naive = parse_text(std::string(kMatmul) + kNaive);
    task.seed = 3;
    CpuEvalOptions options;
    options.cache_directory = cache;
    options.sample_seconds = 0.02;
    options.run_seconds = 5;
    auto made = make_cpu_evaluator(std::move(task), described_target(), options, system_clock());
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : render(made.error()));
    return made.ok() ? *std::move(made) : nullptr;
  }
  static Program matmul(const std::string& body) { return parse_text(std::string(kMatmul) + body); }
};

// Sums of many equal terms are off by a bias that contraction changes; the naive runs of the reference know it.
TEST_F(CpuEvaluator, NaiveProgramsWithBiasedSumsPassTheirOwnGate) {
  for (const auto& [rows, columns] : {std::pair{384, 512}, {640, 320}}) {
    std::string text = "in A^{f32}_{M,N};param C^{f32}_{N};param D^{f32}_{N};out I^{f32}_{M,N};\n"
                       "L^{M}_{i=0}L^{N}_{j=0}[E^{f32,g}_{i}=E^{f32,g}_{i}+A^{f32,g}_{i,j};];\n"
                       "L^{M}_{i=0}[F^{f32,g}_{i}=E^{f32,g}_{i}/N;];\n"
                       "L^{M}_{i=0}L^{N}_{j=0}[G^{f32,g}_{i}=G^{f32,g}_{i}+(A^{f32,g}_{i,j}-F^{f32,g}_{i})**2;];\n"
                       "L^{M}_{i=0}[H^{f32,g}_{i}=rsqrt(G^{f32,g}_{i}/N+1e-05);];\n"
                       "L^{M}_{i=0}L^{N}_{j=0}[I^{f32,g}_{i,j}=(A^{f32,g}_{i,j}-F^{f32,g}_{i})*H^{f32,g}_{i}*C^{f32,g}_{j}+D^{f32,g}_{j};];\n";
    for (const auto& [name, value] : {std::pair{'M', rows}, {'N', columns}}) {
      for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos;) text.replace(at, 1, std::to_string(value));
    }
    EvalTask task;
    task.name = "layer_norm";
    task.naive = parse_text(text);
    task.seed = 1;
    CpuEvalOptions options;
    options.sample_seconds = 0.02;
    const Program naive = task.naive;
    const auto evaluator = make_cpu_evaluator(std::move(task), described_target(), options, system_clock());
    ASSERT_TRUE(evaluator.ok());
    const EvalResult result = evaluator.value()->evaluate(naive);
    EXPECT_TRUE(result.passed()) << rows << "x" << columns << ": " << result.reason;
  }
}

TEST_F(CpuEvaluator, PassesRightProgramsAndRefusesWrongOnes) {
  const auto evaluator = make();
  ASSERT_NE(evaluator, nullptr);
  const EvalResult naive = evaluator->evaluate(matmul(kNaive));
  EXPECT_TRUE(naive.passed()) << naive.reason;
  ASSERT_TRUE(naive.time.has_value());
  EXPECT_GT(naive.time->median, 0);
  EXPECT_LE(naive.time->lo, naive.time->hi);
  EXPECT_GE(naive.time->samples, 5);
  EXPECT_GT(naive.floor_seconds, 0);
  EXPECT_TRUE(naive.executed.held);
  EXPECT_FALSE(naive.executed.facts.empty());
  EXPECT_TRUE(evaluator->evaluate(matmul(kReordered)).passed());

  const EvalResult short_sum = evaluator->evaluate(matmul(
      "L^{64}_{i=0}L^{80}_{j=0}L^{95}_{k=0}[C^{f32,g}_{i,j}=C^{f32,g}_{i,j}+A^{f32,g}_{i,k}*B^{f32,g}_{k,j};];\n"));
  EXPECT_EQ(short_sum.outcome, Outcome::mismatch) << short_sum.reason;
  EXPECT_FALSE(short_sum.executed.held);
  const EvalResult part = evaluator->evaluate(matmul(
      "L^{63}_{i=0}L^{80}_{j=0}L^{96}_{k=0}[C^{f32,g}_{i,j}=C^{f32,g}_{i,j}+A^{f32,g}_{i,k}*B^{f32,g}_{k,j};];\n"));
  EXPECT_FALSE(part.passed());
  const EvalResult narrow = evaluator->evaluate(matmul(
      "L^{64}_{i=0}L^{80}_{j=0}L^{96}_{k=0}[C^{f32,g}_{i,j}=C^{f32,g}_{i,j}+f32(f16(A^{f32,g}_{i,k}))*B^{f32,g}_{k,j};];\n"));
  EXPECT_EQ(narrow.outcome, Outcome::mismatch) << narrow.reason;
}

TEST_F(CpuEvaluator, RefusesAnotherOutside) {
  const auto evaluator = make();
  ASSERT_NE(evaluator, nullptr);
  const EvalResult other = evaluator->evaluate(parse_text(
      "in  A^{f32}_{64,96};\nin  B^{f32}_{96,80};\nout C^{f16}_{64,80};\n" + std::string(kNaive)));
  EXPECT_EQ(other.outcome, Outcome::refused);
  EXPECT_NE(other.reason.find("out f16 C [64,80]"), std::string::npos) << other.reason;
  const EvalResult more = evaluator->evaluate(parse_text(std::string(kMatmul) + "in Z^{f32}_{3};\n" + kNaive));
  EXPECT_EQ(more.outcome, Outcome::refused);
}

TEST_F(CpuEvaluator, RemeasuresInterleavedAndKeepsTheOrder) {
  const auto evaluator = make();
  ASSERT_NE(evaluator, nullptr);
  const Program wrong = matmul("L^{64}_{i=0}L^{80}_{j=0}[C^{f32,g}_{i,j}=A^{f32,g}_{i,0};];\n");
  const auto results = evaluator->remeasure({matmul(kNaive), wrong, matmul(kReordered)});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_TRUE(results[0].passed()) << results[0].reason;
  EXPECT_EQ(results[1].outcome, Outcome::mismatch);
  EXPECT_TRUE(results[2].passed()) << results[2].reason;
  ASSERT_TRUE(results[0].time && results[2].time);
  EXPECT_GE(results[0].time->samples, 15);
}

TEST_F(CpuEvaluator, KeepsResultsAcrossEvaluators) {
  const auto dir = ScratchDir::create();
  {
    const auto first = make(dir->path());
    ASSERT_NE(first, nullptr);
    EXPECT_FALSE(first->evaluate(matmul(kReordered)).from_cache);
  }
  const auto second = make(dir->path());
  ASSERT_NE(second, nullptr);
  const EvalResult again = second->evaluate(matmul(kReordered));
  EXPECT_TRUE(again.from_cache);
  EXPECT_TRUE(again.passed());
  EXPECT_TRUE(again.time.has_value());
}

TEST_F(CpuEvaluator, FindsCompiledWhatWasPrepared) {
  const auto evaluator = make();
  ASSERT_NE(evaluator, nullptr);
  evaluator->prepare(matmul(kReordered));
  evaluator->prepare(matmul(kNaive));
  EXPECT_TRUE(evaluator->evaluate(matmul(kReordered)).passed());
}

TEST_F(CpuEvaluator, LeavesNothingInTheTemporaryDirectory) {
  const auto scratch = ScratchDir::create("cairntest");
  const std::string before = std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "";
  ::setenv("TMPDIR", scratch->path().c_str(), 1);
  {
    const auto evaluator = make();
    ASSERT_NE(evaluator, nullptr);
    EXPECT_TRUE(evaluator->evaluate(matmul(kNaive)).passed());
    // An interrupt in the middle of a run.
    install_interrupt_handlers();
    std::thread later([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      ::kill(::getpid(), SIGINT);
    });
    const EvalResult stopped = evaluator->evaluate(matmul(kReordered));
    later.join();
    EXPECT_TRUE(stopped.passed() || stopped.outcome == Outcome::host) << stopped.reason;
    clear_interrupt();
  }
  if (before.empty()) ::unsetenv("TMPDIR");
  else ::setenv("TMPDIR", before.c_str(), 1);
  int entries = 0;
  if (DIR* directory = ::opendir(scratch->path().c_str())) {
    while (const dirent* entry = ::readdir(directory)) entries += entry->d_name[0] != '.' ? 1 : 0;
    ::closedir(directory);
  }
  EXPECT_EQ(entries, 0);
}

}  // namespace
}  // namespace cairn
