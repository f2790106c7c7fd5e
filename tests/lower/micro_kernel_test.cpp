// The matmul micro-kernel keeps its accumulators in registers: its inner loop never touches the stack.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "ir/text.h"
#include "lower/c.h"

namespace cairn {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// Instructions of the generated program built for AVX-512 (built only, so any x86 machine will do).
std::vector<std::string> disassemble(const std::string& code) {
  const auto scratch = ScratchDir::create("cairn-kernel");
  EXPECT_TRUE(scratch.ok());
  const std::string source = scratch->path() + "/k.c", object = scratch->path() + "/k.o";
  EXPECT_TRUE(write_file_atomic(source, code).ok());
  ProcessSpec compile;
  compile.argv = {"gcc"};
  for (const std::string& flag : c_flags(described_target(), false)) {
    compile.argv.push_back(flag == "-march=native" ? "-march=x86-64-v4" : flag);
  }
  for (const std::string& word : {std::string("-c"), source, std::string("-o"), object}) compile.argv.push_back(word);
  const auto built = run_process(compile);
  EXPECT_TRUE(built.ok() && built->succeeded()) << (built.ok() ? built->err : render(built.error()));
  ProcessSpec dump;
  dump.argv = {"objdump", "-d", "--no-show-raw-insn", object};
  const auto dumped = run_process(dump);
  EXPECT_TRUE(dumped.ok() && dumped->succeeded());
  return dumped.ok() ? lines_of(dumped->out) : std::vector<std::string>{};
}

std::size_t count(const std::vector<std::string>& lines, std::size_t first, std::size_t last, const char* what) {
  std::size_t n = 0;
  for (std::size_t i = first; i <= last; ++i) n += lines[i].find(what) != std::string::npos;
  return n;
}

TEST(MicroKernel, inner_loop_has_no_stack_access) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "reads x86 assembly";
#endif
  const auto text = read_file(std::string(CAIRN_SOURCE_DIR) + "/tests/lower/data/gemm_path.leir");
  ASSERT_TRUE(text.ok());
  const auto program = parse_program(*text);
  ASSERT_TRUE(program.ok());
  const auto source = lower_c(*program, described_target());
  ASSERT_TRUE(source.ok());
  EXPECT_NE(source->code.find("#pragma omp parallel for"), std::string::npos) << "the blocks of rows run in parallel";
  const std::vector<std::string> lines = disassemble(source->code);
  std::size_t first = lines.size(), last = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find("vfmadd") == std::string::npos) continue;
    first = std::min(first, i);
    last = i;
  }
  ASSERT_LT(first, last) << "no fused multiply-adds";
  // From the loop's operand loads to its branch back.
  while (last + 1 < lines.size() && lines[last].find("\tj") == std::string::npos) ++last;
  first = first > 3 ? first - 3 : 0;
  EXPECT_EQ(count(lines, first, last, "vfmadd"), 24u) << "12 rows of two vectors, once each";
  EXPECT_EQ(count(lines, first, last, "(%rsp"), 0u);
  EXPECT_EQ(count(lines, first, last, "(%rbp"), 0u);
  EXPECT_LE(last - first, 50u) << "the loop is straight";
}

}  // namespace
}  // namespace cairn
