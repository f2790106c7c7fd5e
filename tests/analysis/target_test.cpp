// Targets as data, and what measuring this machine gives.
#include <gtest/gtest.h>

#include "analysis/target.h"

namespace cairn {
namespace {

TEST(Target, prints_and_parses_back) {
  const Target t = described_target();
  const auto back = parse_target(print_target(t));
  ASSERT_TRUE(back.ok()) << render(back.error());
  EXPECT_EQ(print_target(*back), print_target(t));
  EXPECT_EQ(target_digest(*back), target_digest(t));
}

TEST(Target, refuses_what_is_missing_by_name) {
  std::string text = print_target(described_target());
  const std::size_t at = text.find("\"l2_bytes\"");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 10, "\"l9_bytes\"");
  const auto parsed = parse_target(text);
  ASSERT_FALSE(parsed.ok());
  EXPECT_NE(parsed.error().message.find("l2_bytes"), std::string::npos);
  EXPECT_FALSE(parse_target("{}").ok());
  EXPECT_FALSE(parse_target("not json").ok());
}

TEST(Target, register_tiles_fit_the_register_file) {
  Target t = described_target();
  const auto wide = t.register_tiles(4);
  ASSERT_FALSE(wide.empty());
  EXPECT_EQ(wide[0].rows, 12);
  EXPECT_EQ(wide[0].lanes, 32);
  t.vector_bytes = {16, 32};
  t.vector_registers = 16;
  const auto narrow = t.register_tiles(4);
  EXPECT_EQ(narrow[0].rows, 6);
  EXPECT_EQ(narrow[0].lanes, 16);
  for (const auto& tile : narrow) EXPECT_LE(tile.rows * tile.lanes / 8 + tile.lanes / 8 + 1, 16);
  for (const auto& tile : wide) EXPECT_LE(tile.rows * tile.lanes / 16 + tile.lanes / 16 + 1, 32);
}

TEST(Target, measures_this_machine) {
  const auto t = measure_cpu_target();
  ASSERT_TRUE(t.ok()) << render(t.error());
  EXPECT_TRUE(t->measured);
  EXPECT_GE(t->cores, 1);
  EXPECT_GT(t->ghz, 0.3);
  EXPECT_LT(t->ghz, 8);
  EXPECT_GE(t->peak_gflops_f32, t->peak_gflops_f64 * 1.2);
  EXPECT_GT(t->l1_gbs, t->core_memory_gbs);
  EXPECT_GE(t->memory_gbs, t->core_memory_gbs);
  EXPECT_TRUE(parse_target(print_target(*t)).ok());
}

}  // namespace
}  // namespace cairn
