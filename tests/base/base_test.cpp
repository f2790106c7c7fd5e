// Clock, hash, result, rng, pool, progress, log.
#include <gtest/gtest.h>

#include <atomic>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/progress.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/text.h"

namespace cairn {
namespace {

TEST(Text, SplitsLines) {
  const std::string text = "one\n\n two\r\nlast";
  const auto lines = split_lines(text);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].text, "one");
  EXPECT_EQ(lines[0].behind, 4u);
  EXPECT_TRUE(lines[1].text.empty() && lines[1].whole);
  EXPECT_EQ(lines[2].text, " two\r");   // trim() takes what else stands there
  EXPECT_EQ(lines[3].text, "last");
  EXPECT_EQ(lines[3].number, 4u);
  EXPECT_FALSE(lines[3].whole);
  EXPECT_EQ(lines[3].behind, text.size());
  EXPECT_TRUE(split_lines("").empty());
  EXPECT_EQ(split_lines("\n").size(), 1u);
  EXPECT_EQ(split_lines("a\n").size(), 1u);
}

TEST(Clock, ReadsTheDatesThatItPrints) {
  FakeClock fake;
  EXPECT_EQ(fake.epoch(), 1767225600);
  const std::pair<const char*, std::int64_t> dates[] = {{"1970-01-01T00:00:00Z", 0}, {"2000-02-29T23:59:59Z", 951868799}, {"2026-01-31T00:00:00Z", 1769817600}};
  for (const auto& [text, seconds] : dates) {
    EXPECT_EQ(print_utc(seconds), text);
    EXPECT_EQ(parse_utc(text), seconds);
  }
  EXPECT_EQ(parse_utc("2026-01-31"), 1769817600);
  for (const char* text : {"", "2026", "2026-1-31", "2026-02-30", "2026-01-31T25:00:00Z", "2026-01-31T00:00", "2026-01-31T00:00:00", "2026-01-31 ", "90d"}) {
    EXPECT_FALSE(parse_utc(text).has_value()) << text;
  }
}

TEST(Clock, RealOneRunsFakeOneObeys) {
  const double a = system_clock().now();
  EXPECT_LE(a, system_clock().now());
  EXPECT_EQ(system_clock().wall().size(), 20u);
  FakeClock fake;
  EXPECT_EQ(fake.wall(), "2026-01-01T00:00:00Z");
  fake.advance(86400 + 61.5);
  EXPECT_EQ(fake.now(), 86461.5);
  EXPECT_EQ(fake.wall(), "2026-01-02T00:01:01Z");
}

TEST(Hash, DigestsPrintAndParse) {
  const Digest d = digest_bytes("abc");
  EXPECT_NE(d, digest_bytes("abd"));
  Digest back;
  ASSERT_TRUE(parse_digest(d.hex(), &back));
  EXPECT_EQ(back, d);
  EXPECT_FALSE(parse_digest("12", &back));
  EXPECT_FALSE(parse_digest(std::string(32, 'g'), &back));
}

Result<int> half(int x) {
  if (x % 2 != 0) return Error{Code::illegal, "odd", {}, {}};
  return x / 2;
}
Result<int> quarter(int x) {
  CAIRN_TRY(const int h, half(x));
  return half(h);
}

TEST(ResultType, PropagatesRefusals) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_EQ(exit_code(Code::usage), 2);
  EXPECT_EQ(exit_code(Code::interrupted), 130);
  EXPECT_STREQ(code_name(Code::no_site), "no_site");
}

TEST(ResultType, RendersPlaceLineAndCaret) {
  Error e{Code::parse, "found 'x', expected ']'", {"a.leir", 2, 5, "abc x y"}, {"close the bracket"}};
  EXPECT_EQ(render(e), "a.leir:2:5: error: found 'x', expected ']'\n  abc x y\n      ^\n  note: close the bracket");
}

TEST(RngStream, SplitsAndStaysInRange) {
  Rng a(7), b(7);
  EXPECT_EQ(a.next(), b.next());
  EXPECT_NE(Rng(7).split("x").next(), Rng(7).split("y").next());
  double sum = 0, square = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    EXPECT_LT(a.below(3), 3u);
    const double x = a.normal();
    sum += x;
    square += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.05);
  EXPECT_NEAR(square / kDraws, 1, 0.05);
}

TEST(Pool, RunsEverythingAndRethrows) {
  ThreadPool pool(3);
  std::atomic<int> done{0};
  for (int i = 0; i < 200; ++i) pool.submit([&] { ++done; });
  pool.wait();
  EXPECT_EQ(done.load(), 200);
  pool.submit([] { throw std::runtime_error("task"); });
  EXPECT_THROW(pool.wait(), std::runtime_error);
  pool.submit([&] { ++done; });
  pool.wait();
  EXPECT_EQ(done.load(), 201);
}

TEST(Pool, DestructorFinishesWhatWasSubmitted) {
  std::atomic<int> done{0};
  {
    ThreadPool pool(2);
    for (int i = 0; i < 50; ++i) pool.submit([&] { ++done; });
  }
  EXPECT_EQ(done.load(), 50);
}

TEST(ProgressLines, ShowsRateTimeLeftAndNoteButNotTooOften) {
  FakeClock clock;
  testing::internal::CaptureStderr();
  {
    Progress progress(clock, Progress::Mode::lines, "search", 100);
    clock.advance(10);
    progress.update(20, "best 2.0x");
    progress.update(21, "too soon");
    clock.advance(10);
    progress.update(50, "");
    progress.finish("best 3.0x");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "search: 20/100, 2.0/s, 40 s left, best 2.0x\nsearch: 50/100, 2.5/s, 20 s left\n"
            "search: done in 20 s, best 3.0x\n");
  testing::internal::CaptureStderr();
  Progress silent(clock, Progress::Mode::off, "x", 1);
  silent.update(1, "");
  silent.finish("");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Log, LevelsFilter) {
  testing::internal::CaptureStderr();
  set_log_level(LogLevel::info);
  log_line(LogLevel::debug, "hidden");
  log_line(LogLevel::info, "shown");
  set_log_level(LogLevel::warning);
  log_line(LogLevel::info, "hidden");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "cairn: info: shown\n");
}

}  // namespace
}  // namespace cairn
