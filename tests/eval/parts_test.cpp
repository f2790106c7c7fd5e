// Statistics, element layouts, object files, compiler and cache.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "eval/cache.h"
#include "eval/elf.h"
#include "eval/inputs.h"
#include "eval/stats.h"
#include "eval_tasks.h"

namespace cairn {
namespace {

TEST(Stats, MedianQuartilesAndInterval) {
  EXPECT_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(quantile({1, 2, 3, 4}, 0.5), 2.5);
  EXPECT_EQ(quantile({5}, 0.9), 5);
  std::vector<double> samples;
  for (int i = 0; i < 101; ++i) samples.push_back(1 + 0.01 * i);
  samples.push_back(1000);  // one disturbed sample moves nothing
  const Timing t = summarize(samples, 3);
  EXPECT_NEAR(t.median, 1.505, 1e-9);
  EXPECT_LT(t.q25, t.median);
  EXPECT_LT(t.median, t.q75);
  EXPECT_LE(t.lo, t.median);
  EXPECT_GE(t.hi, t.median);
  EXPECT_LT(t.hi - t.lo, 0.2);
  EXPECT_EQ(t.samples, 102);
  const Timing again = summarize(samples, 3);
  EXPECT_EQ(t.lo, again.lo);
  EXPECT_EQ(t.hi, again.hi);
}

// Every bit pattern of the small formats decodes and encodes back; the values are what round_to keeps.
TEST(Inputs, SmallFloatsRoundTrip) {
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16, Dtype::f8e4m3fn, Dtype::f8e4m3fnuz, Dtype::f8e5m2, Dtype::f8e5m2fnuz}) {
    const std::uint32_t count = dtype_bytes(dtype) == 2 ? 65536 : 256;
    for (std::uint32_t bits = 0; bits < count; ++bits) {
      const double x = decode_small_float(dtype, bits);
      if (std::isnan(x)) {
        EXPECT_TRUE(std::isnan(decode_small_float(dtype, encode_small_float(dtype, x))));
        continue;
      }
      ASSERT_EQ(encode_small_float(dtype, x), bits) << dtype_name(dtype) << " " << x;
      ASSERT_EQ(round_to(dtype, x), x) << dtype_name(dtype) << " " << bits;
    }
  }
}

TEST(Inputs, IntegersKeepTheirWidth) {
  Value v = Value::zeros(Dtype::i16, {3});
  v.ints = {-2, 300, 32767};
  const std::string bytes = encode_value(v);
  ASSERT_EQ(bytes.size(), 6u);
  const ElementReader read(Dtype::i16, reinterpret_cast<const unsigned char*>(bytes.data()));
  EXPECT_EQ(read(0), -2);
  EXPECT_EQ(read(1), 300);
  EXPECT_EQ(read(2), 32767);
}

TEST(Elf, RefusesWhatIsNoObject) {
  EXPECT_FALSE(read_object("").ok());
  EXPECT_FALSE(read_object(std::string(200, '\x7f')).ok());
  auto exe = read_file("/proc/self/exe");
  ASSERT_TRUE(exe.ok());
  // Truncated anywhere: refused or read within bounds, never a crash.
  for (std::size_t size = 0; size < exe->size(); size += exe->size() / 40 + 1) (void)read_object(exe->substr(0, size)).ok();
}

TEST(CompilerRun, BuildsOnceAndNamesTheFirstError) {
  const auto dir = ScratchDir::create();
  auto compiler = Compiler::create(dir->path(), 60);
  ASSERT_TRUE(compiler.ok()) << render(compiler.error());
  const auto first = (*compiler)->build("int kernel(void) { return 1; }", {"-O1"});
  ASSERT_TRUE(first.ok()) << render(first.error());
  EXPECT_GT(first->seconds, 0);
  const auto second = (*compiler)->build("int kernel(void) { return 1; }", {"-O1"});
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->seconds, 0);
  EXPECT_EQ(second->path, first->path);
  EXPECT_NE((*compiler)->build("int kernel(void) { return 1; }", {"-O2"})->path, first->path);
  const auto bad = (*compiler)->build("int kernel(void) { return nothing; }", {});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, Code::compile);
  EXPECT_NE(bad.error().message.find("nothing"), std::string::npos) << bad.error().message;
}

TEST(CompilerRun, ARelativeDirectoryGivesWholePaths) {
  const auto dir = ScratchDir::create();
  const std::string relative = std::filesystem::relative(dir->path()).string();
  ASSERT_NE(relative[0], '/');
  const auto compiler = Compiler::create(relative, 60);
  ASSERT_TRUE(compiler.ok()) << render(compiler.error());
  const auto object = (*compiler)->build("int kernel(void) { return 1; }", {"-O1"});
  ASSERT_TRUE(object.ok()) << render(object.error());
  EXPECT_EQ(object->path[0], '/');   // who loads it runs in another directory
  EXPECT_TRUE(file_exists(object->path));
}

TEST(CompilerRun, AMissingCompilerIsAnEnvironmentErrorThatHelps) {
  ::setenv("CAIRN_CC", "no-such-cc", 1);
  const auto compiler = Compiler::create("", 60);
  ::unsetenv("CAIRN_CC");
  ASSERT_FALSE(compiler.ok());
  EXPECT_EQ(compiler.error().code, Code::environment);
  EXPECT_NE(render(compiler.error()).find("no-such-cc"), std::string::npos);
  EXPECT_NE(render(compiler.error()).find("CAIRN_CC"), std::string::npos);
}

TEST(Cache, KeepsLastingResultsAndSurvivesDamage) {
  const auto dir = ScratchDir::create();
  const ResultCache cache(dir->path());
  EvalResult r;
  r.time = Timing{1.5, 1.25, 1.75, 1.4, 1.6, 9};
  r.floor_seconds = 0.5;
  r.executed.rung = Rung::executed;
  r.executed.held = true;
  r.executed.facts = {{"seed", "7"}};
  EXPECT_FALSE(cache.find("abc").has_value());
  cache.store("abc", r);
  const auto back = cache.find("abc");
  ASSERT_TRUE(back.has_value());
  EXPECT_TRUE(back->from_cache);
  EXPECT_EQ(back->time->hi, 1.6);
  EXPECT_EQ(back->executed.facts, r.executed.facts);
  r.outcome = Outcome::mismatch;
  r.reason = "C[0] is nan";
  cache.store("bad", r);
  EXPECT_EQ(cache.find("bad")->outcome, Outcome::mismatch);
  r.outcome = Outcome::timeout;
  cache.store("slow", r);
  EXPECT_FALSE(cache.find("slow").has_value());
  ASSERT_TRUE(write_file_atomic(dir->path() + "/results/ab/abc.json", "{\"version\":").ok());
  EXPECT_FALSE(cache.find("abc").has_value());
}

}  // namespace
}  // namespace cairn
