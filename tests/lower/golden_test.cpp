// Golden C: tests/lower/data/*.leir lowered for the described target. CAIRN_UPDATE=1 rewrites the .c files.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/file.h"
#include "ir/text.h"
#include "lower/c.h"
#include "lower/files.h"

namespace cairn {
namespace {

std::string data_directory() { return std::string(CAIRN_SOURCE_DIR) + "/tests/lower/data"; }

TEST(LowerGolden, files) {
  const std::vector<std::string> names = test::leir_files(data_directory());
  ASSERT_GE(names.size(), 4u);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const auto text = read_file(data_directory() + "/" + name + ".leir");
    ASSERT_TRUE(text.ok());
    const auto program = parse_program(*text, {.file = name, .limits = {}, .known = {}, .const_digests = {}});
    ASSERT_TRUE(program.ok()) << render(program.error());
    const auto source = lower_c(*program, described_target());
    ASSERT_TRUE(source.ok()) << render(source.error());
    std::string body = source->code;
    const std::size_t entry = body.find("int cairn_kernel(");
    ASSERT_NE(entry, std::string::npos);
    body = body.substr(entry);
    const std::string path = data_directory() + "/" + name + ".c";
    if (std::getenv("CAIRN_UPDATE") != nullptr) {
      ASSERT_TRUE(write_file_atomic(path, body).ok());
    }
    const auto expected = read_file(path);
    ASSERT_TRUE(expected.ok());
    EXPECT_EQ(*expected, body);
  }
}

}  // namespace
}  // namespace cairn
