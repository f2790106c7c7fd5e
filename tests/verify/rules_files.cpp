// tests/leir/bad: refused files, at least one a rule; tests/leir/ok: all verify.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "ir/text.h"
#include "verify/verify.h"

namespace cairn {
namespace {

std::vector<std::filesystem::path> leir_files(const char* folder) {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path root = std::filesystem::path(CAIRN_SOURCE_DIR) / "tests/leir" / folder;
  if (std::filesystem::exists(root)) {
    for (const auto& entry : std::filesystem::directory_iterator(root)) {
      if (entry.path().extension() == ".leir") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// `% rule 7: text` at the head of a file.
struct Expected {
  int rule = 0;
  std::string text;
};
Expected read_expected(const std::string& source) {
  Expected e;
  const std::string head = "% rule ";
  if (source.compare(0, head.size(), head) != 0) return e;
  const std::size_t colon = source.find(": ");
  e.rule = std::atoi(source.c_str() + head.size());
  e.text = source.substr(colon + 2, source.find('\n') - colon - 2);
  return e;
}

TEST(RulesFiles, EveryRefusedFileIsRefusedByItsRule) {
  std::map<int, int> count;
  for (const auto& path : leir_files("bad")) {
    SCOPED_TRACE(path.filename().string());
    const auto source = read_file(path.string());
    ASSERT_TRUE(source.ok());
    const Expected expected = read_expected(*source);
    if (expected.rule == 0) continue;   // refused by the parser: the text tests read those
    ParseOptions options;
    options.file = path.filename().string();
    options.reading = Reading::leir;
    const Result<Program> program = parse_program(*source, options);
    if (!program.ok()) {
      ADD_FAILURE() << render(program.error());
      continue;
    }
    const VerifyReport report = verify_program(*program, Target{});
    const Finding* refusal = report.first_refusal();
    if (refusal == nullptr) {
      ADD_FAILURE() << "verified";
      continue;
    }
    EXPECT_EQ(refusal->rule, expected.rule) << render(refusal->error);
    EXPECT_NE(refusal->error.message.find(expected.text), std::string::npos) << render(refusal->error);
    EXPECT_GT(refusal->error.where.line, 1u) << render(refusal->error);
    EXPECT_GT(refusal->error.where.column, 0u);
    EXPECT_EQ(refusal->error.code, Code::verify);
    ++count[expected.rule];
  }
  for (const Rule& rule : verifier_rules()) EXPECT_GT(count[rule.number], 0) << "no refused file for rule " << rule.number << " " << rule.name;
}

TEST(RulesFiles, EveryAcceptedFileVerifies) {
  for (const auto& path : leir_files("ok")) {
    SCOPED_TRACE(path.filename().string());
    const auto source = read_file(path.string());
    ASSERT_TRUE(source.ok());
    ParseOptions options;
    options.file = path.filename().string();
    const Result<Program> program = parse_program(*source, options);
    ASSERT_TRUE(program.ok()) << render(program.error());
    const Result<void> verdict = check_program(*program, Target{});
    EXPECT_TRUE(verdict.ok()) << render(verdict.error());
  }
}

TEST(RulesFiles, NumbersAreInOrderAndMessagesNameTheRule) {
  int last = 0;
  for (const Rule& rule : verifier_rules()) {
    EXPECT_EQ(rule.number, last + 1);
    last = rule.number;
  }
  const Result<Program> program = parse_program("in A^{f32}_{4};out D^{f32}_{4};L^{4}_{i=0}[D_{i}=A_{i+1};];");
  ASSERT_TRUE(program.ok());
  const Result<void> verdict = check_program(*program, Target{});
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.error().message.rfind("rule 7 (bounds): ", 0), 0u) << verdict.error().message;
}

TEST(RulesFiles, ThePageListsEveryRule) {
  const auto page = read_file(std::string(CAIRN_SOURCE_DIR) + "/docs/leir.md");
  ASSERT_TRUE(page.ok());
  for (const Rule& rule : verifier_rules()) {
    const std::string row = "| " + std::to_string(rule.number) + (rule.gate ? "* | " : " | ") + rule.name + " |";
    EXPECT_NE(page->find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace cairn
