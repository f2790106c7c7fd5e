// JSONL files of memories: what is written is read back, and what is no entry is refused with its line.
#include "memory/exchange.h"

#include <gtest/gtest.h>

#include "memory/cards.h"
#include "memory/store_rows_make.h"

namespace cairn {
namespace {

MemoryContent trusted(MemoryContent content) {
  for (DirectionCard& c : content.directions) c.trusted = true;
  for (LocalCard& c : content.locals) c.trusted = true;
  for (EdgeCard& c : content.edges) c.trusted = true;
  for (Evidence& e : content.evidence) e.trusted = true;
  for (RunRecord& r : content.runs) r.trusted = true;
  for (DecisionRecord& d : content.decisions) d.trusted = true;
  return content;
}

TEST(Exchange, ReadsWhatItWrote) {
  Rng rng(1);
  for (int round = 0; round < 50; ++round) {
    const MemoryContent content = random_memory(rng);
    const std::string text = print_exchange(content);
    const auto read = parse_exchange(text, "m.jsonl");
    ASSERT_TRUE(read.ok()) << render(read.error());
    EXPECT_EQ(describe(*read), describe(trusted(content)));   // trust is the reader's, not the file's
    EXPECT_EQ(print_exchange(*read), text);
  }
}

TEST(Exchange, LeavesBuiltInCardsOut) { EXPECT_EQ(print_exchange(built_in_cards()), "{\"cairn_memory\":1}\n"); }

TEST(Exchange, RefusesWithTheLine) {
  Rng rng(2);
  MemoryContent content;
  content.evidence = {random_evidence(rng, "run-a", 1)};
  const std::string good = print_exchange(content);
  const std::string row = good.substr(good.find('\n') + 1);
  // The row with one key's value replaced.
  const auto with = [&](const std::string& key, const std::string& value) {
    const std::size_t at = row.find("\"" + key + "\":") + key.size() + 3;
    std::size_t end = at;
    for (int depth = 0; depth > 0 || (row[end] != ',' && row[end] != '}'); ++end) depth += row[end] == '[' ? 1 : row[end] == ']' ? -1 : 0;
    return row.substr(0, at) + value + row.substr(end);
  };
  const std::pair<std::string, std::string> cases[] = {
      {"", "1:1: error: found an empty file"},
      {"not json\n", "1:2: error: not JSON"},
      {"{}\n", "\"cairn_memory\" is missing"},
      {"{\"cairn_memory\":2}\n", "found version 2 of the exchange format"},
      {"{\"cairn_memory\":1}\n{\"row\":\"future\"}\n", "2:1: error: unknown row 'future'"},
      {"{\"cairn_memory\":1}\n\n[1]\n", "3:1: error: found array, expected an object with \"row\""},
      {"{\"cairn_memory\":1}\n" + row + row.substr(0, row.size() / 2), "3:"},   // a torn last line
      {"{\"cairn_memory\":1}\n" + with("id", "\"12\""), "\"id\" is no digest"},
      {"{\"cairn_memory\":1}\n" + with("number", "-1"), "\"number\" is no count"},
      {"{\"cairn_memory\":1}\n" + with("number", "1.5"), "\"number\" is no count"},
      {"{\"cairn_memory\":1}\n" + with("gain", "\"inf\""), "\"gain\" is inf, expected a number from -1500 to 1500"},
      {"{\"cairn_memory\":1}\n" + with("credit", "-1e300"), "\"credit\" is -1e+300, expected"},
      {"{\"cairn_memory\":1}\n" + with("gain", "1e999"), "not JSON: number overflow parsing '1e999'"},
      {"{\"cairn_memory\":1}\n" + with("date", "-1"), "\"date\" is -1, expected seconds since 1970"},
      {"{\"cairn_memory\":1}\n" + with("date", "253402300800"), "\"date\" is 253402300800, expected"},
      {"{\"cairn_memory\":1}\n" + with("task", "\"a\\u001b[31m\""), "without control characters"},
      {"{\"cairn_memory\":1}\n" + with("kind", "\"maybe\""), "\"kind\" is no kind of evidence"},
      {"{\"cairn_memory\":1}\n" + with("features", "[1,\"x\"]"), "\"features\" is no list of numbers"},
      {"{\"cairn_memory\":1}\n" + with("directions", "[\"a\"]"), "\"directions\" is no pair of words"},
      {"{\"cairn_memory\":1}\n" + with("local", "\"do as I say\""), "\"local\" is no single word"},
      {"{\"cairn_memory\":1}\n{\"row\":\"direction\",\"name\":\"a b\",\"intent\":\"\",\"objective\":\"\",\"risks\":\"\",\"triggers\":[]}\n",
       "2:1: error: direction: \"name\" is no single word"},
      {"{\"cairn_memory\":1}\n{\"row\":\"direction\",\"name\":\"a\",\"intent\":\"\",\"objective\":\"\",\"risks\":\"\",\"triggers\":[\"b c\"]}\n",
       "bottleneck class that is no single word"}};
  for (const auto& [text, expected] : cases) {
    const auto read = parse_exchange(text, "m.jsonl");
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code, Code::parse);
    EXPECT_NE(render(read.error()).find(expected), std::string::npos) << render(read.error()) << "\nexpected: " << expected;
    EXPECT_EQ(render(read.error()).rfind("m.jsonl:", 0), 0u) << render(read.error());
  }
}

}  // namespace
}  // namespace cairn
