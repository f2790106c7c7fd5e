// The typed launcher: plain pointers, any alignment, overlapping tensors.
#include <gtest/gtest.h>

#include <string>

#include "base/file.h"
#include "base/process.h"
#include "ir/text.h"
#include "lower/c.h"

namespace cairn {
namespace {

constexpr const char* kProgram = R"(in A^{f32}_{100}; in M^{i64}_{100}; out B^{f32}_{100}; io X^{f32}_{100};
L^{100}_{i=0}[T^{f32,g}_{i}=A_{99-i}*2;];
L^{100}_{i=0}[B_{i}=T^{f32,g}_{M_{i}};X_{i}=X_{i}+B_{i};];
)";

constexpr const char* kMain = R"(#include <stdio.h>
#include "k.h"
static char room[4096];
int main(void) {
  // Off a cache line, and B over A: the launcher has to copy.
  float *a = (float *)(room + 4), *b = a, *x = (float *)(room + 1024);
  int64_t m[100];
  for (int i = 0; i < 100; ++i) { a[i] = (float)i; x[i] = 1; m[i] = (i * 7) % 100; }
  if (scale(a, m, b, x) != 0) return 1;
  for (int i = 0; i < 100; ++i) {
    const float want = 2 * (float)(99 - m[i]);
    if (b[i] != want || x[i] != want + 1) { printf("%d: %g %g, want %g\n", i, b[i], x[i], want); return 2; }
  }
  m[5] = 100;
  if (scale(a, m, b, x) != 1) return 3;
  return 0;
}
)";

TEST(Launcher, copies_what_overlaps_and_reports_checks) {
  const auto program = parse_program(kProgram);
  ASSERT_TRUE(program.ok()) << render(program.error());
  const auto source = lower_c(*program, described_target());
  ASSERT_TRUE(source.ok()) << render(source.error());
  ASSERT_EQ(source->check_texts.size(), 1u);
  EXPECT_NE(source->check_texts[0].find("subscript of T"), std::string::npos);
  ASSERT_EQ(source->params.size(), 4u);
  EXPECT_EQ(source->params[1].bytes, 800);
  EXPECT_GE(source->workspace_bytes, 400);
  const auto scratch = ScratchDir::create("cairn-launcher");
  ASSERT_TRUE(scratch.ok());
  const std::string at = scratch->path() + "/";
  ASSERT_TRUE(write_file_atomic(at + "k.c", source->code).ok());
  ASSERT_TRUE(write_file_atomic(at + "l.c", c_launcher(*source, "scale")).ok());
  ASSERT_TRUE(write_file_atomic(at + "k.h", c_header(*source, "scale")).ok());
  ASSERT_TRUE(write_file_atomic(at + "m.c", kMain).ok());
  ProcessSpec build;
  build.argv = {"cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fopenmp", "-fsanitize=address,undefined",
                at + "k.c", at + "l.c", at + "m.c", "-o", at + "run"};
  const auto built = run_process(build);
  ASSERT_TRUE(built.ok() && built->succeeded()) << built->err;
  ProcessSpec run;
  run.argv = {at + "run"};
  const auto ran = run_process(run);
  ASSERT_TRUE(ran.ok());
  EXPECT_TRUE(ran->succeeded()) << "exit " << ran->exit_status << "\n" << ran->out << ran->err;
}

}  // namespace
}  // namespace cairn
